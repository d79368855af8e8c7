package roster

import (
	"math"
	"math/bits"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

// state is the state of a job.
type state uint8

const (
	absent   state = iota
	incoming       // may not start
	held           // out of the plan
	parked         // before its earliest start
	active         // in Roster.active
)

// none is no machine.
const none = farm.NoMachine

// job is a job as the roster sees it.
type job struct {
	spec      *batch.Job
	seq       int64
	submitted batch.Time
	estimate  batch.Duration
	reference int32
	cpus      int32
	memory    int64
	needs     []farm.Need // immutable: shared with copies, as is input
	input     []farm.Input
	state     state

	at      int32
	leaving int32
	target  int32
	home    int32 // the only machine where it can continue, or none

	begun    bool // it continues from a checkpoint
	awaited  bool // resumed, but the driver has not confirmed that it runs
	stranded bool

	done   batch.Duration // on the machine of the estimate, at since
	before batch.Duration // done when it last began
	since  batch.Time
}

// describe computes the needs of a job with the given shape.
func (r *Roster) describe(j *job, shape batch.Shape) {
	spec := j.spec
	j.estimate = min(max(shape.Walltime, 1), farm.Longest)
	j.reference, j.cpus, j.memory = spec.Reference, shape.Width, total(spec, shape.Width)
	if !r.scored || j.reference < 0 {
		j.reference = 0
	}
	j.needs, j.input = nil, nil
	var known bool
	if j.needs, known = r.needs(spec.Licenses); !known {
		j.needs, j.cpus = nil, math.MaxInt32 // eligible for nothing
	}
	if spec.Input > 0 {
		j.input = []farm.Input{{Place: r.place(spec.Site), Bytes: spec.Input}}
	}
}

// needs converts licenses to indices, each once. known is false if the farm lacks one of them.
func (r *Roster) needs(licenses []batch.License) (list []farm.Need, known bool) {
	for _, l := range licenses {
		index, found := r.license[l.Name]
		if !found {
			return nil, false
		}
		if l.Copies < 1 {
			continue
		}
		twice := false
		for i := range list {
			if list[i].License == index {
				list[i].Copies = int32(min(int64(list[i].Copies)+int64(l.Copies), math.MaxInt32))
				twice = true
			}
		}
		if !twice {
			list = append(list, farm.Need{License: index, Copies: l.Copies})
		}
	}
	return list, true
}

// total returns the memory that all tasks of a job need.
func total(spec *batch.Job, width int32) int64 {
	if len(spec.Groups) == 0 {
		return product(int64(width), spec.Memory)
	}
	sum := int64(0)
	for _, g := range spec.Groups {
		more := product(int64(g.Tasks), g.Memory)
		if sum > math.MaxInt64-more {
			return math.MaxInt64
		}
		sum += more
	}
	return sum
}

// product returns a·b for nonnegative numbers, at most the largest int64.
func product(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(max(a, 0)), uint64(max(b, 0)))
	if hi > 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}

// settle updates the progress of a job.
func (r *Roster) settle(j *job, now batch.Time) {
	j.done = r.doneAt(j, now)
	j.since = max(j.since, now)
}

// doneAt returns the completed part of a job's estimate, rounded down.
func (r *Roster) doneAt(j *job, now batch.Time) batch.Duration {
	if j.at == none || j.awaited || now <= j.since {
		return j.done
	}
	d := now.Sub(j.since)
	if j.reference > 0 {
		hi, lo := bits.Mul64(uint64(d), uint64(r.machines[j.at].Score))
		if hi >= uint64(j.reference) {
			return batch.Forever
		}
		q, _ := bits.Div64(hi, lo, uint64(j.reference))
		d = batch.Duration(min(q, math.MaxInt64))
	}
	if d > batch.Forever-j.done {
		return batch.Forever
	}
	return j.done + d
}

// pinned returns the machine where a job must continue, or none if it can run anywhere.
func (r *Roster) pinned(j *job) int32 {
	switch {
	case j.stranded:
		return j.holds()
	case j.at != none && (!r.planner.Preempts() || j.spec.Resident):
		return j.at
	case j.at == none && (j.begun || j.leaving != none):
		return j.home
	}
	return none
}

// holds returns the machine that a job occupies: where it runs, or that it is leaving.
func (j *job) holds() int32 {
	if j.at != none {
		return j.at
	}
	return j.leaving
}

// resides returns the machine where a job keeps its memory even while it does not run.
func (j *job) resides() int32 {
	switch {
	case !j.spec.Resident:
		return none
	case j.holds() != none:
		return j.holds()
	}
	return j.home
}
