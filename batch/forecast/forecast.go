package forecast

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
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
	// Unused returns a handle that names none of its jobs.
	Unused() batch.Handle
	// Worth says what a forecast of this policy is worth now, for a job that may
	// start at once.
	Worth() batch.Kind
}

// Queue is a Runnable that can say after each pass what a job that stood last
// could have: it may start if its charge is at most free and it either ends by
// shadow or its charge is at most spare.
type Queue interface {
	Runnable
	Room(now batch.Time) (free int32, shadow batch.Time, spare int32)
	ChargeOf(width int32, memory int64) int32
}

// Forecaster estimates. It holds scratch memory: keep one for each goroutine.
type Forecaster struct {
	run     run
	ends    ends
	began   began
	rooms   []room
	charges []int32
	open    []int32
	pass    batch.Decisions
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
		e.Kind, e.P = worth(now, r, a), 0
		switch {
		case standing(*a):
			f.began.answer(a, e)
		case queue:
			f.answer(now, q, a, e)
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
