package lublin

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestTheCycleIsAGammaOverTheHalfHoursOfADay(t *testing.T) {
	eachClass(t, func(t *testing.T, p *parameters) {
		c, day := newCycle(p), gammaOf(p.dayShape, p.dayScale)
		total := day.CDF(58.5) - day.CDF(10.5)
		for i := range halfHours {
			n := i + 1 // half hours are counted from 1, and those before the 11th are of the day before
			if n < dayStart {
				n += halfHours
			}
			got := (c.even[i+1] - c.even[i]) / secondsADay
			want := (day.CDF(float64(n)+0.5) - day.CDF(float64(n)-0.5)) / total
			if math.Abs(got-want) > 1e-9 {
				t.Errorf("half hour %d: share %g, want %g", i, got, want)
			}
		}
	})
}

func TestEvenAndClockTimeAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCycle(rapid.SampledFrom([]*parameters{&allJobs, &batchJobs, &interactiveJobs}).Draw(t, "class"))
		even := rapid.Float64Range(0, 1e9).Draw(t, "even")
		clock := c.clockAt(even)
		if back := c.evenAt(clock); math.Abs(back-even) > 1e-5 {
			t.Errorf("even %.6f is clock %.6f is even %.6f", even, clock, back)
		}
		if math.Abs(clock-even) > secondsADay {
			t.Errorf("even %.6f is clock %.6f: more than a day away", even, clock)
		}
		if later := c.clockAt(even + 1e-3); later < clock {
			t.Errorf("clock %.6f, and %.6f later", clock, later)
		}
		day := float64(rapid.IntRange(0, 10_000).Draw(t, "day")) * secondsADay
		if c.clockAt(day) != day || c.evenAt(day) != day {
			t.Errorf("midnight %g is %g and %g", day, c.clockAt(day), c.evenAt(day))
		}
	})
}
