package server

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
)

// The pauses after launches that the host could not carry out.
const (
	firstLaunchPause   = time.Second
	longestLaunchPause = 30 * time.Second
)

// launches stops the launches of a site for a while after one failed because the host lacked
// something (open files, memory, disk). Otherwise a passing shortage would use up the attempts of
// all waiting jobs within a second.
//
//	        failed                    the pause ends
//	open ──────────▶ closed, 1 s .. 30 s ──────────▶ open; closed for twice as long by the next failure
//	  ▲                                                │
//	  └──────────────── succeeded ─────────────────────┘
type launches struct {
	mu      sync.Mutex
	pauses  *backoff.ExponentialBackOff // nil while the last launch succeeded
	since   time.Time                   // of the first failure
	until   time.Time
	reason  string        // of the last failure
	changed chan struct{} // closed by succeeded
}

// failed closes the site for launches, unless it is closed already. It reports whether it did, and
// for how long.
func (l *launches) failed(now time.Time, reason string) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Before(l.until) {
		return 0, false
	}
	if l.pauses == nil {
		l.pauses = &backoff.ExponentialBackOff{
			InitialInterval: firstLaunchPause, Multiplier: 2, MaxInterval: longestLaunchPause,
		}
		l.since, l.changed = now, make(chan struct{})
	}
	pause := l.pauses.NextBackOff()
	l.until, l.reason = now.Add(pause), reason
	return pause, true
}

// succeeded opens the site for launches, and reports whether it was closed before.
func (l *launches) succeeded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pauses == nil {
		return false
	}
	l.pauses, l.until, l.reason = nil, time.Time{}, ""
	close(l.changed)
	return true
}

// closed returns how long the site is still closed for launches, and why.
func (l *launches) closed(now time.Time) (time.Duration, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !now.Before(l.until) {
		return 0, ""
	}
	return l.until.Sub(now), l.reason
}

// delay returns how much later than planned jobs are expected to start: for the rest of the pause,
// or for as long as launches have failed already. Jobs that would finish earlier at other sites
// go or move there.
func (l *launches) delay(now time.Time) batch.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !now.Before(l.until) {
		return 0
	}
	return batch.Duration(max(l.until.Sub(now), now.Sub(l.since)).Microseconds())
}

// awaitLaunches waits until launches are open again, or the server stops. It reports whether it
// waited.
func (s *Server) awaitLaunches() bool {
	for waited := false; ; waited = true {
		pause, _ := s.launches.closed(time.Now())
		if pause == 0 || s.life.Err() != nil {
			return waited
		}
		s.launches.mu.Lock()
		changed := s.launches.changed
		s.launches.mu.Unlock()
		select {
		case <-time.After(pause):
		case <-changed:
		case <-s.life.Done():
		}
	}
}

// hostFault closes the site for launches after the host could not launch a job, and returns the
// error of the attempt when they are open again.
func (s *Server) hostFault(id batch.JobID, err error) error {
	if pause, closed := s.launches.failed(time.Now(), public(err)); closed {
		s.log.Error("launch failed, launches stopped", "job", id, "error", err, "pause", pause)
	}
	s.awaitLaunches()
	return fmt.Errorf("%w (%w)", err, exec.ErrHostFault)
}

// public returns the text of a launch error without the words that it begins with.
func public(err error) string {
	return strings.TrimPrefix(err.Error(), exec.ErrNeverRan.Error()+": ")
}
