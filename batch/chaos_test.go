package batch_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
)

// op is a random operation. Its job or node is selected when it is executed, so a list of
// operations is a scenario for any policy.
type op struct {
	Gap                   int // seconds since the previous operation
	Verb                  string
	Which                 int
	Width, Walltime, Work int
	Option                bool
}

var verbs = []string{
	"submit", "submit", "submit", "submit", "submit", "later", "memory", "reserve", "confirm", "hold", "place",
	"cancel", "fail", "down", "up", "overrun", "adopt", "window", "window", "into", "into", "into", "outstay", "agreed",
	"agreed", "close",
}

// troubles are the verbs that can break promises.
var troubles = []string{"down", "adopt", "overrun"}

func scenario(width int, verbs []string) *rapid.Generator[[]op] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) op {
		return op{
			rapid.SampledFrom([]int{0, 0, 0, 1, 2, 4}).Draw(t, "gap"), rapid.SampledFrom(verbs).Draw(t, "verb"),
			rapid.IntRange(0, 99).Draw(t, "which"), rapid.IntRange(1, width).Draw(t, "width"),
			rapid.IntRange(1, 9).Draw(t, "walltime"), rapid.IntRange(0, 9).Draw(t, "work"),
			rapid.Bool().Draw(t, "option"),
		}
	}), 1, 40)
}

// chaos executes a scenario.
type chaos struct {
	*watched
	e         *engine.Engine
	unused    []batch.Handle
	next      batch.Handle
	ended     int
	ask       forecast.Forecaster
	until     batch.Time           // time of the next operation
	afterPass func(now batch.Time) // called after every pass; can be nil
}

func (c *chaos) Started(batch.Time, *batch.Job, []batch.NodeAllocation) {}

func (c *chaos) Ended(_ batch.Time, job *batch.Job, _ bool) {
	c.unused = append(c.unused, job.Handle)
	c.ended++
}

// pick returns a job in one of the states; NoJob if there is none.
func (c *chaos) pick(which int, states ...counted.State) batch.Handle {
	var list []batch.Handle
	for h, a := range c.jobs {
		if slices.Contains(states, a.state) && !a.fixed() {
			list = append(list, h)
		}
	}
	if len(list) == 0 {
		return batch.NoJob
	}
	slices.Sort(list)
	return list[which%len(list)]
}

func (c *chaos) enter(o op) {
	h := c.handle(o)
	spec := &batch.Job{Handle: h, Shape: batch.Shape{Width: int32(o.Width), Walltime: batch.Duration(secs(o.Walltime))}}
	work := min(o.Work, o.Walltime)
	switch o.Verb {
	case "later":
		spec.EarliestStart = c.e.Now() + secs(o.Which%9)
	case "memory":
		spec.Memory = int64(o.Which % 25)
		spec.Shape.Width = max(1, spec.Shape.Width/3)
		if !c.canRun(spec.Shape.Width, spec.Memory) {
			spec.Memory = 0
		}
	case "overrun":
		work = o.Walltime + o.Work
	case "reserve":
		c.e.Admit(spec, batch.Duration(secs(work)))
		c.e.Apply(&batch.Event{Kind: batch.Reserve, Job: h, Spec: spec})
		return
	case "adopt":
		spec.Shape.Width = min(spec.Shape.Width, c.free())
		if spec.Shape.Width < 1 {
			c.unused = append(c.unused, h)
			return
		}
		c.e.Admit(spec, batch.Duration(secs(o.Work)))
		c.e.Apply(&batch.Event{Kind: batch.Adopt, Job: h, Spec: spec, Since: c.e.Now() - secs(o.Which%9)})
		return
	}
	c.e.Submit(spec, batch.Duration(secs(work)))
}

func (c *chaos) handle(o op) batch.Handle {
	if o.Option && len(c.unused) > 0 {
		h := c.unused[0]
		c.unused = c.unused[1:]
		return h
	}
	c.next++
	return c.next - 1
}

// canRun reports whether the machine can run such a job, which a site checks on submission.
func (c *chaos) canRun(width int32, memory int64) bool {
	return batch.Charge(width, memory, c.platform.MemoryPerProcessor()) <= c.platform.Width()
}

func (c *chaos) do(o op) {
	apply := func(kind batch.EventKind, states ...counted.State) {
		if h := c.pick(o.Which, states...); h != batch.NoJob {
			shape := batch.Shape{Width: int32(o.Width), Walltime: batch.Duration(secs(o.Walltime))}
			if !c.canRun(shape.Width, c.jobs[h].spec.Memory) {
				shape.Width = 1
			}
			c.e.Apply(&batch.Event{Kind: kind, Job: h, Restore: o.Option, Shape: shape})
			if kind == batch.Cancel {
				c.unused = append(c.unused, h)
			}
		}
	}
	node := int32(o.Which % len(c.platform.Nodes))
	switch o.Verb {
	case "window", "into", "outstay", "agreed", "close":
		c.settle(o)
	case "confirm":
		apply(batch.Confirm, counted.Incoming)
	case "hold":
		apply(batch.Hold, counted.Waiting, counted.Incoming)
	case "place":
		apply(batch.Place, counted.Held, counted.Waiting)
	case "cancel":
		apply(batch.Cancel, counted.Held, counted.Waiting, counted.Incoming)
	case "fail":
		if h := c.pick(o.Which, counted.Waiting); h != batch.NoJob {
			c.e.FailStart(h)
		}
	case "down":
		if !c.down[node] {
			c.e.Apply(&batch.Event{Kind: batch.NodeDown, Node: node})
		}
	case "up":
		if c.down[node] {
			c.e.Apply(&batch.Event{Kind: batch.NodeUp, Node: node})
		}
	default:
		c.enter(o)
	}
}

// advance runs the engine until an instant, without operations.
func (c *chaos) advance(until batch.Time) {
	c.until = until
	for at := c.e.Next(); at < until; at = c.e.Next() {
		c.e.Advance(at)
		c.pass()
	}
}

func (c *chaos) pass() {
	c.clearStranded()
	c.e.Pass()
	if c.afterPass != nil {
		c.afterPass(c.e.Now())
	}
}

// play executes ops, repairs the machine, and runs the engine until no events are left. It
// returns the log of all events and decisions.
func (c *chaos) play(ops []op) []string {
	c.e = engine.New(c.watched, c, engine.NewLedger(c.platform))
	c.next = 1
	c.unused = nil
	at := batch.Time(0)
	for i := 0; i < len(ops); {
		at += secs(ops[i].Gap)
		c.advance(at)
		c.e.Advance(at)
		for first := i; i < len(ops) && (i == first || ops[i].Gap == 0); i++ {
			c.do(ops[i])
		}
		c.until = at
		if i < len(ops) {
			c.until += secs(ops[i].Gap)
		}
		c.pass()
	}
	for i := range c.platform.Nodes {
		c.do(op{Verb: "up", Which: i})
	}
	for h := c.pick(0, counted.Incoming); h != batch.NoJob; h = c.pick(0, counted.Incoming) {
		c.e.Apply(&batch.Event{Kind: batch.Confirm, Job: h})
	}
	for h := c.pick(0, counted.Held); h != batch.NoJob; h = c.pick(0, counted.Held) {
		a := c.jobs[h]
		c.e.Apply(&batch.Event{Kind: batch.Place, Job: h, Restore: true, Shape: batch.Shape{
			Width:    a.spec.Shape.Width,
			Walltime: a.walltime,
		}})
	}
	c.pass()
	c.advance(batch.Never)
	return c.log
}

// scene draws a machine and a scenario.
func scene(t *rapid.T) (batch.Platform, []op) {
	var platform batch.Platform
	for range rapid.IntRange(1, 4).Draw(t, "nodes") {
		n := int32(rapid.IntRange(1, 3).Draw(t, "processors"))
		platform.Nodes = append(platform.Nodes, batch.Node{Processors: n, Memory: int64(n) * 10})
	}
	verbs := verbs
	if rapid.Bool().Draw(t, "calm") {
		verbs = slices.DeleteFunc(slices.Clone(verbs), func(v string) bool { return slices.Contains(troubles, v) })
	}
	return platform, scenario(int(platform.Width()), verbs).Draw(t, "scenario")
}

func newChaos(t *rapid.T, make batch.Factory, platform batch.Platform) *chaos {
	p, err := make(platform, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &chaos{watched: watch(t, p, platform)}
}

func TestPoliciesKeepTheirPromisesUnderRandomEvents(t *testing.T) {
	for _, p := range policies {
		t.Run(p.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				platform, ops := scene(t)
				c := newChaos(t, p.make, platform)
				c.play(ops)
				for h, a := range c.jobs {
					if a.charge <= platform.Width() {
						t.Fatalf("job %d, %+v, waits forever", h, a)
					}
				}
			})
		})
	}
}

func TestForksAndEstimatesDoNotChangeAPolicy(t *testing.T) {
	for _, p := range policies {
		t.Run(p.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				platform, ops := scene(t)
				want := newChaos(t, p.make, platform).play(ops)
				c := newChaos(t, p.make, platform)
				passes, forkAt := 0, rapid.IntRange(0, 20).Draw(t, "fork at pass")
				again := rapid.Bool().Draw(t, "fork again at every pass")
				c.afterPass = func(now batch.Time) {
					ruin(now, c.Policy.Fork(), c.jobs)
					c.checkEstimates(now)
					if passes == forkAt || again {
						c.twin = c.Policy.Fork()
					}
					passes++
				}
				if diff := cmp.Diff(want, c.play(ops)); diff != "" {
					t.Fatalf("-undisturbed +forked and estimated:\n%s", diff)
				}
			})
		})
	}
}

// EASY usually examines only the jobs that arrived since the last pass. It must decide as if
// it examined the whole queue.
func TestEASYDecidesAsIfItExaminedTheWholeQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		platform, ops := scene(t)
		got := newChaos(t, easy.New, platform).play(ops)
		c := newChaos(t, easy.New, platform)
		c.afterPass = func(batch.Time) { c.Policy.(*easy.Policy).Changed = true }
		if diff := cmp.Diff(c.play(ops), got); diff != "" {
			t.Fatalf("-whole queue +new jobs:\n%s", diff)
		}
	})
}

// ruin applies every kind of event to a policy.
func ruin(now batch.Time, p batch.Policy, jobs map[batch.Handle]*account) {
	var list []batch.Handle
	var unused batch.Handle
	for h := range jobs {
		list = append(list, h)
		unused = max(unused, h)
	}
	slices.Sort(list)
	for _, w := range slices.Collect(base(p).Reservations) {
		unused = max(unused, w.Job)
		kinds := []batch.EventKind{batch.Cancel, batch.WindowClose}
		p.Apply(now, &batch.Event{Kind: kinds[w.Job%2], Job: w.Job})
	}
	var out batch.Decisions
	for i := range 3 {
		unused++
		shape := batch.Shape{Width: int32(i + 1), Walltime: batch.Minute}
		p.Apply(now, &batch.Event{Kind: batch.Submit, Job: unused, Spec: &batch.Job{Handle: unused, Shape: shape}})
	}
	for i, h := range list {
		switch jobs[h].state {
		case counted.Running:
			p.Apply(now, &batch.Event{Kind: batch.Finish, Job: h})
		case counted.Waiting:
			p.Apply(now, &batch.Event{Kind: batch.Hold, Job: h})
			if i%2 == 0 {
				p.Apply(now, &batch.Event{
					Kind: batch.Place, Job: h, Shape: batch.Shape{Width: 1, Walltime: batch.Second},
				})
			}
		default:
			p.Apply(now, &batch.Event{Kind: batch.Cancel, Job: h})
		}
	}
	p.Decide(now, &out)
	p.Apply(now+1, &batch.Event{Kind: batch.NodeDown, Node: 0})
	p.Decide(now+1, &out)
}

// checkEstimates checks that promised starts are the starts that a submitted job gets.
func (c *chaos) checkEstimates(now batch.Time) {
	var shapes []batch.Shape
	for w := range c.platform.Width() + 1 {
		shapes = append(shapes, batch.Shape{Width: w + 1, Walltime: batch.Duration(secs(int(7 - w%3*2)))})
	}
	asks := []batch.Ask{
		{Job: &batch.Job{}, Shapes: shapes},
		{Job: &batch.Job{Memory: 15, EarliestStart: now + secs(3)}, Shapes: shapes},
		{Job: &batch.Job{Agreed: true}, Shapes: shapes},
		{Job: &batch.Job{Agreed: true, Deadline: now + secs(12)}, Shapes: shapes},
	}
	out := make([]batch.Estimate, len(asks))
	c.ask.Estimate(now, c.Policy, asks, out)
	for i, ask := range asks {
		if ask.Job.Agreed && out[i].Kind != batch.Promised {
			c.t.Fatalf("at %d the estimate of an agreed job is %v", now, out[i].Kind)
		}
		if out[i].Kind != batch.Promised {
			continue
		}
		for k, s := range shapes {
			spec := *ask.Job
			spec.Handle, spec.Shape = c.next, s
			p := c.Policy.Fork()
			p.Apply(now, &batch.Event{Kind: batch.Submit, Job: spec.Handle, Spec: &spec})
			want := begin(now, p, &spec)
			if d := ask.Job.Deadline; d > 0 && want.Add(s.Walltime) > d {
				want = batch.Never
			}
			if got := out[i].Starts[k]; got != want {
				c.t.Fatalf("at %d the estimate of %v, %+v, is %d; the submitted job gets %d", now, s, ask.Job, got,
					want)
			}
		}
	}
}

// begin returns the start of a job submitted at this instant, by the pass or the plan.
func begin(now batch.Time, p batch.Policy, spec *batch.Job) batch.Time {
	var pass batch.Decisions
	p = p.Fork()
	p.Decide(now, &pass)
	for _, d := range pass.List {
		if d.Kind == batch.Start && d.Job == spec.Handle {
			return now
		}
	}
	var out [1]batch.Estimate
	var f forecast.Forecaster
	f.Estimate(now, p, []batch.Ask{{Job: spec, Shapes: []batch.Shape{spec.Shape}}}, out[:])
	return out[0].Starts[0]
}
