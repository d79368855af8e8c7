package slurm

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// parseSpan reads a length of time as Slurm prints it: [days-]hours:minutes:seconds
// or minutes:seconds. What has no limit is batch.Forever; what is not set, 0.
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

// parseCount reads a number that may be abbreviated in units of 1024: 2K, 1.5K.
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

// parseInstant reads an instant in UTC; the zero time is one that is not known.
func parseInstant(text string) (time.Time, bool) {
	switch text {
	case "N/A", "Unknown", "unknown", "None", "NONE", "(null)", "":
		return time.Time{}, true
	}
	t, err := time.Parse("2006-01-02T15:04:05", text)
	return t, err == nil
}

// parseTasks returns how many jobs an array's elements in squeue's brackets are:
// [1-5%2] is 5, [1,3,7-9:2] 4. One that is cut off ("...") counts what is shown.
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
		total = int(min(int64(total)+n, mostTasks))
	}
	return max(total, 1)
}

// mostTasks bounds the jobs that one line of a queue stands for.
const mostTasks = 100_000
