package slurm

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// parseSpan reads a duration: [days-]hours:minutes:seconds or minutes:seconds. No limit
// is batch.Forever; a value that is not set is 0.
func parseSpan(text string) (batch.Duration, bool) {
	switch text {
	case "UNLIMITED", "INFINITE", "infinite", "Partition_Limit":
		return batch.Forever, true
	case "NOT_SET", "INVALID", "N/A", "":
		return 0, true
	}
	var days int64
	rest := text
	if d, after, ok := strings.Cut(text, "-"); ok {
		n, ok := parseNumber(d)
		if !ok || n > 1<<24 {
			return 0, false
		}
		days, rest = n, after
	}
	parts := strings.Split(rest, ":")
	if len(parts) < 2 || len(parts) > 3 || days > 0 && len(parts) != 3 {
		return 0, false
	}
	var seconds int64
	for _, p := range parts {
		n, ok := parseNumber(p)
		if !ok || n > 1<<30 {
			return 0, false
		}
		seconds = seconds*60 + n
	}
	return batch.Duration(days*86400+seconds) * batch.Second, true
}

// parseNumber reads decimal digits only.
func parseNumber(text string) (int64, bool) {
	if text == "" || len(text) > 18 {
		return 0, false
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// parseCount reads a number that can have a unit of 1024: 2K, 1.5K, 1M.
func parseCount(text string) (int32, bool) {
	unit := 1.0
	if n := len(text); n > 0 {
		switch text[n-1] {
		case 'K':
			unit, text = 1<<10, text[:n-1]
		case 'M':
			unit, text = 1<<20, text[:n-1]
		}
	}
	if unit == 1 {
		n, ok := parseNumber(text)
		return int32(min(n, math.MaxInt32)), ok && n <= math.MaxInt32
	}
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && c != '.' {
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if f *= unit; err != nil || f > math.MaxInt32 {
		return 0, false
	}
	return int32(math.Ceil(f)), true
}

// parseLimit reads a count that can be unlimited, which is 0.
func parseLimit(text string) (int32, bool) {
	if text == "UNLIMITED" || text == "" {
		return 0, true
	}
	return parseCount(text)
}

// parseInstant reads an instant in UTC; the zero time if it is not known.
func parseInstant(text string) (time.Time, bool) {
	switch text {
	case "N/A", "Unknown", "unknown", "None", "NONE", "(null)", "":
		return time.Time{}, true
	}
	t, err := time.Parse("2006-01-02T15:04:05", text)
	return t, err == nil
}

// pairs reads words of the form KEY=VALUE. Words without an equals sign belong to the
// value before them and are dropped.
func pairs(line string) map[string]string {
	v := make(map[string]string)
	for word := range strings.FieldsSeq(line) {
		if key, value, ok := strings.Cut(word, "="); ok {
			if _, twice := v[key]; !twice {
				v[key] = value
			}
		}
	}
	return v
}

// maxTasks bounds the jobs that one line of a queue stands for.
const maxTasks = 100_000

// parseTasks returns how many jobs an ID of squeue stands for, 1 without brackets:
// 12_[1-5%2] is 5, 12_[1,3,7-9:2] is 4. A list that is cut off ("...") counts as far as
// it is shown.
func parseTasks(id string) int {
	_, list, ok := strings.Cut(id, "_[")
	if !ok {
		return 1
	}
	list, _, _ = strings.Cut(list, "]")
	list, _, _ = strings.Cut(list, "%")
	total := 0
	for part := range strings.SplitSeq(list, ",") {
		part, step, _ := strings.Cut(part, ":")
		from, to, isRange := strings.Cut(part, "-")
		a, okA := parseNumber(from)
		if !okA {
			continue
		}
		n := int64(1)
		if b, okB := parseNumber(to); isRange && okB && b >= a {
			by, okS := parseNumber(step)
			if !okS || by < 1 {
				by = 1
			}
			n = (b-a)/by + 1
		}
		total = int(min(int64(total)+n, maxTasks))
	}
	return max(total, 1)
}

// maxHosts bounds the names that a list of nodes is expanded to.
const maxHosts = 4096

// expand returns the names that a list of nodes stands for: a[1-3,7],b. It returns a
// list that it cannot read, or that is too long, as one name.
func expand(list string) []string {
	if list == "" {
		return nil
	}
	var names []string
	for _, part := range splitHosts(list) {
		more := expandHosts(part)
		if more == nil || len(names)+len(more) > maxHosts {
			return []string{list}
		}
		names = append(names, more...)
	}
	return names
}

// splitHosts cuts a list at the commas outside brackets.
func splitHosts(list string) []string {
	var all []string
	depth, from := 0, 0
	for i, c := range []byte(list) {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == ',' && depth == 0:
			all = append(all, list[from:i])
			from = i + 1
		}
	}
	return append(all, list[from:])
}

// expandHosts expands the first brackets of a name and, by recursion, the rest; nil if
// it cannot.
func expandHosts(text string) []string {
	head, rest, ok := strings.Cut(text, "[")
	if !ok {
		return []string{text}
	}
	inner, tail, ok := strings.Cut(rest, "]")
	if !ok {
		return nil
	}
	tails := expandHosts(tail)
	var names []string
	for part := range strings.SplitSeq(inner, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, okA := parseNumber(from)
		b, okB := parseNumber(to)
		if !okA || !okB || b < a || (b-a+1)*int64(max(len(tails), 1)) > maxHosts {
			return nil
		}
		for n := a; n <= b; n++ {
			for _, t := range tails {
				names = append(names, fmt.Sprintf("%s%0*d%s", head, len(from), n, t))
			}
		}
		if len(names) > maxHosts {
			return nil
		}
	}
	return names
}
