package supervisor

import (
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/process"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
)

// The pauses between tries to write an end down.
const (
	firstPause   = 10 * time.Millisecond
	longestPause = 5 * time.Second
)

// ended takes the end of a child, which may have been a gate only.
func (s *supervisor) ended(t *program, e process.Exit) {
	now := time.Now()
	<-t.settled
	if s.guard != nil && len(t.groups) > 0 {
		defer s.guard.Drop(t.groups)
	}
	s.mu.Lock()
	before := t.status
	s.mu.Unlock()
	if before.Condition != attempt.Running {
		return // the launch has said already that nothing ran
	}
	s.warnLeft(t, process.ClearGroups(t.groups) || e.Left)
	s.end(t, s.verdict(t, statusOfExit(e, before.Started, now)))
}

// end writes the end of an attempt that ran down, and tells it.
func (s *supervisor) end(t *program, st attempt.Status) {
	s.log.Debug("ended", "attempt", t.Mark(), "condition", st.Condition, "code", st.Code, "signal", st.Signal)
	s.save(t, st)
	s.mu.Lock()
	t.status = st
	s.forget(t)
	s.mu.Unlock()
	s.watchers.notify(attempt.End{Name: t.Name, Status: st})
}

// save writes an end down. When that cannot be done it is tried again until it
// can, and the attempt is kept for as long.
func (s *supervisor) save(t *program, st attempt.Status) {
	end := endOf(st)
	err := journal.AppendEnd(t.Dir, t.File(), end)
	if err == nil {
		return
	}
	s.log.Error("the end of an attempt is not written down yet, trying again", "attempt", t.Mark(), "error", err)
	s.mu.Lock()
	t.unsaved = true
	s.mu.Unlock()
	go s.saveAgain(t, end)
}

func (s *supervisor) saveAgain(t *program, end journal.End) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		time.Sleep(pause)
		if gone(t.Dir) {
			s.log.Warn("the directory of an attempt is gone, and its end with it", "attempt", t.Mark())
			break
		}
		if err := journal.AppendEnd(t.Dir, t.File(), end); err == nil {
			break
		}
	}
	<-t.settled
	s.mu.Lock()
	t.unsaved = false
	s.forget(t)
	s.mu.Unlock()
}
