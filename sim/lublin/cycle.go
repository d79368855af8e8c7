package lublin

import (
	"math"
	"sort"
)

// The day of the model: half hours, from midnight.
const (
	secondsADay = 86400
	halfHours   = 48
	halfHour    = secondsADay / halfHours
	// dayStart is the half hour in which the gamma over the day begins, counted
	// from 1: the one from 5:00 to 5:30.
	dayStart = 11
)

// cycle turns even time into clock time and back, both in seconds from
// midnight. Even time passes at the rate at which jobs arrive: fast in the
// afternoon, slowly in the early morning.
//
//	even  |--|--|---|----|-----|-----|----|--|      equal numbers of jobs
//	clock |----|----|----|----|----|----|----|      equal times
type cycle struct {
	// even is the even time at the start of each half hour, and at the end of
	// the day, which is that of the clock.
	even [halfHours + 1]float64
}

func newCycle(p *parameters) cycle {
	var weights [halfHours]float64
	total := 0.
	for i := dayStart; i < dayStart+halfHours; i++ {
		w := incompleteGamma(p.dayShape, (float64(i)+0.5)/p.dayScale) - incompleteGamma(p.dayShape, (float64(i)-0.5)/p.dayScale)
		weights[(i-1)%halfHours] = w
		total += w
	}
	var c cycle
	sum := 0.
	for i, w := range weights {
		sum += w
		c.even[i+1] = secondsADay * (sum / total)
	}
	c.even[halfHours] = secondsADay
	return c
}

// incompleteGamma returns the lower incomplete gamma function, not divided by the
// complete one: only its proportions count.
func incompleteGamma(a, x float64) float64 {
	term := 1 / a
	sum := term
	for n := 1; term > sum*0x1p-60; n++ {
		term = float64(term * (x / (a + float64(n))))
		sum += term
	}
	return float64(exp(float64(a*log(x))-x) * sum)
}

// clockAt returns the clock time at an even time.
func (c *cycle) clockAt(even float64) float64 {
	day := math.Floor(even / secondsADay)
	rest := even - float64(day*secondsADay)
	i := sort.Search(halfHours-1, func(i int) bool { return rest < c.even[i+1] })
	part := (rest - c.even[i]) / (c.even[i+1] - c.even[i])
	return float64(day*secondsADay) + float64(halfHour*(float64(i)+part))
}

// evenAt returns the even time at a clock time.
func (c *cycle) evenAt(clock float64) float64 {
	day := math.Floor(clock / secondsADay)
	rest := (clock - float64(day*secondsADay)) / halfHour
	i := min(int(rest), halfHours-1)
	part := (rest - float64(i)) * (c.even[i+1] - c.even[i])
	return float64(day*secondsADay) + c.even[i] + float64(part)
}
