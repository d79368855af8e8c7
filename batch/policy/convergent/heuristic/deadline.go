package heuristic

import (
	"math/bits"

	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

// Deadline favors jobs that are close to their deadline, and machines that are fast enough. For
// a job and a machine f1 rises with Extime, the time at which the job would end there:
//
//	Max ┤               ╱│
//	    │             ╱  │
//	    │           ╱    │
//	Min ┼─────────╱      └────────
//	    └─────────┴──────┴──────── Extime = Now + Nxtime
//	              t      Deadline        t = Deadline - k · Nxtime
//
// The update is (sum of f1 over the eligible machines) · f̄1(m) / d, with f̄1 = Max - f1 and d
// the sum of f̄1.
//
// The code computes this in integers. Let R be the remaining work (time times score of the
// reference), S = Deadline - Now and e(m) = S·score(m) - R. Then e = 0 for a machine on which
// the job ends exactly at the deadline, e = kR where the rise begins, and f̄1 is (Max-Min) ·
// e/(kR) in between. So f̄1/d is e(m) over the sum of e, and every other machine counts with e
// = kR.
//
// The paper leaves some cases open:
//
//   - A job without a deadline has f1 = Min on all machines, and its update is Min.
//   - If all f̄1 are 0 (the job would end exactly at the deadline on every eligible machine,
//     or Max is Min), the machines get equal parts of the sum of f1.
//   - A machine that would miss the deadline has f1 = Min and so the largest f̄1, the same as
//     a machine that is early. The code keeps this function of the paper, although such a
//     machine attracts a job as much as the fastest. With Avoid its f1 is Max if another
//     eligible machine would meet the deadline; the paper has no such option.
//   - A job that has overrun its estimate has a microsecond left.
type Deadline struct {
	Max, Min, K Constant
	Avoid       bool

	now      int64
	min, max float64
	flat     farm.Points
	scores   []uint64
}

// Name returns "deadline".
func (d *Deadline) Name() string { return "deadline" }

// Begin reads the clock of the state.
func (d *Deadline) Begin(s *farm.State, m *farm.Matrix) {
	d.now, d.min, d.max, d.flat = int64(s.Now), d.Min.units(), d.Max.units(), d.Min.points()
	if m.Changed() {
		d.scores = d.scores[:0]
		for i := range s.Machines {
			d.scores = append(d.scores, uint64(s.Machines[i].Score))
		}
	}
}

// Look returns the update if it is the same on all machines: long before the deadline, if the
// deadline is missed everywhere, or if all machines have the same score.
func (d *Deadline) Look(j *farm.Job, r *farm.Row) (farm.Points, farm.Key) {
	p, rising := d.phase(j, r)
	if !rising {
		return d.flat, farm.Key{}
	}
	if p.slowest == p.fastest {
		return farm.Points(d.f1(p.distance(p.slowest, d.Avoid), p.rise, 1)), farm.Key{}
	}
	return 0, farm.Key{uint64(int64(j.Deadline) - d.now), uint64(j.Remaining())}
}

// Write adds the update to each cell.
func (d *Deadline) Write(j *farm.Job, r *farm.Row) {
	p, _ := d.phase(j, r)
	scores, cells := d.scores, r.Cells
	var sum uint64
	for _, c := range r.Columns {
		sum += p.distance(scores[c], d.Avoid)
	}
	n := len(r.Columns)
	all := min(d.f1(sum, p.rise, n), float64(farm.Ceiling))
	if sum == 0 || d.Max == d.Min {
		each := farm.Points(all / float64(n))
		for _, c := range r.Columns {
			cells[c] += each
		}
		return
	}
	factor := all / float64(sum)
	for _, c := range r.Columns {
		cells[c] += farm.Points(float64(factor * float64(int64(p.distance(scores[c], d.Avoid)))))
	}
}

// f1 returns the sum of f1 over n machines, given the sum of their distances.
func (d *Deadline) f1(sum, rise uint64, n int) float64 {
	return float64(float64(n)*d.max) - float64((d.max-d.min)*float64(float64(sum)/float64(rise)))
}

// phase describes a job between the first t and the last Extime that meets the deadline.
type phase struct {
	slack, work, rise uint64 // S, R and kR, scaled; S is not scaled if bits are dropped
	slowest, fastest  uint64
	whole             wide // R, not scaled
	cut               int  // number of low bits dropped from distances
}

// phase returns the phase of a job, and whether f1 differs from Min on any machine.
func (d *Deadline) phase(j *farm.Job, r *farm.Row) (phase, bool) {
	slack := int64(j.Deadline) - d.now
	if j.Deadline == 0 || slack <= 0 || len(r.Columns) == 0 {
		return phase{}, false
	}
	p := phase{slack: uint64(slack), slowest: uint64(r.Slowest), fastest: uint64(r.Fastest)}
	if j.Reference == 0 {
		p.slowest, p.fastest = 1, 1
	}
	work := product(uint64(j.Remaining()), uint64(max(j.Reference, 1)))
	least := work.times(uint64(One + d.K)) // score times slack where the rise begins, in millionths
	if product(p.slack, p.fastest).less(work) || !product(p.slack, p.slowest).times(uint64(One)).less(least) {
		return phase{}, false
	}
	// Scale so that sums over machines and the product of the fastest machine fit into 63 bits.
	// For 1,000 machines no bits are dropped up to R = 2^51, which is 25 days on a machine of
	// score 1,000; beyond that, distances keep at least 31 bits of R + kR.
	spread := max(len(r.Columns), int(p.fastest/p.slowest)+1)
	shift := least.over(uint64(One)).bits() + bits.Len(uint(spread)) - 63
	p.whole, p.cut = work, max(0, shift)
	p.slack = product(p.slack, 1).half(min(0, shift)).lo
	p.work = work.half(shift).lo
	p.rise = max(1, work.times(uint64(d.K)).half(shift).over(uint64(One)).lo)
	return p, true
}

// distance returns e of a machine, in 0..rise.
func (p *phase) distance(score uint64, avoid bool) uint64 {
	if p.cut > 0 {
		return p.far(score, avoid)
	}
	e := p.slack*score - p.work
	if avoid && int64(e) < 0 {
		return 0
	}
	return min(e, p.rise) // e of a machine that misses the deadline wraps around and becomes rise
}

// far is distance when bits are dropped. It drops them from the difference, not from the terms.
func (p *phase) far(score uint64, avoid bool) uint64 {
	reached := product(p.slack, score)
	switch {
	case !reached.less(p.whole):
		return min(reached.minus(p.whole).half(p.cut).lo, p.rise)
	case avoid:
		return 0
	}
	return p.rise
}
