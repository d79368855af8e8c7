package forecast

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
)

// Queue is a batch.Runnable in which the last job changes nothing for the jobs before it
// until it starts. One run answers all shapes of all asks about it; another Runnable is
// run once for each shape, with the same answers. A Queue is compared by identity: its
// methods have pointer receivers.
type Queue interface {
	batch.Runnable
	// Room appends the room of a job at the end of the queue after a pass: the job can
	// start if it fits one of the levels and ends by its end.
	Room(now batch.Time, out []profile.Level) []profile.Level
	ChargeOf(width int32, memory int64) int32
	// Waiting returns the number of waiting jobs that are not held, and Waits reports
	// whether a job is one of them.
	Waiting() int
	Waits(batch.Handle) bool
	// Revision returns a number that changes with every event except the arrival of jobs
	// at the end of the queue.
	Revision() uint64
	// First returns a copy, a Queue too, with all running jobs and only the first n
	// waiting ones. names[h] is the original handle of the copy's job h.
	First(n int) (front batch.Policy, names []batch.Handle)
	// Work returns the area of the jobs that wait behind the job after and ahead of the
	// job before; NoJob for before means no limit.
	Work(after, before batch.Handle) batch.Area
}

// Forecaster estimates. It holds scratch memory and the last run of a queue: keep one
// for each goroutine and preferably for each policy.
type Forecaster struct {
	// Slack keeps a run of a queue valid while at most 1/Slack as many jobs have arrived
	// as waited then; the arrivals count by their work, like the rest behind the front.
	// A burst of submissions then does not rerun the queue for each. 0: no slack.
	Slack int

	run     run
	ends    ends
	began   began
	front   front
	charges []int32
	open    []int32
	menu    counted.Menu
	pass    batch.Decisions
	exact   int // 0: Exact
}

// Estimate answers asks as batch.Policy's Estimate does: by the policy's own plan
// if it has one, else by running it forward. It returns true: every policy has an answer.
func (f *Forecaster) Estimate(now batch.Time, p batch.Policy, asks []batch.Ask, out []batch.Estimate) bool {
	if r := p.Estimate(now, asks, out); r != nil {
		f.forward(now, r, asks, out)
	}
	return true
}

// forward answers asks by running a policy forward.
func (f *Forecaster) forward(now batch.Time, r batch.Runnable, asks []batch.Ask, out []batch.Estimate) {
	q, queue := r.(Queue)
	if queue {
		f.runQueue(now, q)
	} else if slices.ContainsFunc(asks, standing) {
		f.runOut(now, r)
	}
	for i := range asks {
		a, e := &asks[i], &out[i]
		if r.AnswerFixed(now, a, e) {
			continue
		}
		e.Kind, e.P = worth(now, r, a), 0
		switch {
		case queue && standing(*a):
			f.answerStanding(now, q, a, e)
		case queue:
			f.answer(f.behind(now, f.front.work), q, a, e)
		case standing(*a):
			f.answerRun(a, e)
		default:
			f.eachShape(now, r, a, e)
		}
	}
}

// standing reports whether an ask is about a waiting job.
func standing(a batch.Ask) bool { return a.Job.Handle != batch.NoJob }

// worth returns the kind of an answer. A policy without a plan keeps no slot for a job
// that arrives later: jobs that start until then can delay it.
func worth(now batch.Time, p batch.Runnable, a *batch.Ask) batch.Kind {
	if max(a.From, a.Job.EarliestStart) > now {
		return batch.Forecast
	}
	return p.Worth()
}

// eachShape runs the policy once for each shape, with the job in that shape. A run stops
// when its shape can no longer beat the best completion; start and end are then bounds
// that are not earlier.
func (f *Forecaster) eachShape(now batch.Time, p batch.Runnable, a *batch.Ask, out *batch.Estimate) {
	starts := out.Grow(len(a.Shapes))
	best := batch.Never
	for i, s := range a.Shapes {
		start, end := f.oneShape(now, p, a, s, best)
		starts[i] = start
		out.Ends = append(out.Ends, end)
		best = min(best, end)
	}
}

// oneShape returns the start and the end of one shape, or bounds with which it cannot
// complete before best.
func (f *Forecaster) oneShape(
	now batch.Time, p batch.Runnable, a *batch.Ask, s batch.Shape, best batch.Time,
) (start, end batch.Time) {
	r := f.launch(now, settled(now, p.Fork().(batch.Runnable)))
	spec := *a.Job
	spec.Shape = s
	spec.Handle = p.Unused()
	spec.EarliestStart = max(spec.EarliestStart, a.From)
	r.tell(now, batch.Event{Kind: batch.Submit, Job: spec.Handle, Spec: &spec})
	start = batch.Never
	for t := now; t != batch.Never; t = r.next() {
		if start == batch.Never && t.Add(s.Walltime) > best {
			return t, t.Add(s.Walltime)
		}
		if start != batch.Never {
			if due := r.ends.due(spec.Handle); due > 0 && due <= t {
				return start, due
			}
		}
		if r.advance(t, spec.Handle) {
			start = t
		}
	}
	return start, batch.Never
}
