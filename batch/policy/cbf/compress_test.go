package cbf

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
)

// compared wraps a policy. Before each call that compresses, it compares the compression with
// the paper's definition.
type compared struct {
	*Policy
	t *rapid.T
}

func (c *compared) Apply(now batch.Time, ev *batch.Event) {
	if ev.Kind == batch.Submit || ev.Kind == batch.Reserve {
		c.check(now)
	}
	c.Policy.Apply(now, ev)
}

func (c *compared) Decide(now batch.Time, out *batch.Decisions) {
	c.check(now)
	c.Policy.Decide(now, out)
}

// check compares the two. It skips a broken plan, which is rebuilt instead.
func (c *compared) check(now batch.Time) {
	if c.broke {
		return
	}
	got, want := c.Fork().(*Policy), c.Fork().(*Policy)
	got.compress(now)
	want.takeOutAndPutBack(now)
	for b := want.Queue.Head(); b != nil; b = want.Queue.Next(b) {
		for i, h := range b.Job[:b.N] {
			if q, k := got.Queue.Locate(h); q.Start[k] != b.Start[i] {
				c.t.Fatalf("at %d job %d of width %d and walltime %d moves to %d, taken out and put back to %d",
					now, h, b.Charge[i], b.Walltime[i], q.Start[k], b.Start[i])
			}
		}
	}
}

// takeOutAndPutBack is the paper's compression, without the gap structure.
func (p *Policy) takeOutAndPutBack(now batch.Time) {
	if !p.ended {
		return
	}
	for b := p.Queue.Head(); b != nil; b = p.Queue.Next(b) {
		for i, h := range b.Job[:b.N] {
			if p.Job(h).State == counted.Incoming {
				continue
			}
			if s := b.Start[i]; s != batch.Never {
				p.Profile.Release(s, s.Add(b.Walltime[i]), b.Charge[i])
			}
			p.plan(now, h)
		}
	}
}

// site is a machine with one policy and the driver's state of its jobs.
type site struct {
	*engine.Engine
	specs  []*batch.Job
	states map[batch.Handle]string
}

func (s *site) Started(_ batch.Time, job *batch.Job, _ []batch.NodeAllocation) {
	s.states[job.Handle] = "running"
}

func (s *site) Ended(_ batch.Time, job *batch.Job, _ bool) { delete(s.states, job.Handle) }

// one draws a job in a state, or returns nil.
func (s *site) one(t *rapid.T, state string) *batch.Job {
	var list []*batch.Job
	for _, spec := range s.specs {
		if s.states[spec.Handle] == state {
			list = append(list, spec)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return rapid.SampledFrom(list).Draw(t, state)
}

func TestCompressionEqualsReinsertingAllJobsInOrder(t *testing.T) {
	moves := []struct {
		kind     batch.EventKind
		from, to string
	}{
		{batch.Hold, "waiting", "held"},
		{batch.Hold, "incoming", "held"},
		{batch.Place, "held", "waiting"},
		{batch.Place, "waiting", "waiting"},
		{batch.Cancel, "waiting", ""},
		{batch.Confirm, "incoming", "waiting"},
	}
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.Int32Range(2, 20).Draw(t, "processors")
		p, err := New(batch.Processors(width), nil)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "gaps apart") {
			p.(*Policy).long = 0
		}
		s := &site{states: map[batch.Handle]string{}}
		s.Engine = engine.New(&compared{p.(*Policy), t}, s, nil)
		at, down := batch.Time(0), false
		for h := batch.Handle(1); h <= 60; h++ {
			at += rapid.SampledFrom([]batch.Time{0, 0, 1, 2, 4}).Draw(t, "gap")
			for s.Next() < at {
				s.Advance(s.Next())
				s.Pass()
			}
			s.Advance(at)
			spec := &batch.Job{Handle: h, Shape: batch.Shape{
				Width:    rapid.Int32Range(1, max(1, width/rapid.Int32Range(1, 4).Draw(t, "share"))).Draw(t, "width"),
				Walltime: batch.Duration(rapid.IntRange(1, 40).Draw(t, "walltime")),
			}}
			spec.EarliestStart = at + rapid.SampledFrom([]batch.Time{0, 0, 0, 0, 0, 30}).Draw(t, "from")
			work := batch.Duration(rapid.IntRange(1, int(spec.Shape.Walltime)).Draw(t, "runs"))
			switch k := rapid.IntRange(0, 2*len(moves)).Draw(t, "move"); {
			case k < len(moves):
				if j := s.one(t, moves[k].from); j != nil {
					s.Apply(&batch.Event{
						Kind: moves[k].kind, Job: j.Handle, Shape: j.Shape, Restore: rapid.Bool().Draw(t, "restore"),
					})
					s.states[j.Handle] = moves[k].to
				}
			case k == len(moves) && rapid.IntRange(0, 3).Draw(t, "node") == 0:
				down = !down
				s.Apply(&batch.Event{
					Kind: map[bool]batch.EventKind{true: batch.NodeDown, false: batch.NodeUp}[down], Node: 0,
				})
			}
			s.specs = append(s.specs, spec)
			if rapid.IntRange(0, 9).Draw(t, "comes from elsewhere") == 0 {
				s.states[h] = "incoming"
				s.Admit(spec, work)
				s.Apply(&batch.Event{Kind: batch.Reserve, Job: h, Spec: spec})
			} else {
				s.states[h] = "waiting"
				s.Submit(spec, work)
			}
			s.Pass()
		}
		for s.Next() != batch.Never {
			s.Advance(s.Next())
			s.Pass()
		}
	})
}
