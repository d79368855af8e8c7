package submission

import "github.com/seed-9b8f70bb/drover/batch"

// Pauses between rounds of tries double from the first to the longest. They are
// not randomized: clients do not fail in step unless a server does, and what a
// core does has to be a function of its events.
const (
	FirstPause   = 100 * batch.Millisecond
	LongestPause = 2 * batch.Second
)

// retry decides how long to try again.
type retry struct {
	patience Duration
	failing  bool
	since    Time // the first of the failures in a row
	tries    int  // the failures in a row
	pause    Duration
}

// fine ends a row of failures.
func (r *retry) fine() { r.failing, r.tries, r.pause = false, 0, 0 }

// failed notes a failure.
func (r *retry) failed(now Time) {
	if !r.failing {
		r.failing, r.since = true, now
	}
	r.tries++
}

// until returns when to try again after a failure, and false when patience has
// run out. The last try is at the very end of it.
func (r *retry) until(now Time) (Time, bool) {
	if !r.failing {
		r.failed(now)
	}
	if now.Sub(r.since) >= r.patience {
		return 0, false
	}
	r.pause = min(max(2*r.pause, FirstPause), LongestPause)
	return min(now.Add(r.pause), r.since.Add(r.patience)), true
}

// gaveUp says of the last failure that patience has run out. Without patience
// there is nothing to say but the failure.
func (r *retry) gaveUp(now Time, job string, at Target, err error) error {
	if r.patience == 0 {
		return err
	}
	return &PatienceError{Job: job, Target: at, After: now.Sub(r.since), Tries: r.tries, Err: err}
}
