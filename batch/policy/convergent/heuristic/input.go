package heuristic

import "github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"

// Input favours machines to which less of a job's data would have to be moved, by the
// time that takes:
//
//	Transf(m) = sum over the other places of bytes there / bandwidth from there to m
//	IN · (1 - Transf(m) / sum of Transf over the eligible machines)
//
// The paper sums over places that are eligible machines; data on any other machine or
// place has to be moved as well, and counts. Where nothing would have to be moved, as
// the job has no input or the only machine has all of it, the second term is 0.
//
// Without bandwidths of their own the places are equally far from each other. Then the
// bandwidth cancels out, and machines differ only by what of the data they hold.
type Input struct {
	Weight Constant
	units  float64
	s      *farm.State
	times  []float64
}

// Name returns "input".
func (in *Input) Name() string { return "input" }

// Begin keeps the state for its links.
func (in *Input) Begin(s *farm.State, _ *farm.Matrix) { in.s, in.units = s, in.Weight.units() }

// Look returns what machines get that hold nothing, as long as all places are equally
// far from each other.
func (in *Input) Look(j *farm.Job, r *farm.Row) (farm.Points, farm.Key) {
	if in.unequal(j) {
		return 0, farm.Key{1}
	}
	total, sum, here := in.equal(j, r)
	if sum == 0 {
		return in.Weight.points(), farm.Key{}
	}
	if len(r.Columns) == 1 {
		return 0, farm.Key{} // it has all of the sum
	}
	key := farm.Key{}
	if here > 0 {
		key[0] = 1
	}
	return farm.Points(in.units - float64(in.units*float64(total/sum))), key
}

// Write adds what the data that machines hold are worth; with bandwidths of their own,
// everything.
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

// unequal says whether a place of the job's input has bandwidths of its own.
func (in *Input) unequal(j *farm.Job) bool {
	for _, d := range j.Input {
		if in.s.Links.To(d.Place) != nil {
			return true
		}
	}
	return false
}

// holds says whether data lie on a machine that the job is eligible for.
func holds(d farm.Input, r *farm.Row) bool {
	return int(d.Place) < len(r.Cells) && r.Cells[d.Place] > 0
}

// equal returns in bytes what a machine that holds nothing would have to be sent, the
// sum of that over all eligible machines, and what these hold.
func (in *Input) equal(j *farm.Job, r *farm.Row) (total, sum, here float64) {
	for _, d := range j.Input {
		total += float64(d.Bytes)
		if holds(d, r) {
			here += float64(d.Bytes)
		}
	}
	return total, float64(total*float64(len(r.Columns))) - here, here
}

// writeTimes adds the update by the time of each transfer.
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
