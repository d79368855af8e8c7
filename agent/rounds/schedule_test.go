package rounds_test

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/agent/rounds"
	"github.com/seed-9b8f70bb/drover/batch"
)

func TestLeadsIsTrueForTheFirstName(t *testing.T) {
	for _, c := range []struct {
		name   string
		living []string
		want   bool
	}{
		{"b", nil, true},
		{"b", []string{"c", "d"}, true},
		{"b", []string{"c", "a"}, false},
		{"b", []string{"b"}, true}, // two of one name are a mistake; better both than none
	} {
		if got := rounds.Leads(c.name, c.living); got != c.want {
			t.Errorf("%s among %v leads: %v", c.name, c.living, got)
		}
	}
}

func TestNextReturnsTheTimeToAMultipleOfThePeriod(t *testing.T) {
	for _, c := range []struct {
		now          batch.Time
		period, want batch.Duration
	}{
		{0, 60, 60},
		{1, 60, 59},
		{59, 60, 1},
		{60, 60, 60},
		{-1, 60, 1},
		{-60, 60, 60},
	} {
		if got := rounds.Next(c.now, c.period); got != c.want {
			t.Errorf("from %d to the next multiple of %d: %d, want %d", c.now, c.period, got, c.want)
		}
	}
}

func TestSiftForgetsJobsThatNoLongerWait(t *testing.T) {
	m := rounds.NewMemory()
	m.Keep("a", 2)
	m.Keep("b", 1)
	m.Keep("c", 0)
	m.Keep("a", 3)
	m.Sift(func(job string) bool { return job != "b" })
	for job, want := range map[string]int{"a": 3, "b": 0, "c": 0} {
		if got := m.Later(job); got != want {
			t.Errorf("%s: %d, want %d", job, got, want)
		}
	}
}
