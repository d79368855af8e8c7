package forecast

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
)

// Runnable is a policy that can be run forward on walltimes.
type Runnable interface {
	batch.Policy
	// Ends calls yield with each running job and its planned end.
	Ends(yield func(batch.Handle, batch.Time) bool)
	// PlannedEnd returns the planned end of a running job. It may change with
	// every pass where jobs share processors.
	PlannedEnd(batch.Handle) batch.Time
	// Incoming calls yield with each job that is reserved and not confirmed.
	Incoming(yield func(batch.Handle) bool)
	// Windows calls yield with each advance reservation, in the order in which they
	// were made.
	Windows(yield func(counted.Window) bool)
	// AnswerFixed answers an ask about what has, or would have, a place of its own that
	// others keep clear of: a reservation, a job in one, or an agreed job. It returns
	// false for other asks.
	AnswerFixed(now batch.Time, a *batch.Ask, out *batch.Estimate) bool
	// Unused returns a handle that names none of its jobs.
	Unused() batch.Handle
	// Worth says what a forecast of this policy is worth now, for a job that may
	// start at once.
	Worth() batch.Kind
}

// Queue is a Runnable in which a job that stands last changes nothing for those
// before it until it starts. It is compared by identity, and has to be a pointer.
type Queue interface {
	Runnable
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
// where it has one, else by running it forward. It returns false for a policy
// that can neither plan nor be run.
func (f *Forecaster) Estimate(now batch.Time, p batch.Policy, asks []batch.Ask, out []batch.Estimate) bool {
	if p.Estimate(now, asks, out) {
		return true
	}
	r, ok := p.(Runnable)
	if !ok {
		return false
	}
	q, queue := p.(Queue)
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
	return true
}

// standing says whether an ask is about a job that waits already.
func standing(a batch.Ask) bool { return a.Job.Handle != batch.NoJob }

// worth says what an answer to an ask is worth. A policy without a plan keeps no
// place for a job that comes later: who starts until then may put it off.
func worth(now batch.Time, p Runnable, a *batch.Ask) batch.Kind {
	if max(a.From, a.Job.EarliestStart) > now {
		return batch.Forecast
	}
	return p.Worth()
}
