package roster

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Apply takes one event. See batch.Policy.
func (r *Roster) Apply(now batch.Time, ev *batch.Event) {
	switch ev.Kind {
	case batch.Submit:
		r.admit(now, ev.Spec)
		r.come(now, ev.Spec.Handle)
	case batch.Reserve:
		r.admit(now, ev.Spec).state = incoming
	case batch.Adopt:
		r.adopt(now, ev)
	case batch.Confirm:
		if j := r.known(ev.Job); j.state != incoming {
			panic(fmt.Sprintf("roster: job %d is not incoming", ev.Job))
		}
		r.come(now, ev.Job)
	case batch.Hold:
		r.out(ev.Job)
	case batch.Place:
		r.out(ev.Job)
		j := &r.jobs[ev.Job]
		if !ev.Restore {
			r.seq++
			j.seq = r.seq
		}
		r.describe(j, ev.Shape)
		r.come(now, ev.Job)
	case batch.Cancel:
		r.forget(ev.Job)
	case batch.Finish:
		r.finish(ev.Job)
	case batch.StartFailed:
		r.startFailed(ev.Job)
	case batch.Stopped:
		r.stopped(now, ev)
	case batch.Resumed:
		j := r.known(ev.Job)
		j.since, j.awaited = now, false
	case batch.Measured: // a machine runs one job, with all it has
	case batch.NodeDown:
		r.nodeDown(now, ev.Node)
	case batch.NodeUp:
		r.nodeUp(ev.Node)
	default:
		panic(fmt.Sprintf("roster: %v: windows are not set aside", ev.Kind))
	}
}

// known returns a job that is here.
func (r *Roster) known(h batch.Handle) *job {
	if h < 1 || int(h) >= len(r.jobs) || r.jobs[h].state == absent {
		panic(fmt.Sprintf("roster: job %d is not here", h))
	}
	return &r.jobs[h]
}

// admit makes a job known, the last one in the order.
func (r *Roster) admit(now batch.Time, spec *batch.Job) *job {
	if spec.Window != nil {
		panic(fmt.Sprintf("roster: job %d: windows are not set aside", spec.Handle))
	}
	for int(spec.Handle) >= len(r.jobs) {
		r.jobs = append(r.jobs, job{})
	}
	j := &r.jobs[spec.Handle]
	if j.state != absent {
		panic(fmt.Sprintf("roster: job %d is here already", spec.Handle))
	}
	r.seq++
	*j = job{spec: spec, seq: r.seq, submitted: now, state: held, at: none, leaving: none, target: none, home: none}
	r.describe(j, spec.Shape)
	r.residents = r.residents || spec.Resident && j.memory > 0
	return j
}

// adopt takes in a job that runs already. Whoever was paused when the driver ended runs
// again where he was, beside those who were there then: all but one have to leave at once.
func (r *Roster) adopt(now batch.Time, ev *batch.Event) {
	h := ev.Spec.Handle
	if len(ev.Allocation) == 0 {
		panic(fmt.Sprintf("roster: job %d runs nowhere", h))
	}
	machine := ev.Allocation[0].Node
	for _, l := range ev.Allocation {
		if l.Node != machine {
			panic(fmt.Sprintf("roster: job %d runs on %d and node %d: a job is on one machine", h, machine, l.Node))
		}
	}
	j := r.admit(now, ev.Spec)
	j.submitted = ev.Since
	j.since = ev.Since
	if first := r.on[machine]; first != batch.NoJob {
		r.take(h, machine)
		r.on[machine], r.crowded = first, true
	} else {
		r.take(h, machine)
		j.target = machine
	}
	r.settle(j, now)
	r.enter(h)
	if r.machines[machine].Down {
		r.strand(now, j)
	}
}

// forget takes a job out that does not run.
func (r *Roster) forget(h batch.Handle) {
	r.out(h)
	r.jobs[h] = job{}
	r.dirty = true
}

func (r *Roster) finish(h batch.Handle) {
	if j := r.known(h); j.holds() == none && !j.begun {
		panic(fmt.Sprintf("roster: job %d ends and does not run", h))
	}
	r.free(h)
	r.forget(h)
}

// startFailed lets a job wait again that could not be launched.
func (r *Roster) startFailed(h batch.Handle) {
	j := r.known(h)
	if j.at == none {
		panic(fmt.Sprintf("roster: job %d was not started", h))
	}
	r.free(h)
	j.done, j.target, j.stranded = j.before, none, false
	r.dirty = true
}

// stopped notes that a job has left its machine: as it was told, or because its driver
// took it away. A paused one may lose its state, too, with the machine it was on.
func (r *Roster) stopped(now batch.Time, ev *batch.Event) {
	j := r.known(ev.Job)
	if j.holds() == none && !j.begun {
		panic(fmt.Sprintf("roster: job %d was not stopped", ev.Job))
	}
	told := j.leaving != none && !j.stranded
	if j.at != none {
		if !j.stranded { // else its machine has gone, and nothing was done since
			r.settle(j, now)
		}
		j.home = none
		if j.spec.Resident {
			j.home = j.at
		}
	}
	r.free(ev.Job)
	j.begun, j.stranded = ev.Checkpoint, false
	if !ev.Checkpoint {
		j.done, j.home = 0, none
	}
	if told && ev.Checkpoint {
		return // the plan has it where it shall be
	}
	j.target = none
	r.dirty = true
}

// nodeDown lets nobody be on a machine any more. Of who is there the driver will say
// what has become of it; until then it holds its licenses.
func (r *Roster) nodeDown(now batch.Time, node int32) {
	r.machines[node].Down, r.dirty = true, true
	if h := r.on[node]; h != batch.NoJob {
		r.strand(now, &r.jobs[h])
	}
}

// strand leaves a job where it is, out of reach.
func (r *Roster) strand(now batch.Time, j *job) {
	r.settle(j, now)
	j.stranded, j.target = true, none
}

// nodeUp takes a machine back. Who is still there has been there all the time.
func (r *Roster) nodeUp(node int32) {
	r.machines[node].Down, r.dirty = false, true
	if h := r.on[node]; h != batch.NoJob && r.jobs[h].stranded {
		j := &r.jobs[h]
		j.stranded, j.target = false, j.at
	}
}
