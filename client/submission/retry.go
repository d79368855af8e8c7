package submission

import "github.com/seed-9b8f70bb/drover/batch"

// The pause between rounds doubles from the first to the longest. Pauses are not
// randomized: clients fail in step only when a server fails, and a core has to be a
// function of its events.
const (
	FirstPause   = 100 * batch.Millisecond
	LongestPause = 2 * batch.Second
)

// retry decides how long to retry.
type retry struct {
	patience Duration
	failing  bool
	since    Time // the first of the consecutive failures
	tries    int  // consecutive failures
	pause    Duration
}

// fine ends a series of failures.
func (r *retry) fine() { r.failing, r.tries, r.pause = false, 0, 0 }

// failed notes a failure.
func (r *retry) failed(now Time) {
	if !r.failing {
		r.failing, r.since = true, now
	}
	r.tries++
}

// until returns when to try again after a failure, false if patience has run out. The
// last try is exactly at its end.
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

// gaveUp returns the error of the last failure when patience has run out. Without
// patience it is the failure itself.
func (r *retry) gaveUp(now Time, job string, at Target, err error) error {
	if r.patience == 0 {
		return err
	}
	return &PatienceError{Job: job, Target: at, After: now.Sub(r.since), Tries: r.tries, Err: err}
}
