package main

import (
	"time"
)

// clock returns a time for people, "-" for none: one of today as the time of day.
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

// soon returns when something is, so long from now, for people: a time of day, with its
// date if that is another one.
func soon(now time.Time, d time.Duration) string { return clockAt(now, now.Add(d)) }
