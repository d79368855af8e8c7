package swf

import (
	"strings"
)

// Header holds a workload's comments.
type Header struct {
	// Comments are the comment lines in order, without the semicolon and trailing blanks, but
	// with indentation.
	Comments []string
}

// Entry is one "Label: value" comment.
type Entry struct {
	Key string
	// Value has no blanks around it. Indented lines below the entry are appended after
	// newlines.
	Value string
}

// Entries are the labeled comments in order. A label is one word at the start of a comment,
// after at most one blank, followed by a colon; labels can repeat (Queue, Note). A comment with
// more indentation belongs to the entry above it. Other comments are not entries.
func (h *Header) Entries() []Entry {
	var entries []Entry
	for _, c := range h.Comments {
		if e, ok := entry(c); ok {
			entries = append(entries, e)
			continue
		}
		more := strings.TrimSpace(c)
		if n := len(entries); n > 0 && more != "" && indented(c) {
			entries[n-1].Value += "\n" + more
		}
	}
	return entries
}

func entry(comment string) (Entry, bool) {
	if indented(comment) {
		return Entry{}, false
	}
	key, value, found := strings.Cut(strings.TrimLeft(comment, blanks), ":")
	if !found || key == "" || strings.ContainsAny(key, blanks) || strings.HasPrefix(value, "//") {
		return Entry{}, false
	}
	return Entry{Key: key, Value: strings.TrimSpace(value)}, true
}

// indented reports whether a line continues the one before.
func indented(comment string) bool {
	return len(comment)-len(strings.TrimLeft(comment, blanks)) > 1
}

// blanks separate fields, as does the carriage return of a CRLF.
const blanks = " \t\r"

// Get returns the value of the first entry with this label, ignoring case.
func (h *Header) Get(key string) (value string, ok bool) {
	for _, e := range h.Entries() {
		if strings.EqualFold(e.Key, key) {
			return e.Value, true
		}
	}
	return "", false
}

// Add appends an entry.
func (h *Header) Add(key, value string) {
	h.Comments = append(h.Comments, " "+key+": "+value)
}

// Int returns the whole number at the start of an entry's value: "338 (batch partition; 512
// total)" gives 338. It uses the first entry with this label that starts with a number of at
// most 18 digits; ok is false if there is none.
func (h *Header) Int(key string) (n int64, ok bool) {
	for _, e := range h.Entries() {
		if !strings.EqualFold(e.Key, key) {
			continue
		}
		if n, ok := leadingInt(e.Value); ok {
			return n, true
		}
	}
	return 0, false
}

func leadingInt(s string) (n int64, ok bool) {
	digits := strings.TrimPrefix(s, "-")
	i := 0
	for ; i < len(digits) && digits[i] >= '0' && digits[i] <= '9'; i++ {
		if i == 18 {
			return 0, false
		}
		n = 10*n + int64(digits[i]-'0')
	}
	if len(digits) != len(s) {
		n = -n
	}
	return n, i > 0
}

// Procs returns the machine's number of processors: MaxProcs, or MaxNodes if the log does not
// have it. ok is false if neither is a number from 1 to [MaxProcs]. Jobs can be wider: the
// header is not checked against them.
func (h *Header) Procs() (procs int, ok bool) {
	for _, key := range []string{"MaxProcs", "MaxNodes"} {
		if n, ok := h.Int(key); ok && n > 0 && n <= MaxProcs {
			return int(n), true
		}
	}
	return 0, false
}

// Nodes returns MaxNodes, under the same conditions as [Header.Procs]. Many logs count
// processors here.
func (h *Header) Nodes() (nodes int, ok bool) {
	n, ok := h.Int("MaxNodes")
	if !ok || n <= 0 || n > MaxProcs {
		return 0, false
	}
	return int(n), true
}

// UnixStartTime returns the origin of submit times in Unix seconds. ok is false if the header
// has none, or one that is negative or above [MaxSeconds]. Generated logs have 0 or none.
func (h *Header) UnixStartTime() (seconds int64, ok bool) {
	n, ok := h.Int("UnixStartTime")
	if !ok || n < 0 || n > MaxSeconds {
		return 0, false
	}
	return n, true
}

// maxHint bounds the allocation that a header alone can cause.
const maxHint = 1 << 18

// jobsHint estimates the number of jobs for the allocation. Both numbers can be wrong: a
// cleaned log often keeps the count of the original in one of them.
func (h *Header) jobsHint() int {
	hint := int64(maxHint)
	found := false
	for _, key := range []string{"MaxRecords", "MaxJobs"} {
		if n, ok := h.Int(key); ok && n > 0 {
			hint, found = min(hint, n), true
		}
	}
	if !found {
		return 0
	}
	return int(hint)
}
