package forecast_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/batchtest"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
	"github.com/seed-9b8f70bb/drover/batch/policy/fcfs"
)

func TestScriptedForecasts(t *testing.T) {
	answer := func(now batch.Time, p batch.Policy, asks []batch.Ask, out []batch.Estimate) {
		var f forecast.Forecaster
		f.Estimate(now, p, asks, out)
	}
	for name, factory := range queues {
		batchtest.Run(t, "testdata/"+name+"*.txt", factory, answer)
	}
}

var queues = map[string]batch.Factory{"fcfs": fcfs.New, "easy": easy.New}

// opaque hides the queue interface of a policy, so a forecaster must run the policy once for
// each shape: the slow and obvious way.
type opaque struct{ batch.Runnable }

func (p opaque) Fork() batch.Policy { return opaque{p.Runnable.Fork().(batch.Runnable)} }

// Estimate hides a plan as well.
func (p opaque) Estimate(batch.Time, []batch.Ask, []batch.Estimate) batch.Runnable { return p }

type noObserver struct{}

func (noObserver) Started(batch.Time, *batch.Job, []batch.NodeAllocation) {}
func (noObserver) Ended(batch.Time, *batch.Job, bool)                     {}

// busy returns an engine with a policy that has running and waiting jobs.
func busy(t *rapid.T, factory batch.Factory, processors int32) *engine.Engine {
	p, err := factory(batch.Processors(processors), nil)
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(p, noObserver{}, nil)
	at := batch.Time(0)
	for h := range batch.Handle(rapid.IntRange(0, 25).Draw(t, "jobs")) {
		at += batch.Time(rapid.IntRange(0, 4).Draw(t, "later"))
		for e.Next() < at {
			e.Advance(e.Next())
			e.Pass()
		}
		e.Advance(at)
		shape := batch.Shape{
			Width:    int32(rapid.IntRange(1, int(processors)).Draw(t, "width")),
			Walltime: batch.Duration(rapid.IntRange(1, 20).Draw(t, "walltime")),
		}
		spec := &batch.Job{Handle: h + 1, Shape: shape}
		if rapid.IntRange(0, 9).Draw(t, "parks") == 0 {
			spec.EarliestStart = at + batch.Time(rapid.IntRange(1, 30).Draw(t, "from"))
		}
		work := batch.Duration(rapid.IntRange(1, int(shape.Walltime)).Draw(t, "runs"))
		if rapid.IntRange(0, 9).Draw(t, "comes from elsewhere") == 0 {
			e.Admit(spec, work)
			e.Apply(&batch.Event{Kind: batch.Reserve, Job: spec.Handle, Spec: spec})
		} else {
			e.Submit(spec, work)
		}
		e.Pass()
	}
	return e
}

func menu(t *rapid.T, processors int32) batch.Ask {
	a := batch.Ask{Job: &batch.Job{}}
	if rapid.Bool().Draw(t, "travels") {
		a.From = batch.Time(rapid.IntRange(0, 90).Draw(t, "from"))
	}
	for w := range processors + 1 { // the last width exceeds the machine
		a.Shapes = append(a.Shapes,
			batch.Shape{Width: w + 1, Walltime: batch.Duration(rapid.IntRange(1, 30).Draw(t, "d"))})
	}
	return a
}

func TestOneRunOfAQueueMatchesARunForEachShape(t *testing.T) {
	for name, factory := range queues {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				const processors = 8
				e := busy(t, factory, processors)
				now := e.Now()
				asks := []batch.Ask{menu(t, processors), menu(t, processors)}
				var f forecast.Forecaster
				got, want := make([]batch.Estimate, 2), make([]batch.Estimate, 1)
				if !f.Estimate(now, e.Policy(), asks, got) {
					t.Fatal("no answer")
				}
				for i, a := range asks {
					for k, s := range a.Shapes {
						one := a
						one.Shapes = []batch.Shape{s} // a single shape, so the run is not cut short
						if !f.Estimate(now, opaque{e.Policy().(batch.Runnable)}, []batch.Ask{one}, want) {
							t.Fatal("no answer")
						}
						if got[i].Starts[k] != want[0].Starts[0] || got[i].End(k, s.Walltime) != want[0].End(0,
							s.Walltime) {
							t.Fatalf("ask %d, %v from %d: start %d, want %d, end %d, want %d", i, s, a.From,
								got[i].Starts[k], want[0].Starts[0], got[i].End(k, s.Walltime),
								want[0].End(0, s.Walltime))
						}
					}
				}
			})
		})
	}
}

func TestShortenedRunsFindTheBestShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const processors = 8
		e := busy(t, easy.New, processors)
		ask := menu(t, processors)
		var f forecast.Forecaster
		exact, cut := make([]batch.Estimate, 1), make([]batch.Estimate, 1)
		f.Estimate(e.Now(), e.Policy(), []batch.Ask{ask}, exact)
		f.Estimate(e.Now(), opaque{e.Policy().(batch.Runnable)}, []batch.Ask{ask}, cut)
		best := func(est *batch.Estimate) (int, batch.Time) {
			at, end := -1, batch.Never
			for i, s := range ask.Shapes {
				if est.End(i, s.Walltime) < end {
					at, end = i, est.End(i, s.Walltime)
				}
			}
			return at, end
		}
		wantShape, wantEnd := best(&exact[0])
		gotShape, gotEnd := best(&cut[0])
		if wantShape != gotShape || wantEnd != gotEnd {
			t.Fatalf("best is shape %d by %d, want %d by %d", gotShape, gotEnd, wantShape, wantEnd)
		}
		for i := range ask.Shapes {
			if cut[0].Starts[i] > exact[0].Starts[i] {
				t.Fatalf("shape %d: bound %d is later than the start %d", i, cut[0].Starts[i], exact[0].Starts[i])
			}
		}
	})
}

func TestForecastsAreExactIfJobsUseTheirWalltimes(t *testing.T) {
	for name, factory := range queues {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				const processors = 8
				p, err := factory(batch.Processors(processors), nil)
				if err != nil {
					t.Fatal(err)
				}
				seen := observed{}
				e := engine.New(p, seen, engine.NewLedger(batch.Processors(processors)))
				n := batch.Handle(rapid.IntRange(0, 25).Draw(t, "jobs"))
				submit := func(h batch.Handle) batch.Shape {
					s := batch.Shape{
						Width:    int32(rapid.IntRange(1, processors).Draw(t, "width")),
						Walltime: batch.Duration(rapid.IntRange(1, 20).Draw(t, "walltime")),
					}
					e.Submit(&batch.Job{Handle: h, Shape: s}, s.Walltime)
					return s
				}
				for h := range n {
					submit(h + 1)
				}
				e.Pass()
				shape := batch.Shape{
					Width:    int32(rapid.IntRange(1, processors).Draw(t, "width")),
					Walltime: batch.Duration(rapid.IntRange(1, 20).Draw(t, "walltime")),
				}
				var f forecast.Forecaster
				out := make([]batch.Estimate, 1)
				f.Estimate(0, p, []batch.Ask{{Job: &batch.Job{}, Shapes: []batch.Shape{shape}}}, out)
				e.Submit(&batch.Job{Handle: n + 1, Shape: shape}, shape.Walltime)
				e.Pass()
				for e.Next() != batch.Never {
					e.Advance(e.Next())
					e.Pass()
				}
				if seen[n+1] != out[0].Starts[0] {
					t.Fatalf("started at %d, forecast %d", seen[n+1], out[0].Starts[0])
				}
			})
		})
	}
}

// Jobs arrive, also with a later earliest start, as reservations, and held. Each job starts as
// promised at its submission.
func TestFCFSKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const processors = 4
		p, err := fcfs.New(batch.Processors(processors), nil)
		if err != nil {
			t.Fatal(err)
		}
		started := observed{}
		promised := map[batch.Handle]batch.Time{}
		var incoming, held []*batch.Job
		var f forecast.Forecaster
		e := engine.New(p, started, nil)
		apply := func(kind batch.EventKind, spec *batch.Job) {
			e.Apply(&batch.Event{Kind: kind, Job: spec.Handle, Shape: spec.Shape, Spec: spec, Restore: true})
		}
		confirm := func() {
			for _, spec := range incoming {
				apply(batch.Confirm, spec)
			}
			for _, spec := range held {
				apply(batch.Place, spec)
			}
			incoming, held = nil, nil
		}
		jobs := batch.Handle(rapid.IntRange(1, 12).Draw(t, "jobs"))
		at := batch.Time(0)
		for h := batch.Handle(1); h <= jobs; h++ {
			at += batch.Time(rapid.IntRange(0, 3).Draw(t, "later"))
			for e.Next() < at {
				e.Advance(e.Next())
				e.Pass()
			}
			e.Advance(at)
			spec := &batch.Job{Handle: h, Shape: batch.Shape{
				Width:    int32(rapid.IntRange(1, processors).Draw(t, "width")),
				Walltime: batch.Duration(rapid.IntRange(1, 9).Draw(t, "walltime")),
			}}
			work := batch.Duration(rapid.IntRange(1, int(spec.Shape.Walltime)).Draw(t, "runs"))
			kind := rapid.SampledFrom([]string{"now", "now", "now", "later", "incoming", "held", "confirm"}).Draw(t,
				"kind")
			switch kind {
			case "later":
				spec.EarliestStart = at + batch.Time(rapid.IntRange(1, 9).Draw(t, "from"))
			case "incoming":
				e.Admit(spec, work)
				apply(batch.Reserve, spec)
				incoming = append(incoming, spec)
				e.Pass()
				continue
			case "confirm":
				confirm()
			}
			e.Pass()
			out := make([]batch.Estimate, 1)
			f.Estimate(at, p, []batch.Ask{{
				Job:    &batch.Job{EarliestStart: spec.EarliestStart},
				Shapes: []batch.Shape{spec.Shape},
			}}, out)
			e.Submit(spec, work)
			if kind == "held" {
				apply(batch.Hold, spec)
				held = append(held, spec)
			} else if out[0].Kind == batch.Promised {
				promised[h] = out[0].Starts[0]
			}
			e.Pass()
		}
		confirm()
		e.Pass()
		for e.Next() != batch.Never {
			e.Advance(e.Next())
			e.Pass()
		}
		for h, at := range promised {
			if started[h] > at {
				t.Fatalf("job %d was promised %d and started at %d", h, at, started[h])
			}
		}
	})
}

func TestAWindowIsReservedOnlyWhereItFits(t *testing.T) {
	for name, factory := range queues {
		p, err := factory(batch.Processors(2), nil)
		if err != nil {
			t.Fatal(err)
		}
		spec := &batch.Job{Handle: 1, Shape: batch.Shape{Width: 1, Walltime: 6}}
		p.Apply(0, &batch.Event{Kind: batch.Submit, Job: 1, Spec: spec})
		p.Decide(0, &batch.Decisions{})
		var f forecast.Forecaster
		out := make([]batch.Estimate, 1)
		job := &batch.Job{Window: &batch.Window{Start: 5, End: 9}}
		f.Estimate(0, p, []batch.Ask{{Job: job, Shapes: []batch.Shape{{Width: 1}, {Width: 2}}}}, out)
		if diff := cmp.Diff([]batch.Time{5, batch.Never}, out[0].Starts); diff != "" || out[0].Kind != batch.Promised {
			t.Errorf("%s: %v (-want +got):\n%s", name, out[0].Kind, diff)
		}
	}
}

type observed map[batch.Handle]batch.Time

func (o observed) Started(now batch.Time, job *batch.Job, _ []batch.NodeAllocation) {
	o[job.Handle] = now
}
func (o observed) Ended(batch.Time, *batch.Job, bool) {}

func TestPlanningPoliciesAnswerFromTheirPlan(t *testing.T) {
	p, err := cbf.New(batch.Processors(4), nil)
	if err != nil {
		t.Fatal(err)
	}
	var f forecast.Forecaster
	out := make([]batch.Estimate, 1)
	if !f.Estimate(5, p, []batch.Ask{{Job: &batch.Job{}, Shapes: []batch.Shape{{Width: 4, Walltime: 1}}}}, out) {
		t.Fatal("no answer")
	}
	if diff := cmp.Diff(batch.Estimate{Kind: batch.Promised, Starts: []batch.Time{5}, Ends: nil}, out[0]); diff != "" {
		t.Error(diff)
	}
}

// loaded returns a policy on 640 processors with a number of waiting jobs.
func loaded(b *testing.B, factory batch.Factory, waiting int) batch.Policy {
	p, err := factory(batch.Processors(640), nil)
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	e := engine.New(p, noObserver{}, nil)
	for h := range batch.Handle(waiting + 60) {
		s := batch.Shape{Width: 1 + r.Int32N(64), Walltime: batch.Second * batch.Duration(60+r.Int64N(36000))}
		if h == 0 {
			s.Width = 600 // the other jobs wait behind it
		}
		e.Submit(&batch.Job{Handle: h + 1, Shape: s}, s.Walltime)
	}
	e.Pass()
	return p
}

// BenchmarkAllWidths estimates all widths 1..640 of one moldable job, without events since
// the last estimate.
func BenchmarkAllWidths(b *testing.B) {
	a := batch.Ask{Job: &batch.Job{}}
	for w := range int32(640) {
		a.Shapes = append(a.Shapes,
			batch.Shape{Width: w + 1, Walltime: batch.Hour*10/batch.Duration(w+1) + batch.Minute})
	}
	for _, c := range []struct {
		name string
		f    batch.Factory
	}{{"fcfs", fcfs.New}, {"easy", easy.New}, {"cbf", cbf.New}} {
		for _, n := range []int{100, 1000, 10_000} {
			b.Run(fmt.Sprintf("policy=%s/waiting=%d", c.name, n), func(b *testing.B) {
				p := loaded(b, c.f, n)
				var f forecast.Forecaster
				out := make([]batch.Estimate, 1)
				b.ReportAllocs()
				for b.Loop() {
					f.Estimate(0, p, []batch.Ask{a}, out)
				}
			})
		}
	}
}
