package cmdline

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "0": 0, "-1s": -time.Second, "1.5h": 90 * time.Minute,
		"00:01:30": 90 * time.Second, "1:00:00": time.Hour, "100:00:00": 100 * time.Hour,
		"1-00:00:00": day, "2-03:04:05": 2*day + 3*time.Hour + 4*time.Minute + 5*time.Second, "0-0:00:01": time.Second,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q is %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "90", "10:00", "1:2:3", "00:60:00", "00:00:60", "1-24:00:00", "-1:00:00", "1-", "1-2h", "1--1:00:00",
		"+1:00:00", "1:00:00:00", "a:00:00", "1: 0:00", "99999999999:00:00", "9223372036854775807-00:00:00",
		"106752-00:00:00", "1:00:00s",
	} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

// What Slurm prints for so many seconds is read as so many.
func TestClockFormsAreReadAsTheyAreWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64Range(0, 1<<33).Draw(t, "seconds")) * time.Second
		if got, err := ParseDuration(clockForm(want)); err != nil || got != want {
			t.Fatalf("%s is %v, %v", clockForm(want), got, err)
		}
	})
}

func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"90s", "1h30m", "01:02:03", "2-03:04:05", "10:00", "-1:00:00", "99999999999:00:00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, ok := ParseClock(text); ok {
			if again, ok := ParseClock(clockForm(d)); d < 0 || !ok || again != d {
				t.Fatalf("%q is %v, and %s is %v", text, d, clockForm(d), again)
			}
		}
	})
}

// clockForm writes whole seconds as D-HH:MM:SS.
func clockForm(d time.Duration) string {
	s := int64(d / time.Second)
	return fmt.Sprintf("%d-%02d:%02d:%02d", s/86400, s/3600%24, s/60%60, s%60)
}
