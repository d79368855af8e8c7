package swf

import (
	"fmt"
	"strings"
)

// ParseError says where a workload breaks the format, and what would have been
// accepted there.
type ParseError struct {
	Path   string // file, empty when read from elsewhere
	Line   int    // counted from 1
	Field  Field  // 0 when the whole line is meant
	Value  string // what stands there, cut to 64 bytes; empty when nothing does
	Reason string // what is wrong, and the accepted range
}

// Error reads like
//
//	kth.swf.gz:17: field 9 (requested time) "3h": not a number; accepted: 0 to ...
func (e *ParseError) Error() string {
	var b strings.Builder
	if e.Path == "" {
		fmt.Fprintf(&b, "swf: line %d:", e.Line)
	} else {
		fmt.Fprintf(&b, "swf: %s:%d:", e.Path, e.Line)
	}
	if e.Field != 0 {
		fmt.Fprintf(&b, " field %d (%s)", int(e.Field), e.Field)
	}
	if e.Value != "" {
		fmt.Fprintf(&b, " %q", e.Value)
	}
	b.WriteString(": " + e.Reason)
	return b.String()
}

// maxValueBytes is how much of a wrong value an error repeats.
const maxValueBytes = 64

// clip copies the start of a token, for an error.
func clip(token []byte) string {
	return string(token[:min(len(token), maxValueBytes)])
}
