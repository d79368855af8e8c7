package counted

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
	"github.com/seed-9b8f70bb/drover/batch/plan/queue"
)

// State is the state of a job in a counting policy.
type State uint8

// The states of a job. A handle that names no job is Absent.
const (
	Absent   State = iota
	Parked         // before its earliest start
	Waiting        // in the queue
	Incoming       // in the queue, may not start
	Held           // neither in the queue nor in the profile
	Running
	Reserved // an advance reservation
)

// Job is a job as a count-based policy sees it.
type Job struct {
	Spec     *batch.Job
	Charge   int32 // processors that it takes
	at       int32 // index in Base.running
	Walltime batch.Duration
	seq      int64
	within   batch.Handle // its reservation; NoJob for none, nowhere for an ended one
	State    State
}

// running is a running job and the end of its booking.
type running struct {
	job        batch.Handle
	start, end batch.Time
}

// Base is the state that count-based policies share. Profile holds the running jobs; a
// policy that plans adds the waiting ones.
type Base struct {
	Capacity     int32
	Free         int32 // idle processors outside open reservations
	PerProcessor int64 // memory in bytes; 0: not counted
	Queue        queue.Queue
	Profile      *profile.Profile

	jobs    []Job // by handle
	running []running
	windows []window       // in the order of their reservation
	doomed  []batch.Handle // jobs that still run in an ended reservation
	killing bool           // the last pass only killed them
	inner   *profile.Profile
	parks   bool           // jobs are parked until their earliest start
	parked  []batch.Handle // by earliest start, then order
	nodes   []int32        // processors of each node, negative while it is down
	seq     int64
}

// New returns the base of a policy that plans, on an idle machine: jobs are in its queue
// from submission on, and the policy itself respects their earliest start.
func New(p batch.Platform) Base {
	b := Base{
		Capacity: p.Width(), Free: p.Width(), PerProcessor: p.MemoryPerProcessor(),
		Profile: profile.New(0, p.Width()), jobs: make([]Job, 1), nodes: make([]int32, len(p.Nodes)),
	}
	for i := range p.Nodes {
		b.nodes[i] = p.Nodes[i].Processors
	}
	return b
}

// Fork returns an independent copy.
func (b *Base) Fork() Base {
	c := *b
	c.Queue, c.Profile = b.Queue.Clone(), b.Profile.Clone()
	c.jobs, c.running = slices.Clone(b.jobs), slices.Clone(b.running)
	c.parked, c.nodes = slices.Clone(b.parked), slices.Clone(b.nodes)
	c.doomed, c.windows, c.inner = slices.Clone(b.doomed), nil, nil
	for i := range b.windows {
		c.windows = append(c.windows, b.windows[i].clone())
	}
	return c
}

// ChargeOf returns the processors that a job takes for its width and memory.
func (b *Base) ChargeOf(width int32, memory int64) int32 {
	return batch.Charge(width, memory, b.PerProcessor)
}

// Job returns the job of a handle.
func (b *Base) Job(h batch.Handle) *Job { return &b.jobs[h] }

// Admit adds a submitted or reserved job and returns its state: Waiting and Incoming
// jobs are in the queue.
func (b *Base) Admit(now batch.Time, spec *batch.Job, incoming bool) State {
	j := b.admit(spec)
	switch {
	case incoming:
		j.State = Incoming
	case b.parks && spec.EarliestStart > now:
		j.State = Parked
		b.park(spec.Handle)
		return Parked
	default:
		j.State = Waiting
	}
	b.enqueue(spec.Handle)
	return j.State
}

// admit adds a job, last in the order.
func (b *Base) admit(spec *batch.Job) *Job {
	for int(spec.Handle) >= len(b.jobs) {
		b.jobs = append(b.jobs, Job{})
	}
	j := &b.jobs[spec.Handle]
	if j.State != Absent {
		panic(fmt.Sprintf("counted: job %d exists already", spec.Handle))
	}
	b.seq++
	*j = Job{
		Spec: spec, Charge: b.ChargeOf(spec.Shape.Width, spec.Memory),
		Walltime: spec.Shape.Walltime, seq: b.seq,
	}
	return j
}

func (b *Base) park(h batch.Handle) {
	at, _ := slices.BinarySearchFunc(b.parked, h, func(a, h batch.Handle) int {
		x, y := &b.jobs[a], &b.jobs[h]
		return cmp.Or(cmp.Compare(x.Spec.EarliestStart, y.Spec.EarliestStart), cmp.Compare(x.seq, y.seq))
	})
	b.parked = slices.Insert(b.parked, at, h)
}

func (b *Base) enqueue(h batch.Handle) {
	j := &b.jobs[h]
	b.Queue.Add(queue.Item{Job: h, Charge: j.Charge, Walltime: j.Walltime, Start: batch.Never, Seq: j.seq})
}

// Unpark moves the jobs past their earliest start into the queue, at their position
// in submission order, and reports whether there were any.
func (b *Base) Unpark(now batch.Time) bool {
	n := 0
	for n < len(b.parked) && b.jobs[b.parked[n]].Spec.EarliestStart <= now {
		h := b.parked[n]
		b.jobs[h].State = Waiting
		b.enqueue(h)
		n++
	}
	b.parked = slices.Delete(b.parked, 0, n)
	return n > 0
}

// NextParked returns the instant at which the next parked job joins the queue.
func (b *Base) NextParked() batch.Time {
	if len(b.parked) == 0 {
		return batch.Never
	}
	return b.jobs[b.parked[0]].Spec.EarliestStart
}

// Forget removes a job that does not run. It returns the job's queue item and whether it
// was queued.
func (b *Base) Forget(h batch.Handle) (queue.Item, bool) {
	it, queued := b.out(h)
	b.jobs[h] = Job{}
	return it, queued
}

// Hold removes a job from the queue and keeps its position in the order.
func (b *Base) Hold(h batch.Handle) (queue.Item, bool) {
	it, queued := b.out(h)
	b.jobs[h].State = Held
	return it, queued
}

func (b *Base) out(h batch.Handle) (queue.Item, bool) {
	switch b.jobs[h].State {
	case Waiting, Incoming:
		return b.Queue.Remove(h), true
	case Parked:
		b.parked = slices.Delete(b.parked, slices.Index(b.parked, h), slices.Index(b.parked, h)+1)
		return queue.Item{}, false
	case Held:
		return queue.Item{}, false
	}
	panic(fmt.Sprintf("counted: job %d is not waiting", h))
}

// Place puts a waiting or held job into the queue with a shape: last, or at its position
// in submission order. It returns the job's previous queue item, if it was queued.
func (b *Base) Place(now batch.Time, ev *batch.Event) (queue.Item, bool) {
	old, queued := b.out(ev.Job)
	j := &b.jobs[ev.Job]
	if !ev.Restore {
		b.seq++
		j.seq = b.seq
	}
	j.Charge = b.ChargeOf(ev.Shape.Width, j.Spec.Memory)
	j.Walltime = ev.Shape.Walltime
	if b.parks && j.Spec.EarliestStart > now {
		j.State = Parked
		b.park(ev.Job)
		return old, queued
	}
	j.State = Waiting
	b.enqueue(ev.Job)
	return old, queued
}

// Confirm lets an incoming job start. Unless the policy plans, a job whose earliest start
// has not come is parked until then.
func (b *Base) Confirm(now batch.Time, h batch.Handle) {
	j := &b.jobs[h]
	if j.State != Incoming {
		panic(fmt.Sprintf("counted: job %d is not incoming", h))
	}
	j.State = Waiting
	if b.parks && j.Spec.EarliestStart > now {
		b.Queue.Remove(h)
		j.State = Parked
		b.park(h)
	}
}

// SwitchNode records that a node joins or leaves, and books or frees its processors in
// the profile.
func (b *Base) SwitchNode(now batch.Time, node int32, up bool) {
	n := b.nodes[node]
	if up == (n > 0) {
		return
	}
	b.nodes[node] = -n
	b.Capacity -= n
	b.Free -= n
	b.Profile.Reserve(now, batch.Never, n)
}

// Before orders two jobs by their positions in the order, whether they are queued or
// not.
func (b *Base) Before(x, y batch.Handle) bool { return b.jobs[x].seq < b.jobs[y].seq }

// Unused returns a handle that names no job.
func (b *Base) Unused() batch.Handle { return batch.Handle(len(b.jobs)) }

// Refuse answers for a policy without reservations and agreements: an ask for either gets
// no start. It reports whether the ask is one.
func Refuse(a *batch.Ask, out *batch.Estimate) bool {
	if a.Job.Window == nil && !a.Job.Agreed && a.Job.Into == batch.NoJob {
		return false
	}
	out.Kind, out.P = batch.Promised, 0
	starts := out.Grow(len(a.Shapes))
	for i := range starts {
		starts[i] = batch.Never
	}
	return true
}
