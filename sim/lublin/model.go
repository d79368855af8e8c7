package lublin

import (
	"math"
	"sort"
)

// A day of the model: half hours, from midnight.
const (
	secondsADay = 86400
	halfHours   = 48
	halfHour    = secondsADay / halfHours
	// dayStart is the half hour, counted from 1, in which the gamma over the day begins: 5:00
	// to 5:30.
	dayStart = 11
)

// cycle converts between even time and clock time, both in seconds from midnight. Even time
// passes at the arrival rate of jobs: fast in the afternoon, slowly in the early morning.
//
//	even  |--|--|---|----|-----|-----|----|--|      equal numbers of jobs
//	clock |----|----|----|----|----|----|----|      equal times
type cycle struct {
	// even is the even time at the start of each half hour and at the end of the day, where it
	// equals the clock time.
	even [halfHours + 1]float64
}

func newCycle(p *parameters) cycle {
	var weights [halfHours]float64
	total := 0.
	for i := dayStart; i < dayStart+halfHours; i++ {
		w := incompleteGamma(p.dayShape, (float64(i)+0.5)/p.dayScale) -
			incompleteGamma(p.dayShape, (float64(i)-0.5)/p.dayScale)
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

// incompleteGamma returns the lower incomplete gamma function without normalization: only
// ratios are used.
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

// runtimes draws runtimes.
type runtimes struct {
	short, long gamma
	slope, base float64
}

func newRuntimes(p *parameters) runtimes {
	return runtimes{
		short: newGamma(p.shortShape, p.shortScale), long: newGamma(p.longShape, p.longScale),
		slope: p.slope, base: p.base,
	}
}

// probability returns the probability that a job of this width is short.
func (t *runtimes) probability(width int32) float64 {
	return min(max(t.base+float64(t.slope*float64(width)), 0), 1)
}

// draw draws the runtime for a width, in whole seconds from 1 to MaxRuntime.
func (t *runtimes) draw(r *random, width int32) int64 {
	p := t.probability(width)
	for {
		g := &t.long
		if r.uniform() < p {
			g = &t.short
		}
		if x := g.draw(r); x <= maxLogRuntime {
			return int64(exp(x))
		}
	}
}

// widths draws widths.
type widths struct {
	serial, parallel  float64 // cumulative: serial, then powers of two, then the rest
	low, middle, high float64
	first             float64
	widest            int32
}

// fit ties a class's uniforms to a machine, as the authors require: high is the machine's
// (interactive jobs stay a factor of 2^1.5 below it, as in the published machine), and middle
// keeps its distance from high. On machines of less than about 32 processors that would leave
// little or nothing of the first uniform, so it keeps a third of the range: 1.5 for 8
// processors, the authors' own example.
func fit(p *parameters, procs int) widths {
	w := widths{serial: p.serial, parallel: p.serial + p.powerOfTwo, first: p.first}
	if procs == 1 {
		w.serial, w.widest = 1, 1
		return w
	}
	machine := log2(float64(procs))
	w.high = max(machine-(published-p.high), min(machine, p.low))
	w.low = min(p.low, w.high)
	w.middle = max(w.high-(p.high-p.middle), w.low+(w.high-w.low)/3)
	w.widest = min(int32(procs), rounded(exp2(w.high)))
	return w
}

// draw draws a width.
func (w *widths) draw(r *random) int32 {
	u := r.uniform()
	if u < w.serial {
		return 1
	}
	for {
		x := w.logarithm(r)
		if u < w.parallel {
			x = math.Floor(x + 0.5)
		}
		if n := rounded(exp2(x)); n <= w.widest {
			return n
		}
	}
}

// logarithm draws from one of the two uniforms.
func (w *widths) logarithm(r *random) float64 {
	from, to := w.low, w.middle
	if r.uniform() >= w.first {
		from, to = w.middle, w.high
	}
	return from + float64(r.uniform()*(to-from))
}

func rounded(x float64) int32 { return int32(math.Floor(x + 0.5)) }
