package heuristic

import "github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"

// Input favors machines to which less of a job's data must be moved, measured by the transfer
// time:
//
//	Transf(m) = sum over the other places of bytes there / bandwidth from there to m
//	IN · (1 - Transf(m) / sum of Transf over the eligible machines)
//
// The paper sums over places that are eligible machines. Here data on any other machine or
// place counts, too, because it must be moved as well. If no data must be moved (the job has no
// input, or the only eligible machine holds all of it), the second term is 0.
//
// Without bandwidths in farm.Links all places are equally far apart. The bandwidth then cancels
// out, and machines differ only by the data that they hold.
type Input struct {
	Weight Constant
	units  float64
	s      *farm.State
	times  []float64
}

// Name returns "input".
func (in *Input) Name() string { return "input" }

// Begin keeps the state, of which it needs the links.
func (in *Input) Begin(s *farm.State, _ *farm.Matrix) { in.s, in.units = s, in.Weight.units() }

// Look returns the points of a machine that holds no data, if all places are equally far apart.
func (in *Input) Look(j *farm.Job, r *farm.Row) (farm.Points, farm.Key) {
	if in.unequal(j) {
		return 0, farm.Key{1}
	}
	total, sum, here := in.equal(j, r)
	if sum == 0 {
		return in.Weight.points(), farm.Key{}
	}
	if len(r.Columns) == 1 {
		return 0, farm.Key{} // this machine has the whole sum
	}
	key := farm.Key{}
	if here > 0 {
		key[0] = 1
	}
	return farm.Points(in.units - float64(in.units*float64(total/sum))), key
}

// Write adds the points for the data that machines hold or, if bandwidths differ, all points.
func (in *Input) Write(j *farm.Job, r *farm.Row) {
	if in.unequal(j) {
		in.writeTimes(j, r)
		return
	}
	_, sum, _ := in.equal(j, r)
	for _, d := range j.Input {
		if holds(d, r) {
			r.Cells[d.Place] += farm.Points(float64(in.units * float64(float64(d.Bytes)/sum)))
		}
	}
}

// unequal reports whether farm.Links gives bandwidths for a place of the job's input.
func (in *Input) unequal(j *farm.Job) bool {
	for _, d := range j.Input {
		if in.s.Links.To(d.Place) != nil {
			return true
		}
	}
	return false
}

// holds reports whether the data is on a machine that the job is eligible for.
func holds(d farm.Input, r *farm.Row) bool {
	return int(d.Place) < len(r.Cells) && r.Cells[d.Place] > 0
}

// equal returns in bytes what must be sent to a machine that holds no data (total), the sum of
// what must be sent over all eligible machines (sum), and what those machines hold (here).
func (in *Input) equal(j *farm.Job, r *farm.Row) (total, sum, here float64) {
	for _, d := range j.Input {
		total += float64(d.Bytes)
		if holds(d, r) {
			here += float64(d.Bytes)
		}
	}
	return total, float64(total*float64(len(r.Columns))) - here, here
}

// writeTimes adds the points by the transfer time of each machine.
func (in *Input) writeTimes(j *farm.Job, r *farm.Row) {
	in.times = in.times[:0]
	sum := 0.0
	for _, c := range r.Columns {
		t := 0.0
		for _, d := range j.Input {
			if d.Place == c {
				continue
			}
			rate := in.s.Links.Rate
			if rates := in.s.Links.To(d.Place); rates != nil {
				rate = rates[c]
			}
			t += float64(d.Bytes) / float64(rate)
		}
		in.times = append(in.times, t)
		sum += t
	}
	for i, c := range r.Columns {
		share := 0.0
		if sum > 0 {
			share = in.times[i] / sum
		}
		r.Cells[c] += farm.Points(in.units - float64(in.units*share))
	}
}
