package main

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

func TestSpansOfDaysArePrintedInDays(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0s", 1500 * time.Millisecond: "1.5s", -1500 * time.Millisecond: "-1.5s", time.Minute: "1m0s",
		-90 * time.Second:          "-1m30s",
		24*time.Hour - time.Second: "23h59m59s", 24*time.Hour - time.Millisecond: "1-00:00:00",
		24 * time.Hour:                 "1-00:00:00",
		240*time.Hour + 61*time.Second: "10-00:01:01", -49 * time.Hour: "-2-01:00:00", 1<<63 - 1: "106751-23:47:16",
	} {
		if got := cmdline.Span(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}

// A printed span of a minute or more parses to the same seconds.
func TestPrintedSpansCanBeParsed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(60, 1e9).Draw(t, "seconds")) * time.Second
		if got, err := cmdline.ParseDuration(cmdline.Span(d)); err != nil || got != d {
			t.Fatalf("%v is printed as %s and parsed as %v, %v", d, cmdline.Span(d), got, err)
		}
	})
}

func TestTimesOfOtherDaysHaveADate(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.Local)
	for d, want := range map[time.Duration]string{
		time.Hour: "13:00:00", 12 * time.Hour: "2026-05-02 00:00:00", -13 * time.Hour: "2026-04-30 23:00:00",
		365 * 24 * time.Hour: "2027-05-01 12:00:00",
	} {
		if got := clockAt(now, now.Add(d)); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
	if got := clock(time.Time{}); got != "-" {
		t.Errorf("none: %s", got)
	}
}
