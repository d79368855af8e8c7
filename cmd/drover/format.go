package main

import (
	"fmt"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// clock formats an instant for people, "-" for none: the time of day if it is today,
// otherwise with the date.
func clock(t time.Time) string { return clockAt(time.Now(), t) }

func clockAt(now, t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	t, now = t.Local(), now.Local()
	if t.YearDay() != now.YearDay() || t.Year() != now.Year() {
		return day(t)
	}
	return t.Format("15:04:05")
}

// soon is clock for an instant relative to now.
func soon(now time.Time, d time.Duration) string { return clockAt(now, now.Add(d)) }

// day formats an instant with its date, "-" for none.
func day(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// bytesText formats a size in bytes with a binary unit.
func bytesText(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	v, i := float64(n), 0
	for v >= 1024 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d %s", n, units[0])
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}

// mebibytes formats an amount of memory in bytes, "-" for unknown (0).
func mebibytes(n int64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1fMiB", float64(n)/(1<<20))
}

func processors(n int) string { return plural(n, "processor") }

// plural returns "1 thing" or "N things".
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// moment parses an instant, or a time from now; the zero Time for "". Its error names the
// flag.
func moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := cmdline.ParseDuration(text); err == nil {
		return now.Add(d), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, &cmdline.UsageError{Message: fmt.Sprintf(
			"--%s %q, accepted: a time from now (90m) or an instant (2026-05-01T09:00:00Z)", flag, text)}
	}
	return t, nil
}
