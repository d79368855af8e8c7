package forecast

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
)

// line is an EASY policy and the jobs that arrive at it, in order.
type line struct {
	processors int32
	specs      []batch.Job
	p          batch.Policy
	came       int
}

func newLine(t rapid.TB, processors int32, shapes []batch.Shape) *line {
	p, err := easy.New(batch.Processors(processors), nil)
	if err != nil {
		t.Fatal(err)
	}
	l := &line{processors: processors, p: p, specs: make([]batch.Job, len(shapes))}
	for i, s := range shapes {
		l.specs[i] = batch.Job{Handle: batch.Handle(i + 1), Shape: s}
	}
	return l
}

// come submits the jobs up to the n-th, followed by one pass.
func (l *line) come(n int) *line {
	for ; l.came < n; l.came++ {
		spec := &l.specs[l.came]
		l.p.Apply(0, &batch.Event{Kind: batch.Submit, Job: spec.Handle, Spec: spec})
	}
	l.p.Decide(0, &batch.Decisions{})
	return l
}

func drawShape(t *rapid.T, processors int32) batch.Shape {
	return batch.Shape{
		Width:    int32(rapid.IntRange(1, int(processors)).Draw(t, "width")),
		Walltime: batch.Duration(rapid.IntRange(1, 20).Draw(t, "walltime")),
	}
}

func drawLine(t *rapid.T) *line {
	const processors = 8
	shapes := []batch.Shape{
		{Width: int32(rapid.IntRange(1, processors).Draw(t, "runs")), Walltime: 7},
		{Width: processors, Walltime: 5},
	}
	for range rapid.IntRange(0, 30).Draw(t, "jobs") {
		shapes = append(shapes, drawShape(t, processors))
	}
	l := newLine(t, processors, shapes)
	for i := 2; i < len(l.specs); i++ {
		if rapid.IntRange(0, 5).Draw(t, "parks") == 0 {
			l.specs[i].EarliestStart = batch.Time(rapid.IntRange(1, 50).Draw(t, "from"))
		}
	}
	return l
}

// start returns the answer of a new forecaster.
func start(t rapid.TB, now batch.Time, p batch.Policy, exact int, job *batch.Job, s batch.Shape) batch.Time {
	f := Forecaster{exact: exact}
	out := make([]batch.Estimate, 1)
	if !f.Estimate(now, p, []batch.Ask{{Job: job, Shapes: []batch.Shape{s}}}, out) || out[0].Kind != batch.Forecast {
		t.Fatalf("no forecast: %v", out)
	}
	return out[0].Starts[0]
}

func TestShortQueuesAreRunCompletely(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLine(t)
		l.come(len(l.specs))
		s := drawShape(t, l.processors)
		waiting := l.p.(Queue).Waiting()
		whole := start(t, 0, l.p, 1000, &batch.Job{}, s)
		if got := start(t, 0, l.p, max(1, waiting), &batch.Job{}, s); got != whole {
			t.Fatalf("%v starts at %d, want %d", s, got, whole)
		}
	})
}

// The oracle is slow: it checks each processor at each instant.
func TestJobsBehindTheFrontUseItsFreeProcessors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLine(t)
		l.come(len(l.specs))
		exact, now := rapid.IntRange(1, 12).Draw(t, "exact"), batch.Time(rapid.IntRange(0, 6).Draw(t, "now"))
		var waiting []batch.Handle
		for h := range l.p.(*easy.Policy).InOrder {
			waiting = append(waiting, h)
		}
		if len(waiting) <= exact {
			t.Skip("the whole queue is run")
		}
		work := int64(0)
		for _, h := range waiting[exact:] {
			s := l.specs[h-1].Shape
			work += int64(s.Width) * int64(s.Walltime)
		}
		f := Forecaster{exact: exact}
		out := make([]batch.Estimate, 1)
		s := drawShape(t, l.processors)
		if early := batch.Time(rapid.IntRange(0, int(now)).Draw(t, "asked before")); early < now {
			f.Estimate(early, l.p, []batch.Ask{{Job: &batch.Job{}, Shapes: []batch.Shape{s}}}, out)
		}
		f.Estimate(now, l.p, []batch.Ask{{Job: &batch.Job{}, Shapes: []batch.Shape{s}}}, out)
		at := func(instant batch.Time) (r room) {
			for i := range f.front.rooms {
				if f.front.rooms[i].at <= instant {
					r = f.front.rooms[i]
				}
			}
			return r
		}
		instant := now
		for ; work > 0; instant++ {
			work -= int64(at(instant).free)
		}
		for {
			if r := at(instant); f.front.fits(&r, instant, s.Width, s.Walltime) {
				break
			}
			instant++
		}
		if got := out[0].Starts[0]; got != instant {
			t.Fatalf("%v starts at %d, want %d", s, got, instant)
		}
	})
}

func TestAFewNewJobsCountByTheirWork(t *testing.T) {
	kept := 0
	rapid.Check(t, func(t *rapid.T) {
		l := drawLine(t)
		slack := rapid.IntRange(1, 4).Draw(t, "slack")
		f := Forecaster{Slack: slack}
		out := make([]batch.Estimate, 1)
		ran, revision := 0, uint64(0) // number of waiting jobs and revision of the queue at the last run
		for n := range len(l.specs) + 1 {
			p := l.come(n).p
			s := drawShape(t, l.processors)
			f.Estimate(0, p, []batch.Ask{{Job: &batch.Job{}, Shapes: []batch.Shape{s}}}, out)
			waiting := p.(Queue).Waiting()
			if now := p.(Queue).Revision(); n == 0 || now != revision || waiting > ran+ran/slack {
				ran, revision = waiting, now
			} else if waiting > ran {
				kept++
			}
			if want := start(t, 0, p, max(ran, 1), &batch.Job{}, s); out[0].Starts[0] != want {
				t.Fatalf("%v starts at %d, want %d: %d waiting jobs, %d at the last run", s, out[0].Starts[0], want,
					waiting, ran)
			}
		}
	})
	if kept == 0 {
		t.Error("no run was kept")
	}
}

func TestALongerQueueOrALargerShapeIsNeverForecastEarlier(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLine(t)
		exact := rapid.IntRange(1, 5).Draw(t, "exact")
		s := drawShape(t, l.processors)
		wider, longer := s, s
		wider.Width = min(wider.Width+1, l.processors)
		longer.Walltime += 3
		last, waited := batch.Time(0), 0
		for n := range len(l.specs) + 1 {
			p := l.come(n).p
			waiting := p.(Queue).Waiting()
			got := start(t, 0, p, exact, &batch.Job{}, s)
			if w := start(t, 0, p, exact, &batch.Job{}, wider); w < got {
				t.Fatalf("%v starts at %d, and %v at %d", s, got, wider, w)
			}
			if w := start(t, 0, p, exact, &batch.Job{}, longer); w < got {
				t.Fatalf("%v starts at %d, and %v at %d", s, got, longer, w)
			}
			if waiting > max(exact, waited) && got < last { // the last job waits behind the front
				t.Fatalf("%v starts at %d, but without the last job before it at %d", s, got, last)
			}
			last, waited = got, waiting
			tooWide := batch.Shape{Width: l.processors + 1, Walltime: 1}
			if got := start(t, 0, p, exact, &batch.Job{}, tooWide); got != batch.Never {
				t.Fatalf("%v starts at %d", tooWide, got)
			}
		}
	})
}

// A job far behind has the forecast of a new job at the end of a queue that ends before it.
func TestTheForecastOfAJobFarBehindDependsOnlyOnEarlierJobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLine(t)
		exact := rapid.IntRange(1, 5).Draw(t, "exact")
		l.come(len(l.specs))
		q := l.p.(*easy.Policy)
		var waiting []batch.Handle
		for h := range q.InOrder {
			waiting = append(waiting, h)
		}
		for i, h := range waiting {
			spec := &l.specs[h-1]
			got := start(t, 0, q, exact, spec, spec.Shape)
			if i < exact {
				if want := start(t, 0, cut(q, waiting[min(exact, len(waiting)):]), 1000, spec,
					spec.Shape); got != want {
					t.Fatalf("job %d starts at %d, want %d", h, got, want)
				}
			} else if want := start(t, 0, cut(q,
				waiting[i:]), exact, &batch.Job{EarliestStart: spec.EarliestStart}, spec.Shape); got != want {
				t.Fatalf("job %d starts at %d, but a new job in its position at %d", h, got, want)
			}
		}
	})
}

// cut returns a copy without some waiting jobs.
func cut(p batch.Policy, jobs []batch.Handle) batch.Policy {
	p = p.Fork()
	for _, h := range jobs {
		p.Apply(0, &batch.Event{Kind: batch.Cancel, Job: h})
	}
	p.Decide(0, &batch.Decisions{})
	return p
}

func TestAHeldJobHasNoForecast(t *testing.T) {
	l := newLine(t, 1, []batch.Shape{
		{Width: 1, Walltime: 5},
		{Width: 1, Walltime: 5},
		{Width: 1, Walltime: 5},
		{Width: 1, Walltime: 5},
	}).come(4)
	l.p.Apply(0, &batch.Event{Kind: batch.Hold, Job: 4})
	for job, want := range map[int]batch.Time{2: 5, 3: 10, 4: batch.Never} {
		if got := start(t, 0, l.p, 1, &l.specs[job-1], l.specs[job-1].Shape); got != want {
			t.Errorf("job %d starts at %d, want %d", job, got, want)
		}
	}
}

// other is a policy without a queue, estimated in between.
type other struct{ batch.Runnable }

func (o other) Fork() batch.Policy { return other{o.Runnable.Fork().(batch.Runnable)} }

func (o other) Estimate(batch.Time, []batch.Ask, []batch.Estimate) batch.Runnable { return o }

func TestAForecasterKeepsSeveralPoliciesApart(t *testing.T) {
	shapes := []batch.Shape{{Width: 1, Walltime: 5}, {Width: 1, Walltime: 6}, {Width: 1, Walltime: 7}}
	a, b := newLine(t, 1, shapes).come(3), newLine(t, 1, shapes[1:]).come(2)
	var f Forecaster
	ask := func(p batch.Policy, job int, want batch.Time) {
		t.Helper()
		out := make([]batch.Estimate, 1)
		spec := &a.specs[job-1]
		f.Estimate(0, p, []batch.Ask{{Job: spec, Shapes: []batch.Shape{spec.Shape}}}, out)
		if out[0].Starts[0] != want {
			t.Errorf("job %d starts at %d, want %d", job, out[0].Starts[0], want)
		}
	}
	ask(a.p, 3, 11)
	ask(other{b.p.(batch.Runnable)}, 2, 6)
	ask(a.p, 3, 11)
	ask(b.p, 2, 6)
	ask(a.p, 3, 11)
}
