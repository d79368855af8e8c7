package roster

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

// Planner assigns jobs to machines.
type Planner interface {
	// Plan fills plan with the index in State.Jobs of the job on each machine, or Free. It
	// assigns a held job only to its Machine and, if the planner does not preempt, leaves
	// running jobs in place. The planned jobs have their licenses: together they request no
	// more copies than exist, including those of jobs on machines that are down.
	Plan(s *farm.State, plan []int32)
	// Preempts reports whether the planner preempts running jobs. The answer never changes.
	Preempts() bool
	// Fork returns a copy that gives the same results from here on.
	Fork() Planner
}

// Free marks a machine without a job in a plan.
const Free int32 = -1

// Roster is a policy around a Planner. It implements batch.Policy and forecast.Runnable.
type Roster struct {
	*site
	planner  Planner
	machines []farm.Machine
	jobs     []job // by handle
	seq      int64
	active   []batch.Handle // by seq
	parked   []batch.Handle // by earliest start, then seq

	on    []batch.Handle // the job that runs on each machine or is leaving it
	taken []int64        // held copies of each license

	crowded   bool // jobs have shared a machine: see adopt
	residents bool // a job has kept its memory while paused

	dirty   bool // a new plan is needed
	pending bool // some jobs may not be on their targets

	state farm.State // of the last plan
	plan  []int32
}

// New returns the policy for a validated platform.
func New(p batch.Platform, planner Planner) (*Roster, error) {
	site, machines, err := siteOf(p)
	if err != nil {
		return nil, err
	}
	return &Roster{
		site: site, planner: planner, machines: machines, jobs: make([]job, 1),
		on: make([]batch.Handle, len(machines)), taken: make([]int64, len(site.licenses)),
	}, nil
}

// Fork returns an independent copy.
func (r *Roster) Fork() batch.Policy {
	return &Roster{
		site: r.site, planner: r.planner.Fork(), machines: slices.Clone(r.machines),
		jobs: slices.Clone(r.jobs), seq: r.seq,
		active: slices.Clone(r.active), parked: slices.Clone(r.parked),
		on: slices.Clone(r.on), taken: slices.Clone(r.taken),
		dirty: r.dirty, pending: r.pending, residents: r.residents, crowded: r.crowded,
	}
}

// Decide makes a new plan if needed, and carries out what is possible now.
func (r *Roster) Decide(now batch.Time, out *batch.Decisions) {
	r.unpark(now)
	if r.dirty {
		r.dirty, r.pending = false, true
		r.replan(now)
	}
	if r.pending {
		r.carryOut(now, out)
	}
}

// Wake returns the earliest start of the next parked job.
func (r *Roster) Wake() batch.Time {
	if len(r.parked) == 0 {
		return batch.Never
	}
	return r.jobs[r.parked[0]].spec.EarliestStart
}

// replan asks for a plan and sets all targets.
func (r *Roster) replan(now batch.Time) {
	s := r.snapshot(now)
	r.plan = slices.Grow(r.plan[:0], len(r.machines))[:len(r.machines)]
	for m := range r.plan {
		r.plan[m] = Free
	}
	r.planner.Plan(s, r.plan)
	for _, h := range r.active {
		if j := &r.jobs[h]; !j.stranded {
			j.target = none
		}
	}
	for m, i := range r.plan {
		if i != Free {
			r.jobs[r.active[i]].target = int32(m)
		}
	}
}

// snapshot returns the state of the farm for the planner.
func (r *Roster) snapshot(now batch.Time) *farm.State {
	s := &r.state
	s.Now, s.Machines, s.Licenses = now, r.memories(), r.licenses
	s.Jobs = slices.Grow(s.Jobs[:0], len(r.active))[:len(r.active)]
	for i, h := range r.active {
		j := &r.jobs[h]
		machine := j.at
		pin := r.pinned(j)
		if pin != none {
			machine = pin
		}
		s.Jobs[i] = farm.Job{
			Order: j.seq, Submit: j.submitted, Deadline: j.spec.Deadline, Estimate: j.estimate, Reference: j.reference,
			Done: r.doneAt(j, now), CPUs: j.cpus, Memory: j.memory, Licenses: j.needs, Input: j.input,
			Machine: machine, Last: j.target, Held: pin != none,
			Fixed: j.stranded || j.at != none && !r.planner.Preempts(),
		}
		if j.resides() != none {
			s.Jobs[i].Memory = 0 // already reserved there
		}
	}
	return s
}

// memories returns the machines without the memory that resident jobs reserve.
func (r *Roster) memories() []farm.Machine {
	if !r.residents {
		return r.machines
	}
	left := slices.Clone(r.machines)
	for i := range r.jobs {
		j := &r.jobs[i]
		if j.state == absent {
			continue
		}
		if m := j.resides(); m != none && left[m].Memory > 0 {
			left[m].Memory = max(1, left[m].Memory-j.memory) // 0 would mean unknown
		}
	}
	return left
}

// unpark activates jobs past their earliest start.
func (r *Roster) unpark(now batch.Time) {
	for len(r.parked) > 0 && r.jobs[r.parked[0]].spec.EarliestStart <= now {
		h := r.parked[0]
		r.parked = slices.Delete(r.parked, 0, 1)
		r.enter(h)
	}
}

// come activates a job, now or at its earliest start.
func (r *Roster) come(now batch.Time, h batch.Handle) {
	j := &r.jobs[h]
	if j.spec.EarliestStart <= now {
		r.enter(h)
		return
	}
	j.state = parked
	at, _ := slices.BinarySearchFunc(r.parked, j, func(a batch.Handle, j *job) int {
		k := &r.jobs[a]
		return cmp.Or(cmp.Compare(k.spec.EarliestStart, j.spec.EarliestStart), cmp.Compare(k.seq, j.seq))
	})
	r.parked = slices.Insert(r.parked, at, h)
}

func (r *Roster) enter(h batch.Handle) {
	j := &r.jobs[h]
	j.state = active
	at, _ := r.find(j.seq)
	r.active = slices.Insert(r.active, at, h)
	r.dirty = true
}

func (r *Roster) find(seq int64) (int, bool) {
	return slices.BinarySearchFunc(r.active, seq, func(h batch.Handle, seq int64) int {
		return cmp.Compare(r.jobs[h].seq, seq)
	})
}

// out removes a job from the plan.
func (r *Roster) out(h batch.Handle) {
	j := r.known(h)
	switch j.state {
	case active:
		at, _ := r.find(j.seq)
		r.active = slices.Delete(r.active, at, at+1)
		r.dirty = true
	case parked:
		at := slices.Index(r.parked, h)
		r.parked = slices.Delete(r.parked, at, at+1)
	}
	j.state, j.target = held, none
}
