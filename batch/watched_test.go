package batch_test

import (
	"cmp"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
	"github.com/seed-9b8f70bb/drover/batch/policy/dynp"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
	"github.com/seed-9b8f70bb/drover/batch/policy/fcfs"
	"github.com/seed-9b8f70bb/drover/batch/policy/overbook"
)

// account is a driver's knowledge of a job, independent of the policy.
type account struct {
	spec       *batch.Job
	charge     int32
	walltime   batch.Duration
	state      counted.State // Parked is not used: Waiting with an EarliestStart
	seq        int
	start      batch.Time
	planned    batch.Time // by CBF, after the last pass
	touched    bool       // placed, failed or confirmed since then
	wasWaiting bool       // in the last pass
	within     *aside     // its window, until the window ends
}

// fixed reports whether a job is agreed or in a window: it cannot be moved.
func (a *account) fixed() bool { return a.spec.Agreed || a.spec.Into != batch.NoJob }

// watched wraps a policy under test. It keeps an account of all events and decisions and
// fails the test if the policy breaks a rule.
type watched struct {
	batch.Policy
	t        *rapid.T
	platform batch.Platform
	down     []bool
	jobs     map[batch.Handle]*account
	seq      int
	broken   bool // an event since the last pass can break promises
	log      []string
	twin     batch.Policy // a fork that gets the same events
	lastHead *account
	shadow   batch.Time
	windows  []*aside // in the order of their reservation
	closed   []batch.Handle
	trouble  bool // the machine changed or jobs overran at some time
	asking   forecast.Forecaster
}

func watch(t *rapid.T, p batch.Policy, platform batch.Platform) *watched {
	return &watched{
		Policy: p, t: t, platform: platform, down: make([]bool, len(platform.Nodes)),
		jobs: map[batch.Handle]*account{},
	}
}

func (w *watched) Apply(now batch.Time, ev *batch.Event) {
	w.note(now, ev)
	w.Policy.Apply(now, ev)
	if w.twin != nil {
		w.twin.Apply(now, ev)
	}
}

func (w *watched) note(now batch.Time, ev *batch.Event) {
	if w.noteWindow(now, ev) {
		return
	}
	a := w.jobs[ev.Job]
	w.log = append(w.log, fmt.Sprintf("%d %v %d", now, ev.Kind, ev.Job))
	switch ev.Kind {
	case batch.Submit, batch.Reserve:
		w.seq++
		a = &account{
			spec: ev.Spec, walltime: ev.Spec.Shape.Walltime, state: counted.Waiting, seq: w.seq,
			planned: batch.Never,
		}
		a.charge = batch.Charge(ev.Spec.Shape.Width, ev.Spec.Memory, w.platform.MemoryPerProcessor())
		if ev.Kind == batch.Reserve {
			a.state = counted.Incoming
		}
		a.within = w.window(ev.Spec.Into)
		w.jobs[ev.Spec.Handle] = a
	case batch.Adopt:
		w.seq++
		a = &account{
			spec: ev.Spec, walltime: ev.Spec.Shape.Walltime, state: counted.Running, seq: w.seq, start: ev.Since,
		}
		a.charge = batch.Charge(ev.Spec.Shape.Width, ev.Spec.Memory, w.platform.MemoryPerProcessor())
		w.jobs[ev.Job] = a
		w.broken, w.trouble = true, true
	case batch.Cancel, batch.Finish:
		overran := a.start.Add(a.walltime) < now
		if ev.Kind == batch.Finish && a.within == nil && a.spec.Into == batch.NoJob && overran {
			w.broken, w.trouble = true, true
		}
		delete(w.jobs, ev.Job)
	case batch.StartFailed:
		a.state, a.touched = counted.Waiting, true
	case batch.Hold:
		a.state = counted.Held
	case batch.Place:
		a.state, a.touched = counted.Waiting, true
		a.charge = batch.Charge(ev.Shape.Width, a.spec.Memory, w.platform.MemoryPerProcessor())
		a.walltime = ev.Shape.Walltime
		if !ev.Restore {
			w.seq++
			a.seq = w.seq
		}
	case batch.Confirm:
		a.state, a.touched = counted.Waiting, true
	case batch.NodeUp, batch.NodeDown:
		w.down[ev.Node] = ev.Kind == batch.NodeDown
		w.broken, w.trouble = w.broken || ev.Kind == batch.NodeDown || w.guarded(), true
	}
}

func (w *watched) capacity() int32 {
	var c int32
	for i, n := range w.platform.Nodes {
		if !w.down[i] {
			c += n.Processors
		}
	}
	return c
}

// free returns the free processors outside the open windows.
func (w *watched) free() int32 {
	c := w.capacity()
	for _, a := range w.jobs {
		if a.state == counted.Running && a.within == nil {
			c -= a.charge
		}
	}
	for _, r := range w.windows {
		if r.open {
			c -= r.spec.Shape.Width
		}
	}
	return c
}

func (w *watched) Decide(now batch.Time, out *batch.Decisions) {
	if w.overrun(now) {
		w.broken, w.trouble = true, true
	}
	w.Policy.Decide(now, out)
	killed := false
	for _, d := range out.List {
		w.log = append(w.log, fmt.Sprintf("%d %v %d", now, d.Kind, d.Job))
		a := w.jobs[d.Job]
		switch {
		case d.Kind == batch.Kill && a != nil && a.state == counted.Running && a.spec.Into != batch.NoJob &&
			a.within == nil:
			killed = true
			continue
		case d.Kind == batch.Start && a != nil && a.spec.Into != batch.NoJob:
			w.checkInside(now, a)
			a.state, a.start = counted.Running, now
			continue
		case d.Kind != batch.Start || a == nil || a.state != counted.Waiting:
			w.t.Fatalf("at %d: %v job %d, which is %+v", now, d.Kind, d.Job, a)
		case a.spec.EarliestStart > now:
			w.t.Fatalf("at %d: job %d starts before %d", now, d.Job, a.spec.EarliestStart)
		case a.charge > w.free():
			w.t.Fatalf("at %d: job %d takes %d of %d processors", now, d.Job, a.charge, w.free())
		}
		if a.spec.Agreed {
			w.checkAgreed(now, a, now)
		}
		a.state, a.start = counted.Running, now
		if w.lastHead != nil && a.seq < w.lastHead.seq {
			w.lastHead = nil // a job ahead of it started
		}
	}
	if w.twin != nil {
		var same batch.Decisions
		w.twin.Decide(now, &same)
		if !slices.EqualFunc(out.List, same.List, func(a, b batch.Decision) bool {
			return a.Kind == b.Kind &&
				a.Job == b.Job
		}) {
			w.t.Fatalf("at %d the policy decides %v and its fork %v", now, out.List, same.List)
		}
	}
	if killed { // another pass follows
		return
	}
	w.check(now)
	w.broken = false
}

// ready returns the jobs that can start, in order.
func (w *watched) ready(now batch.Time) []*account {
	var list []*account
	for _, a := range w.jobs {
		if a.state == counted.Waiting && a.spec.EarliestStart <= now && !a.fixed() {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b *account) int { return cmp.Compare(a.seq, b.seq) })
	return list
}

func (w *watched) check(now batch.Time) {
	w.checkAgreedSlots(now)
	w.checkProfile(now, base(w.Policy))
	switch p := w.Policy.(type) {
	case *cbf.Policy:
		w.checkPromises(now, p)
	case *overbook.Policy:
		w.checkPromises(now, p.Policy)
	case *dynp.Policy:
		w.checkPlan(now)
	default:
		w.checkHead(now)
	}
}

// base returns the common base of the policies.
func base(p batch.Policy) *counted.Base {
	switch p := p.(type) {
	case *fcfs.Policy:
		return &p.Base
	case *easy.Policy:
		return &p.Base
	case *cbf.Policy:
		return &p.Base
	case *dynp.Policy:
		return &p.Base
	case *overbook.Policy:
		return &p.Base
	}
	panic("not a policy that counts processors")
}

// checkHead checks that the first job does not fit now, and that backfilled jobs never delay
// its start.
func (w *watched) checkHead(now batch.Time) {
	ready := w.ready(now)
	if len(ready) == 0 {
		w.lastHead = nil
		return
	}
	head := ready[0]
	shadow := w.earliest(now, head)
	if shadow == now {
		w.t.Fatalf("at %d job %d is first, fits and does not start", now, head.spec.Handle)
	}
	if head == w.lastHead && !head.touched && !w.broken && shadow > w.shadow {
		w.t.Fatalf("at %d job %d, the first, is delayed from %d to %d", now, head.spec.Handle, w.shadow, shadow)
	}
	w.lastHead, w.shadow, head.touched = head, shadow, false
	if w.broken && w.guarded() {
		w.lastHead = nil // an overrunning job can change the gap
	}
}

// checkProfile checks that the policy's free processors are the machine's without those of
// running jobs and slots.
func (w *watched) checkProfile(now batch.Time, b *counted.Base) {
	if b.Free != w.free() {
		w.t.Fatalf("at %d the policy counts %d free processors of %d", now, b.Free, w.free())
	}
	for t, free := range b.Profile.Steps {
		want := w.capacity()
		for h, end := range b.Ends {
			if end > t && w.jobs[h].within == nil {
				want -= w.jobs[h].charge
			}
		}
		want -= w.aside(t)
		switch w.Policy.(type) {
		case *cbf.Policy, *overbook.Policy: // agreed jobs are in the queue
		default:
			want -= w.agreed(t)
		}
		for q := b.Queue.Head(); q != nil; q = b.Queue.Next(q) {
			for i := range q.N {
				if q.Start[i] <= t && t < q.Start[i].Add(q.Walltime[i]) {
					want -= w.jobs[q.Job[i]].charge
				}
			}
		}
		if free != want {
			w.t.Fatalf("at %d the profile has %d free at %d, want %d", now, free, t, want)
		}
	}
}

// checkPromises checks that the plan holds all waiting jobs, overbooks no processors and
// delays no job.
func (w *watched) checkPromises(now batch.Time, p *cbf.Policy) {
	starts := map[batch.Handle]batch.Time{}
	last := int64(-1)
	for q := p.Queue.Head(); q != nil; q = p.Queue.Next(q) {
		for i := range q.N {
			starts[q.Job[i]] = q.Start[i]
			if seq := int64(w.jobs[q.Job[i]].seq); seq <= last {
				w.t.Fatalf("at %d job %d is not in order", now, q.Job[i])
			} else {
				last = seq
			}
		}
	}
	// After a node failure, running jobs and windows can exceed the machine.
	if w.free() >= 0 && (len(w.windows) == 0 || !w.trouble) {
		for t, free := range p.Profile.Steps {
			if free < 0 {
				w.t.Fatalf("at %d the plan has %d processors free at %d", now, free, t)
			}
		}
	}
	for h, a := range w.jobs {
		at, queued := starts[h]
		waits := (a.state == counted.Waiting || a.state == counted.Incoming) && a.spec.Into == batch.NoJob
		if queued != waits {
			w.t.Fatalf("at %d job %d, %+v, is in the queue: %t", now, h, a, queued)
		}
		gaveUp := a.state == counted.Incoming && at == batch.Never && a.planned <= now
		if waits && a.wasWaiting && !a.touched && !w.broken && !gaveUp && at > a.planned {
			w.t.Fatalf("at %d job %d is delayed from %d to %d", now, h, a.planned, at)
		}
		if at < a.spec.EarliestStart && queued {
			w.t.Fatalf("at %d job %d is planned at %d, before its earliest start", now, h, at)
		}
		a.wasWaiting, a.touched = waits, false
		if !a.spec.Agreed { // checkAgreedSlots sets it for agreed jobs
			a.planned = at
		}
	}
}
