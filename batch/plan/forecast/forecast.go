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
	// Room appends what a job that stood last could have after a pass: it may start if
	// it fits one of the levels and ends by its end.
	Room(now batch.Time, out []profile.Level) []profile.Level
	ChargeOf(width int32, memory int64) int32
	// Waiting returns how many jobs wait and are not held, and Waits whether a job is
	// one of them.
	Waiting() int
	Waits(batch.Handle) bool
	// Revision returns a number that is the same as long as nothing has happened but
	// the coming of jobs that stand last.
	Revision() uint64
	// First returns a copy, a Queue too, with all that runs and only the first n of
	// those who wait. names[h] is what job h of the copy is called here.
	First(n int) (front batch.Policy, names []batch.Handle)
	// Work returns the area of those who wait behind the job after and, if that is
	// not NoJob, before the job before.
	Work(after, before batch.Handle) batch.Area
}

// Forecaster estimates. It holds scratch memory, and what it has last found out
// about a queue: keep one for each goroutine and, better, for each policy.
type Forecaster struct {
	// Slack lets a run of a queue stand while no more than one for so many who waited
	// then has come since: they count by their work, as those behind the front do. So
	// a burst of submissions does not run the queue for each. 0: every run has all.
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

// standing says whether an ask is about a job that waits already.
func standing(a batch.Ask) bool { return a.Job.Handle != batch.NoJob }

// worth says what an answer to an ask is worth. A policy without a plan keeps no
// place for a job that comes later: who starts until then may put it off.
func worth(now batch.Time, p batch.Runnable, a *batch.Ask) batch.Kind {
	if max(a.From, a.Job.EarliestStart) > now {
		return batch.Forecast
	}
	return p.Worth()
}
