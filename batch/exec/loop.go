package exec

import (
	"cmp"
	"slices"
	"syscall"

	"github.com/seed-9b8f70bb/drover/batch"
)

// maxCalls bounds the calls of one pass, so a flood of calls cannot delay a launch or a
// walltime.
const maxCalls = 256

// maxMeasured bounds the measurements of one pass.
const maxMeasured = 1 << 16

// minWait bounds how often a policy can ask for a pass at once.
const minWait = batch.Millisecond

// note is a message from an attempt's goroutine to the loop: launched, or ended.
type note struct {
	attempt    *attempt
	proc       Launched               // launched
	err        error                  // the launch failed
	exit       Exit                   // at the end, when proc and err are nil
	how        *batch.Checkpoint      // of the launched program
	allocation []batch.NodeAllocation // that it was launched with
	// prepared: the command of its checkpoint has ended, with err.
	prepared bool
}

// readyEvents are the events of one pass.
type readyEvents struct {
	ends     []note
	calls    []*call
	measured []Measurement
}

// loop owns all state until the system is closed and nothing runs.
func (s *System) loop() {
	defer close(s.done)
	defer s.timer.Stop()
	defer func() {
		s.unmeasure()
		<-s.measuring
	}()
	for !s.closing || s.active > 0 {
		s.arm()
		s.gather()
		s.pass()
	}
}

// arm sets the timer to the next instant at which something is due.
func (s *System) arm() {
	at := s.timers.next()
	if !s.retired && s.wake < at {
		at = min(at, max(s.wake, s.now.Add(minWait)))
	}
	if !s.retired {
		at = min(at, s.edge)
	}
	if at == batch.Never {
		s.timer.Stop()
		return
	}
	s.timer.Reset(max(at.Sub(s.Now()), 0).Std())
}

// gather waits for an event, and takes all that are ready.
func (s *System) gather() {
	s.ready.ends = s.ready.ends[:0]
	s.ready.calls = s.ready.calls[:0]
	if len(s.paused)+len(s.resumed)+len(s.moving) == 0 {
		select {
		case n := <-s.notes:
			s.note(n)
		case c := <-s.calls:
			s.ready.calls = append(s.ready.calls, c)
		case m := <-s.measured:
			s.ready.measured = append(s.ready.measured, m...)
		case <-s.timer.C:
		}
	}
	for len(s.ready.calls) < maxCalls && len(s.ready.measured) < maxMeasured {
		select {
		case n := <-s.notes:
			s.note(n)
			continue
		default:
		}
		select {
		case n := <-s.notes:
			s.note(n)
		case c := <-s.calls:
			s.ready.calls = append(s.ready.calls, c)
		case m := <-s.measured:
			s.ready.measured = append(s.ready.measured, m...)
		default:
			return
		}
	}
}

// note handles a message of an attempt's goroutine. A launch is handled at once, because the
// policy does not wait for it and its end may follow immediately.
func (s *System) note(n note) {
	if n.prepared {
		s.prepared(n.attempt, n.err)
		return
	}
	if n.proc == nil {
		s.ready.ends = append(s.ready.ends, n)
		return
	}
	a := n.attempt
	now := max(s.Now(), s.now)
	a.run.proc, a.run.how, a.run.launched = n.proc, n.how, now
	a.phase = batch.PhaseRunning
	s.changes.touch(a)
	if a.run.awaited {
		s.resumed = append(s.resumed, a)
	}
	if s.released {
		s.leaveAlone(a)
		return
	}
	if a.run.ending != 0 {
		s.signalEnd(now, a)
	}
	switch {
	case a.run.stopping:
		a.run.stopping = false
		s.stop(now, a)
	case a.run.next != nil:
		s.move(now, a)
	case !slices.Equal(n.allocation, a.run.allocation):
		s.applyShares(a)
	}
}

// pass is one instant of the system.
func (s *System) pass() {
	now := s.tick()
	s.applied = false
	slices.SortFunc(s.ready.ends, func(a, b note) int { return cmp.Compare(a.attempt.order, b.attempt.order) })
	for i := range s.ready.ends {
		s.finish(now, &s.ready.ends[i])
	}
	s.leave(now)
	s.arrive(now)
	s.applyResumed(now)
	s.turnNodes(now)
	s.takeMeasured(now)
	s.turnWindows(now)
	for a := s.timers.pop(now); a != nil; a = s.timers.pop(now) {
		s.expire(now, a)
	}
	for _, c := range s.ready.calls {
		s.command(now, c)
	}
	now = s.promise(now)
	s.submit(now)
	if !s.retired && (s.applied || s.wake <= now) {
		s.decide(now)
	}
	for _, c := range s.ready.calls {
		if c.query != nil {
			c.query(now)
		}
	}
	s.changes.announce()
	for _, c := range s.ready.calls {
		close(c.done)
	}
}

// apply passes an event to the policy, unless the system has faulted.
func (s *System) apply(now batch.Time, ev batch.Event) {
	if s.retired {
		return
	}
	s.policy.Apply(now, &ev)
	s.applied = true
}

// leave frees the allocation of paused attempts and informs the policy.
func (s *System) leave(now batch.Time) {
	for _, a := range s.paused {
		if !a.live() {
			continue
		}
		s.alloc.Release(a.run.allocation)
		a.run.allocation = nil
		s.apply(now, batch.Event{
			Kind: batch.Stopped, Job: a.job.Handle, Checkpoint: true, Progress: a.run.done + a.run.work,
		})
	}
	clear(s.paused)
	s.paused = s.paused[:0]
}

// applyResumed informs the policy of resumed attempts.
func (s *System) applyResumed(now batch.Time) {
	for _, a := range s.resumed {
		if a.live() {
			s.apply(now, batch.Event{Kind: batch.Resumed, Job: a.job.Handle})
		}
	}
	clear(s.resumed)
	s.resumed = s.resumed[:0]
}

// expire handles the end of a walltime or of a grace time, or the first instant at which a
// program can be asked for a checkpoint.
func (s *System) expire(now batch.Time, a *attempt) {
	if a.run.ending == 0 && a.run.due {
		s.stopAtCheckpoint(now, a)
		return
	}
	if a.run.ending == 0 && a.run.checkpointAsked {
		s.abortCheckpoint(a, "has written no checkpoint within "+a.run.how.Grace.String())
		return
	}
	if a.run.ending == 0 {
		s.end(now, a, batch.EndKilled, "walltime of "+a.shape.Walltime.String())
		return
	}
	s.log.Info("grace time expired, killing the process group", "job", a.key.Job)
	s.signal(a, syscall.SIGKILL)
}
