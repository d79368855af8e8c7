package farm

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// toy starts each job that waits on the fastest machine that is free and can run it, in
// order of submission or of deadline. With preempt, a job that has a machine which an
// earlier one could use has to leave it.
type toy struct {
	in      *Instance
	byDate  bool
	preempt bool
	waits   []batch.Handle // by order of submission
	paused  map[batch.Handle]bool
	runs    map[int32]batch.Handle // by machine
}

func (y *toy) factory(batch.Platform, batch.Settings) (batch.Policy, error) {
	y.paused, y.runs = map[batch.Handle]bool{}, map[int32]batch.Handle{}
	return y, nil
}

func (y *toy) Apply(_ batch.Time, ev *batch.Event) {
	switch ev.Kind {
	case batch.Submit:
		y.waits = append(y.waits, ev.Job)
	case batch.Finish:
		for m, h := range y.runs {
			if h == ev.Job {
				delete(y.runs, m)
			}
		}
	default:
	}
}

func (y *toy) date(h batch.Handle) batch.Time {
	if d := y.in.Jobs[indexOf(h)].Deadline; d != 0 {
		return d
	}
	return batch.Never
}

func (y *toy) Decide(_ batch.Time, out *batch.Decisions) {
	order := slices.Sorted(slices.Values(y.waits))
	if y.byDate {
		slices.SortStableFunc(order, func(a, b batch.Handle) int { return int(min(1, max(-1, y.date(a)-y.date(b)))) })
	}
	for _, h := range order {
		j := &y.in.Jobs[indexOf(h)]
		best := y.free(j)
		if best < 0 && y.preempt && y.yield(h, j, out) {
			return
		}
		if best < 0 {
			continue
		}
		kind := batch.Start
		if y.paused[h] {
			kind = batch.Resume
			delete(y.paused, h)
		}
		out.Add(kind, h, batch.NodeAllocation{Node: best, Processors: j.CPUs, Share: batch.One})
		y.runs[best] = h
		y.waits = slices.DeleteFunc(y.waits, func(o batch.Handle) bool { return o == h })
	}
}

// free returns the fastest machine that is free and can run a job, with its licenses
// free; else -1.
func (y *toy) free(j *Job) int32 {
	for _, l := range j.Licenses {
		used := int32(0)
		for _, h := range y.runs {
			if slices.Contains(y.in.Jobs[indexOf(h)].Licenses, l) {
				used++
			}
		}
		if used == y.in.Copies[l] {
			return -1
		}
	}
	best := int32(-1)
	for m := range y.in.Machines {
		machine := &y.in.Machines[m]
		if _, taken := y.runs[int32(m)]; !taken && machine.Runs(j) &&
			(best < 0 || machine.Score > y.in.Machines[best].Score) {
			best = int32(m)
		}
	}
	return best
}

// yield has the job with the latest date give its machine to one with an earlier date.
func (y *toy) yield(h batch.Handle, j *Job, out *batch.Decisions) bool {
	victim := int32(-1)
	for m := range y.in.Machines {
		o, taken := y.runs[int32(m)]
		if taken && y.in.Machines[m].Runs(j) && y.date(o) > y.date(h) &&
			(victim < 0 || y.date(o) > y.date(y.runs[victim])) {
			victim = int32(m)
		}
	}
	if victim < 0 {
		return false
	}
	o := y.runs[victim]
	delete(y.runs, victim)
	if y.free(j) < 0 { // it is licenses that lack, too
		y.runs[victim] = o
		return false
	}
	out.Add(batch.Pause, o)
	y.paused[o] = true
	y.waits = append(y.waits, o)
	return true
}

func (y *toy) Wake() batch.Time                                                  { return batch.Never }
func (y *toy) Estimate(batch.Time, []batch.Ask, []batch.Estimate) batch.Runnable { return nil }
func (y *toy) Fork() batch.Policy                                                { panic("toy: not forked") }
