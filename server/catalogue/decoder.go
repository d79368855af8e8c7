package catalogue

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/internal/config"
)

// LoadError lists all mistakes in a catalogue file.
type LoadError struct {
	File     string
	Problems []*config.FieldError // by line; each has one
}

// Error returns one line FILE:LINE: KEY: MESSAGE for each problem.
func (e *LoadError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = fmt.Sprintf("%s:%d: %s", e.File, p.Line, p.Text())
	}
	return strings.Join(lines, "\n")
}

// decoder reads the values of a file and collects the problems, so that one does not hide the next.
type decoder struct {
	problems []*config.FieldError
	files    Files       // nil: the catalogue cannot name files
	dims     []dimension // of the arguments of the service being read
}

func (d *decoder) fail(v config.Value, format string, a ...any) {
	p := &config.FieldError{Line: v.Line, Key: v.Key, Message: fmt.Sprintf(format, a...)}
	d.problems = append(d.problems, p)
}

// fit reads a mapping into a struct of config.Values, and returns false for a value that is no mapping.
func (d *decoder) fit(v config.Value, into any) bool {
	if !v.IsMapping() {
		d.fail(v, "got %v, accepted: a mapping", v)
		return false
	}
	d.problems = append(d.problems, v.Fit(into)...)
	return true
}

// list returns the values of a list, nil for a key that is not given.
func (d *decoder) list(v config.Value) []config.Value {
	items, ok := v.Items()
	if !ok && v.Given() {
		d.fail(v, "got %v, accepted: a list", v)
	}
	return items
}

// scalar returns the text of a single value, and false for a key that is not given.
func (d *decoder) scalar(v config.Value, accepted string) (string, bool) {
	text, ok := v.Text()
	if !ok && v.Given() {
		d.fail(v, "got %v, accepted: %s", v, accepted)
	}
	return text, ok
}

// integer reads a whole number, absent for a key that is not given or does not fit.
func (d *decoder) integer(v config.Value, lo, hi, absent int64) int64 {
	accepted := fmt.Sprintf("an integer, %d..%d", lo, hi)
	text, ok := d.scalar(v, accepted)
	if !ok {
		return absent
	}
	i, err := strconv.ParseInt(text, 10, 64)
	if err != nil || i < lo || i > hi {
		d.fail(v, "got %q, accepted: %s", text, accepted)
		return absent
	}
	return i
}

// number reads a number, absent for a key that is not given or does not fit.
func (d *decoder) number(v config.Value, lo, hi, absent float64) float64 {
	accepted := fmt.Sprintf("a number, %v..%v", lo, hi)
	text, ok := d.scalar(v, accepted)
	if !ok {
		return absent
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= lo && f <= hi) {
		d.fail(v, "got %q, accepted: %s", text, accepted)
		return absent
	}
	return f
}

// duration reads a time with its unit from lo to hi, absent for a key that is not given.
func (d *decoder) duration(v config.Value, lo, hi, absent batch.Duration) batch.Duration {
	accepted := fmt.Sprintf("%s, %v to %v", durationAccepted, lo, hi)
	text, ok := d.scalar(v, accepted)
	if !ok {
		return absent
	}
	t, ok := parseDuration(text)
	if !ok || t < lo || t > hi {
		d.fail(v, "got %q, accepted: %s", text, accepted)
	}
	return t
}

const (
	bytesAccepted    = "bytes with a unit, as 512MiB (B, KiB, MiB, GiB, TiB, kB, MB, GB, TB)"
	durationAccepted = "a time with its unit, as 90s, 5m or 1h30m"
)

// parseBytes parses an amount of memory.
func parseBytes(s string) (int64, error) {
	b, ok := config.ParseBytes(s)
	if !ok || b < 1 || b > 1<<62 {
		return 0, fmt.Errorf("got %q, accepted: %s", s, bytesAccepted)
	}
	return b, nil
}

// parseDuration parses a time of at least zero with its unit.
func parseDuration(s string) (batch.Duration, bool) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || !strings.ContainsAny(s, "hmsuµn") {
		return 0, false
	}
	return batch.Duration(d / time.Microsecond), true
}
