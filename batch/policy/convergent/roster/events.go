package roster

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Apply processes one event. See batch.Policy.
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
	case batch.Measured: // a machine runs one job, with all its processors
	case batch.NodeDown:
		r.nodeDown(now, ev.Node)
	case batch.NodeUp:
		r.nodeUp(ev.Node)
	default:
		panic(fmt.Sprintf("roster: %v: reserved windows are not supported", ev.Kind))
	}
}

// known returns the job of a handle. It panics if there is none.
func (r *Roster) known(h batch.Handle) *job {
	if h < 1 || int(h) >= len(r.jobs) || r.jobs[h].state == absent {
		panic(fmt.Sprintf("roster: job %d is unknown", h))
	}
	return &r.jobs[h]
}

// admit adds a job at the end of the order.
func (r *Roster) admit(now batch.Time, spec *batch.Job) *job {
	if spec.Window != nil {
		panic(fmt.Sprintf("roster: job %d: reserved windows are not supported", spec.Handle))
	}
	for int(spec.Handle) >= len(r.jobs) {
		r.jobs = append(r.jobs, job{})
	}
	j := &r.jobs[spec.Handle]
	if j.state != absent {
		panic(fmt.Sprintf("roster: job %d already exists", spec.Handle))
	}
	r.seq++
	*j = job{spec: spec, seq: r.seq, submitted: now, state: held, at: none, leaving: none, target: none, home: none}
	r.describe(j, spec.Shape)
	r.residents = r.residents || spec.Resident && j.memory > 0
	return j
}

// adopt adds a job that runs already. A job that was paused when the driver ended runs again on
// its machine, beside the jobs that ran there then: all but one must leave at once.
func (r *Roster) adopt(now batch.Time, ev *batch.Event) {
	h := ev.Spec.Handle
	if len(ev.Allocation) == 0 {
		panic(fmt.Sprintf("roster: job %d has no allocation", h))
	}
	machine := ev.Allocation[0].Node
	for _, l := range ev.Allocation {
		if l.Node != machine {
			panic(fmt.Sprintf("roster: job %d runs on nodes %d and %d: a job must be on one machine", h, machine,
				l.Node))
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

// forget removes a job that does not run.
func (r *Roster) forget(h batch.Handle) {
	r.out(h)
	r.jobs[h] = job{}
	r.dirty = true
}

func (r *Roster) finish(h batch.Handle) {
	if j := r.known(h); j.holds() == none && !j.begun {
		panic(fmt.Sprintf("roster: job %d ends but does not run", h))
	}
	r.free(h)
	r.forget(h)
}

// startFailed returns a job to waiting after a failed start.
func (r *Roster) startFailed(h batch.Handle) {
	j := r.known(h)
	if j.at == none {
		panic(fmt.Sprintf("roster: job %d was not started", h))
	}
	r.free(h)
	j.done, j.target, j.stranded = j.before, none, false
	r.dirty = true
}

// stopped records that a job has left its machine: on request, or because the driver removed
// it. A paused job can also lose its state together with its machine.
func (r *Roster) stopped(now batch.Time, ev *batch.Event) {
	j := r.known(ev.Job)
	if j.holds() == none && !j.begun {
		panic(fmt.Sprintf("roster: job %d was not stopped", ev.Job))
	}
	requested := j.leaving != none && !j.stranded
	if j.at != none {
		if !j.stranded { // the machine is gone, and the job made no progress since
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
	if requested && ev.Checkpoint {
		return // the plan's target still holds
	}
	j.target = none
	r.dirty = true
}

// nodeDown takes a machine out of service. The driver will report what became of its job, which
// holds its licenses until then.
func (r *Roster) nodeDown(now batch.Time, node int32) {
	r.machines[node].Down, r.dirty = true, true
	if h := r.on[node]; h != batch.NoJob {
		r.strand(now, &r.jobs[h])
	}
}

// strand leaves a job on a machine that is out of reach.
func (r *Roster) strand(now batch.Time, j *job) {
	r.settle(j, now)
	j.stranded, j.target = true, none
}

// nodeUp takes a machine back into service. A job that is still there has been running all
// along.
func (r *Roster) nodeUp(node int32) {
	r.machines[node].Down, r.dirty = false, true
	if h := r.on[node]; h != batch.NoJob && r.jobs[h].stranded {
		j := &r.jobs[h]
		j.stranded, j.target = false, j.at
	}
}
