package overbook_test

import (
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
	"github.com/seed-9b8f70bb/drover/batch/policy/overbook"
)

// op is a random operation.
type op struct {
	Gap                          int
	Verb                         string
	Which, Width, Estimate, Runs int
	Slack                        int
	Owner                        string
	Checkpoint                   bool
}

// calm operations break no promise; harm operations can.
var (
	calm = []string{
		"submit", "submit", "agree", "agree", "agree", "agree", "agree", "agree", "later", "window", "cancel", "hold",
		"place", "reserve", "confirm",
	}
	harm = append(slices.Clone(calm), "fail", "down", "up", "overrun", "adopt")
)

const width = 4

func ops(verbs []string) *rapid.Generator[[]op] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) op {
		return op{
			Gap: rapid.SampledFrom([]int{0, 1, 1, 2, 4}).Draw(t, "gap"), Verb: rapid.SampledFrom(verbs).Draw(t, "verb"),
			Which: rapid.IntRange(0, 99).Draw(t, "which"), Width: rapid.IntRange(1, width).Draw(t, "width"),
			Estimate: rapid.IntRange(1, 12).Draw(t, "estimate"), Runs: rapid.IntRange(0, 12).Draw(t, "runs"),
			Slack:      rapid.IntRange(0, 20).Draw(t, "slack"),
			Owner:      rapid.SampledFrom([]string{"u", "u", "u", "v", ""}).Draw(t, "owner"),
			Checkpoint: rapid.Bool().Draw(t, "checkpoint"),
		}
	}), 1, 60)
}

// settings draws valid settings.
var settings = rapid.Custom(func(t *rapid.T) batch.Settings {
	return batch.Settings{
		"maxPoF":       rapid.SampledFrom([]string{"0.1", "0.3", "0.6", "1"}).Draw(t, "maxPoF"),
		"distribution": rapid.SampledFrom([]string{"uniform", "empirical"}).Draw(t, "distribution"),
		"samples":      rapid.SampledFrom([]string{"3", "1"}).Draw(t, "samples"),
		"shorten":      rapid.SampledFrom([]string{"agreed", "all"}).Draw(t, "shorten"),
		"when":         rapid.SampledFrom([]string{"always", "needed"}).Draw(t, "when"),
		"round":        "1s",
	}
})

// failer is a *testing.T or a *rapid.T.
type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// promise is the estimate that a job got at its submission.
type promise struct {
	spec  *batch.Job
	offer batch.Estimate
	end   batch.Time
	moved bool // held or placed since then, which ends the promise
}

// chaos executes operations and keeps its own accounts.
type chaos struct {
	batch.Policy
	t        failer
	e        *engine.Engine
	next     batch.Handle
	promises map[batch.Handle]*promise
	windows  map[batch.Handle]*batch.Job
	state    map[batch.Handle]counted.State
	down     [width]bool
	log      []string
	ended    int
	strict   bool // no operation breaks promises
	exact    bool // a job gets exactly its last estimate
	after    func(now batch.Time)
}

func secs(n int) batch.Time { return batch.Time(n) * batch.Time(batch.Second) }

func newChaos(t failer, p batch.Policy) *chaos {
	c := &chaos{
		Policy: p, t: t, next: 1, promises: map[batch.Handle]*promise{}, windows: map[batch.Handle]*batch.Job{},
		state: map[batch.Handle]counted.State{},
	}
	c.e = engine.New(c, c, engine.NewLedger(batch.Processors(width)))
	return c
}

func (c *chaos) Apply(now batch.Time, ev *batch.Event) {
	c.log = append(c.log, fmt.Sprintf("%d %v %d", now, ev.Kind, ev.Job))
	switch ev.Kind {
	case batch.StartFailed, batch.Stopped, batch.Place, batch.Confirm:
		c.state[ev.Job] = counted.Waiting
	case batch.Hold:
		c.state[ev.Job] = counted.Held
	case batch.Finish, batch.Cancel:
		delete(c.state, ev.Job)
	case batch.WindowClose:
		delete(c.windows, ev.Job)
	}
	c.Policy.Apply(now, ev)
}

func (c *chaos) Decide(now batch.Time, out *batch.Decisions) {
	c.Policy.Decide(now, out)
	for _, d := range out.List {
		c.log = append(c.log, fmt.Sprintf("%d %v %d", now, d.Kind, d.Job))
		switch d.Kind {
		case batch.Start, batch.Resume:
			c.state[d.Job] = counted.Running
			c.started(now, d.Job, d.Kind)
		case batch.Pause:
			if !c.promises[d.Job].spec.Checkpoint {
				c.t.Fatalf("at %d job %d is paused but has no checkpoints", now, d.Job)
			}
		case batch.Kill:
			if p := c.promises[d.Job]; p.spec.Checkpoint {
				c.t.Fatalf("at %d job %d is killed but could be paused", now, d.Job)
			}
		}
	}
}

// started checks the promise of a job that starts.
func (c *chaos) started(now batch.Time, h batch.Handle, kind batch.DecisionKind) {
	p := c.promises[h]
	if p == nil || !c.strict || p.moved || kind == batch.Resume {
		return
	}
	if p.spec.Into != batch.NoJob && now != p.offer.Starts[0] {
		c.t.Fatalf("job %d in a window starts at %d, promised %d", h, now, p.offer.Starts[0])
	}
	if p.offer.Kind == batch.Promised && now > p.offer.Starts[0] {
		c.t.Fatalf("job %d starts at %d, promised %d", h, now, p.offer.Starts[0])
	}
}

func (c *chaos) Started(batch.Time, *batch.Job, []batch.NodeAllocation) {}

func (c *chaos) Ended(now batch.Time, job *batch.Job, killed bool) {
	c.ended++
	p := c.promises[job.Handle]
	if c.strict && !p.moved && p.offer.Kind == batch.Promised && (killed || now > p.end) {
		c.t.Fatalf("job %d ends at %d, killed: %t, promised by %d", job.Handle, now, killed, p.end)
	}
	delete(c.promises, job.Handle)
}

func (c *chaos) pick(which int, states ...counted.State) batch.Handle {
	var list []batch.Handle
	for h, s := range c.state {
		if slices.Contains(states, s) && c.promises[h].spec.Into == batch.NoJob {
			list = append(list, h)
		}
	}
	if len(list) == 0 {
		return batch.NoJob
	}
	slices.Sort(list)
	return list[which%len(list)]
}

// offer returns the estimate for a job.
func (c *chaos) offer(spec *batch.Job) batch.Estimate {
	asked := *spec
	asked.Handle = batch.NoJob
	var out [1]batch.Estimate
	c.Estimate(c.e.Now(), []batch.Ask{{Job: &asked, Shapes: []batch.Shape{spec.Shape}}}, out[:])
	return out[0]
}

func (c *chaos) enter(o op) {
	now := c.e.Now()
	spec := &batch.Job{
		Handle: c.next, Shape: batch.Shape{Width: int32(o.Width), Walltime: batch.Duration(secs(o.Estimate))},
		Owner: o.Owner, Checkpoint: o.Checkpoint,
	}
	work := min(o.Runs, o.Estimate)
	switch o.Verb {
	case "later":
		spec.EarliestStart = now + secs(o.Which%9)
	case "agree":
		spec.Agreed, spec.EarliestStart = true, now+secs(o.Which%4)
		spec.Deadline = spec.EarliestStart + secs(o.Estimate+o.Slack)
	case "overrun":
		work = o.Estimate + o.Runs
	case "adopt":
		spec.Shape.Width = min(spec.Shape.Width, c.base().Free)
		if spec.Shape.Width < 1 {
			return
		}
	}
	c.submit(spec, work, o)
}

func (c *chaos) submit(spec *batch.Job, work int, o op) {
	if spec.Agreed || c.exact && o.Verb != "adopt" { // without a pass the answer would be about another plan
		c.pass()
	}
	p := &promise{spec: spec, offer: c.offer(spec)}
	p.end = p.offer.End(0, spec.Shape.Walltime)
	if spec.Agreed && p.offer.Starts[0] == batch.Never {
		return // refused
	}
	if spec.Agreed && p.end > spec.Deadline {
		c.t.Fatalf("job %d, due at %d, is offered to end at %d", spec.Handle, spec.Deadline, p.end)
	}
	c.next++
	c.promises[spec.Handle] = p
	c.state[spec.Handle] = counted.Waiting
	switch o.Verb {
	case "adopt":
		p.moved = true
		c.state[spec.Handle] = counted.Running
		c.e.Admit(spec, batch.Duration(secs(work)))
		c.e.Apply(&batch.Event{Kind: batch.Adopt, Job: spec.Handle, Spec: spec, Since: c.e.Now() - secs(o.Which%9)})
	case "reserve":
		p.moved = true
		c.state[spec.Handle] = counted.Incoming
		c.e.Admit(spec, batch.Duration(secs(work)))
		c.e.Apply(&batch.Event{Kind: batch.Reserve, Job: spec.Handle, Spec: spec})
	default:
		c.e.Submit(spec, batch.Duration(secs(work)))
	}
	c.agrees(spec, p)
}

// agrees checks that the estimate of a waiting job equals the one before its submission.
func (c *chaos) agrees(spec *batch.Job, p *promise) {
	if _, ok := c.Policy.(*overbook.Policy); !ok || !c.exact || spec.Into != batch.NoJob || p.moved ||
		p.offer.Starts[0] <= c.e.Now() {
		return
	}
	var out [1]batch.Estimate
	c.Estimate(c.e.Now(), []batch.Ask{{Job: spec, Shapes: []batch.Shape{spec.Shape}}}, out[:])
	if diff := cmp.Diff(p.offer, out[0]); diff != "" {
		c.t.Fatalf("at %d job %d (-offered +got):\n%s", c.e.Now(), spec.Handle, diff)
	}
}

// window reserves a window, if the plan has room, and submits a job that uses all of it.
func (c *chaos) window(o op) {
	c.pass()
	now := c.e.Now()
	spec := &batch.Job{Handle: c.next, Shape: batch.Shape{Width: int32(o.Width)}}
	spec.Window = &batch.Window{Start: now + secs(1+o.Slack), End: now + secs(1+o.Slack+o.Estimate)}
	if c.offer(spec).Starts[0] == batch.Never {
		return
	}
	c.next++
	c.windows[spec.Handle] = spec
	c.e.Apply(&batch.Event{Kind: batch.Reserve, Job: spec.Handle, Spec: spec})
	inside := &batch.Job{
		Handle: c.next, Into: spec.Handle, Owner: o.Owner,
		Shape: batch.Shape{Width: spec.Shape.Width, Walltime: spec.Window.End.Sub(spec.Window.Start)},
	}
	c.submit(inside, min(o.Runs, o.Estimate), o)
}

func (c *chaos) do(o op) {
	apply := func(kind batch.EventKind, states ...counted.State) {
		if h := c.pick(o.Which, states...); h != batch.NoJob {
			c.promises[h].moved = true
			c.e.Apply(&batch.Event{Kind: kind, Job: h, Restore: o.Checkpoint, Shape: c.promises[h].spec.Shape})
			if kind == batch.Cancel {
				delete(c.promises, h)
			}
		}
	}
	node := int32(o.Which % width)
	switch o.Verb {
	case "window":
		c.window(o)
	case "confirm":
		apply(batch.Confirm, counted.Incoming)
	case "hold":
		apply(batch.Hold, counted.Waiting, counted.Incoming)
	case "place":
		apply(batch.Place, counted.Held)
	case "cancel":
		apply(batch.Cancel, counted.Held, counted.Waiting, counted.Incoming)
	case "fail":
		if h := c.pick(o.Which, counted.Waiting); h != batch.NoJob {
			c.e.FailStart(h)
		}
	case "down", "up":
		if down := o.Verb == "down"; c.down[node] != down {
			c.down[node] = down
			kind := batch.NodeUp
			if down {
				kind = batch.NodeDown
			}
			c.e.Apply(&batch.Event{Kind: kind, Node: node})
		}
	default:
		c.enter(o)
	}
}

func (c *chaos) pass() {
	c.e.Pass()
	c.check()
	if c.after != nil {
		c.after(c.e.Now())
	}
}

func (c *chaos) base() *counted.Base {
	switch p := c.Policy.(type) {
	case *overbook.Policy:
		return &p.Base
	case *cbf.Policy:
		return &p.Base
	}
	panic("another policy")
}

// check compares the profile with the running and booked jobs, and checks that nothing is
// booked twice.
func (c *chaos) check() {
	b, now := c.base(), c.e.Now()
	capacity := int32(width)
	for _, down := range c.down {
		if down {
			capacity--
		}
	}
	for t, free := range b.Profile.Steps {
		want := capacity
		for h, end := range b.Ends {
			if end > t && !b.Inside(h) {
				want -= b.Job(h).Charge
			}
		}
		for w := range b.Reservations {
			if w.Start <= t && t < w.End {
				want -= w.Charge
			}
		}
		for q := b.Queue.Head(); q != nil; q = b.Queue.Next(q) {
			for i := range q.N {
				if q.Start[i] <= t && t < q.Start[i].Add(q.Walltime[i]) {
					want -= q.Charge[i]
				}
				if q.Start[i] == t && q.Start[i] < c.promises[q.Job[i]].spec.EarliestStart {
					c.t.Fatalf("at %d job %d is booked before its time", now, q.Job[i])
				}
			}
		}
		if free != want || c.strict && free < 0 {
			c.t.Fatalf("at %d the profile has %d free at %d, want %d", now, free, t, want)
		}
	}
}

// play executes all operations and runs until no events are left.
func (c *chaos) play(list []op) []string {
	at := batch.Time(0)
	advance := func(until batch.Time) {
		for next := c.e.Next(); next < until; next = c.e.Next() {
			c.e.Advance(next)
			c.pass()
		}
	}
	for i := 0; i < len(list); {
		at += secs(list[i].Gap)
		advance(at)
		c.e.Advance(at)
		for first := i; i < len(list) && (i == first || list[i].Gap == 0); i++ {
			c.do(list[i])
		}
		c.pass()
	}
	for i := range width {
		c.do(op{Verb: "up", Which: i})
	}
	for _, s := range []struct {
		verb  string
		state counted.State
	}{{"confirm", counted.Incoming}, {"place", counted.Held}} {
		for c.pick(0, s.state) != batch.NoJob {
			c.do(op{Verb: s.verb})
		}
	}
	c.pass()
	advance(batch.Never)
	for h, p := range c.promises {
		if p.spec.Into == batch.NoJob {
			c.t.Fatalf("job %d, %+v, is lost", h, p.spec)
		}
	}
	return c.log
}
