package cgroup

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestQuotasOfShares(t *testing.T) {
	for name, tc := range map[string]struct {
		share CPU
		want  quota
	}{
		"half":                               {Processor / 2, quota{50_000, 100_000}},
		"a third, rounded down":              {Processor / 3, quota{33_333, 100_000}},
		"more than a processor":              {5 * Processor / 2, quota{250_000, 100_000}},
		"the least in a usual period":        {Processor/100 + 1, quota{1_000, 100_000}},
		"a small share with a longer period": {Processor / 200, quota{1_000, 200_034}},
		"the least of all":                   {MinShare, quota{1_000, 999_596}},
		"below the least":                    {MinShare - 1, quota{1_000, 1_000_000}},
		"no share":                           {0, quota{1_000, 1_000_000}},
		"no limit":                           {Unlimited, quota{-1, 100_000}},
		"the largest share":                  {Unlimited - 1, quota{(1<<40 - 1) * 100_000 >> 20, 100_000}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := quotaOf(tc.share); got != tc.want {
				t.Errorf("quotaOf(%d) = %+v, want %+v", tc.share, got, tc.want)
			}
		})
	}
}

func TestEveryQuotaIsValidAndAtMostTheShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		share := CPU(rapid.Int64Range(0, int64(Unlimited)-1).Draw(t, "share"))
		if rapid.Bool().Draw(t, "small") {
			share %= 4 * Processor
		}
		q := quotaOf(share)
		if q.run < 1000 || q.period < 1000 || q.period > 1_000_000 {
			t.Fatalf("%+v is not a quota", q)
		}
		given := q.share()
		if given > share && share >= MinShare {
			t.Fatalf("%d gives %d, which is more", share, given)
		}
		// Rounding loses at most a microsecond of a period, 10^-5 of a processor.
		if lost := share - given; lost > Processor/100_000+1 {
			t.Fatalf("%d gives %d", share, given)
		}
	})
}

// crowd is a group of busy programs on a machine with a number of processors.
type crowd struct {
	width CPU
	used  time.Duration
}

// hold runs a cycle for a time. It returns the used processor time and the longest stop of
// the group.
func (c *crowd) hold(cy *cycle, now, length time.Duration) (used, stopped time.Duration) {
	begin := c.used
	for end := now + length; now < end; {
		run, wait := cy.step(now, c.used)
		now += wait
		if run {
			c.used += c.width.times(wait)
		} else {
			stopped = max(stopped, wait)
		}
	}
	return c.used - begin, stopped
}

func TestDutyCyclesEnforceShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := CPU(rapid.Int64Range(1, 8).Draw(t, "width")) * Processor
		percent := rapid.Int64Range(1, 100).Draw(t, "percent of the width")
		share := width * CPU(percent) / 100
		c := &crowd{width: width}
		cy := newCycle(share, 0, 0)
		c.hold(cy, 0, 3*time.Second) // the cycle measures their width
		used, stopped := c.hold(cy, 3*time.Second, 20*time.Second)
		want := share.times(20 * time.Second)
		// The ends can add or remove one phase.
		if slack := width.times(cycleCheck) + want/50; used > want+slack || used < want-slack {
			t.Fatalf("a share of %d%% of %d: used %v in 20 s, want %v", percent, width/Processor, used, want)
		}
		if percent >= 5 && stopped > 2*cyclePeriod {
			t.Errorf("a share of %d%% of %d: stopped for %v", percent, width/Processor, stopped)
		}
	})
}

func TestACycleWithinItsShareIsNeverStopped(t *testing.T) {
	c := &crowd{width: Processor / 4}
	if _, stopped := c.hold(newCycle(Processor/2, 0, 0), 0, 20*time.Second); stopped > 0 {
		t.Errorf("stopped for %v", stopped)
	}
}

func TestAnIdleGroupAccumulatesOnePeriodOnly(t *testing.T) {
	c := &crowd{}
	cy := newCycle(Processor/10, 0, 0)
	c.hold(cy, 0, time.Minute)
	c.width = Processor
	used, _ := c.hold(cy, time.Minute, time.Second)
	if used > 100*time.Millisecond+2*cycleCheck {
		t.Errorf("after a minute of waiting it used %v in a second, with a tenth", used)
	}
}

func TestAnExcessiveDebtIsForgotten(t *testing.T) {
	cy := newCycle(Processor, 0, 0)
	if run, wait := cy.step(time.Second, 1000*time.Hour); run || wait > cycleDebt {
		t.Errorf("run %v, wait %v", run, wait)
	}
}

func TestStepsAreBoundedForAnyInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cy := newCycle(CPU(rapid.Int64Range(0, int64(cycleMost)-1).Draw(t, "share")), 0, 0)
		for range 20 {
			now := time.Duration(rapid.Int64Range(0, 1<<60).Draw(t, "now"))
			used := time.Duration(rapid.Int64Range(0, 1<<60).Draw(t, "used"))
			if _, wait := cy.step(max(now, cy.at), used); wait < cycleLeast || wait > cycleDebt {
				t.Fatalf("wait of %v", wait)
			}
		}
	})
}
