package bound

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// tick makes every deadline of every stretch a whole microsecond, so that the
// bound and its oracles see the same instance.
const tick = batch.Duration(one)

type drawn struct {
	jobs      []Job
	capacity  int64
	threshold batch.Duration
}

func draw(t *rapid.T, most int) drawn {
	d := drawn{
		capacity:  rapid.Int64Range(1, 6).Draw(t, "capacity"),
		threshold: tick * batch.Duration(rapid.Int64Range(0, 5).Draw(t, "threshold")),
	}
	for range rapid.IntRange(1, most).Draw(t, "jobs") {
		d.jobs = append(d.jobs, Job{
			Release: batch.Time(tick) * batch.Time(rapid.Int64Range(0, 20).Draw(t, "release")),
			Length:  tick * batch.Duration(rapid.Int64Range(1, 12).Draw(t, "length")),
			Rate:    rapid.Int64Range(1, d.capacity).Draw(t, "rate"),
		})
	}
	return d
}

func (d drawn) bound(t *rapid.T) (low, high int64) {
	b, err := MaxStretch(d.jobs, d.capacity, d.threshold)
	if err != nil {
		t.Fatal(err)
	}
	return int64(b.Low * one), int64(b.High * one)
}

func TestBoundIsWhereTheFullNetworkCannotAndThenCanCarryAllWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, 9)
		low, high := d.bound(t)
		if low > one && byFlow(d.jobs, d.capacity, d.threshold, low) {
			t.Errorf("%d/2^20 is possible and said to be too small", low)
		}
		if !byFlow(d.jobs, d.capacity, d.threshold, high) {
			t.Errorf("%d/2^20 is not possible and said to be so", high)
		}
		if high-low > 1 || low == one && high > one && byFlow(d.jobs, d.capacity, d.threshold, one) {
			t.Errorf("bound from %d to %d", low, high)
		}
	})
}

func TestAnyStretchIsPossibleWhereTheFullNetworkSaysSo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, 9)
		in, err := prepare(d.jobs, d.capacity, d.threshold)
		if err != nil {
			t.Fatal(err)
		}
		s := newSearch(in)
		for range 4 {
			stretch := rapid.Int64Range(one, 6*one).Draw(t, "stretch")
			possible, err := s.possible(stretch)
			if err != nil {
				t.Fatal(err)
			}
			if want := byFlow(d.jobs, d.capacity, d.threshold, stretch); possible != want {
				t.Fatalf("%d/2^20: possible %v, want %v", stretch, possible, want)
			}
			if !possible {
				rules := s.cut.violated(&s.in, stretch)
				if last := s.cut.last(&s.in, stretch); !rules || byFlow(d.jobs, d.capacity, d.threshold, last) {
					t.Fatalf("cut of %d/2^20 rules that out: %v, and %d/2^20, which is possible", stretch, rules, last)
				}
			}
		}
	})
}

func TestBoundAgreesWithTheLinearProgram(t *testing.T) {
	failed, asked := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, 4)
		low, high := d.bound(t)
		// A part in a thousand to either side, for the program's tolerance.
		for _, c := range []struct {
			stretch int64
			want    bool
		}{{low - low/1000, false}, {high + high/1000, true}} {
			if c.stretch < one {
				continue
			}
			asked++
			part, err := byProgram(d.jobs, d.capacity, d.threshold, c.stretch)
			if err != nil || math.IsNaN(part) {
				failed++ // the solver is known to fail on some degenerate programs
				continue
			}
			if got := part > 1-1e-9; got != c.want {
				t.Errorf("%d/2^20: %v of the work can be done, want all: %v", c.stretch, part, c.want)
			}
		}
	})
	if failed*20 > asked {
		t.Errorf("the solver failed %d times of %d", failed, asked)
	}
}

func TestBoundWithoutRoundingRulesOutWhatTheFullNetworkDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, 6)
		// Microseconds: now deadlines are rounded up, which may only lower it.
		for i := range d.jobs {
			d.jobs[i].Release /= batch.Time(tick)
			d.jobs[i].Length /= tick
		}
		d.threshold /= tick
		low, high := d.bound(t)
		if low > one && byFlow(d.jobs, d.capacity, d.threshold, low) {
			t.Errorf("%d/2^20 is possible and said to be too small", low)
		}
		if !byFlow(d.jobs, d.capacity, d.threshold, high+one) {
			t.Errorf("%d/2^20 is not possible, a microsecond later than what is said to be", high+one)
		}
	})
}
