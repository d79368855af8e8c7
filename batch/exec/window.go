package exec

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Window is an advance reservation that exists when the system is created: one of an earlier
// system that has not ended.
type Window struct {
	Key batch.Key
	Job *batch.Job // with its Window; owned by the system after New
}

// window is an advance reservation. It lives until it has ended or was cancelled and its last
// job has ended; only then is its handle reused.
type window struct {
	key    batch.Key
	job    *batch.Job
	in     []*attempt // in the order of their submission
	open   bool
	ending bool // cancelled, and waits for the end of its last job
	closed bool // the policy has dropped it
}

// reserves asks the empty policy whether it supports windows. A policy that ignores them
// answers with the current instant.
func (s *System) reserves(now batch.Time) bool {
	from := now.Add(batch.Hour)
	return s.holds(now, &batch.Job{
		Shape:  batch.Shape{Width: 1, Walltime: batch.Hour},
		Window: &batch.Window{Start: from, End: from.Add(batch.Hour)},
	})
}

// holds reports whether the plan has room for a window, or for an agreed job before its
// deadline.
func (s *System) holds(now batch.Time, job *batch.Job) bool {
	asks := []batch.Ask{{Job: job, Shapes: []batch.Shape{job.Shape}}}
	if job.EarliestStart > now {
		asks[0].From = job.EarliestStart
	}
	out := make([]batch.Estimate, 1)
	if !s.estimate(now, asks, out) || len(out[0].Starts) == 0 || out[0].Starts[0] == batch.Never {
		return false
	}
	if job.Window != nil {
		return out[0].Starts[0] == job.Window.Start
	}
	return job.Deadline == 0 || out[0].End(0, job.Shape.Walltime) <= job.Deadline
}

// restoreWindows adds the windows of an earlier system, and opens those that have begun
// since. The plan is empty, so it is not asked.
func (s *System) restoreWindows(now batch.Time, all []Window, able bool) error {
	for i := range all {
		cmd := &batch.Command{Kind: batch.CmdReserve, Key: all[i].Key, Job: all[i].Job}
		switch {
		case !able:
			return refuse(cmd.Key, ReasonUnsupported, "this policy sets no windows aside")
		case s.windows[cmd.Key] != nil:
			return refuse(cmd.Key, ReasonBadJob, "reserved twice")
		case cmd.Job.Window.End <= now: // while there was no system
			continue
		}
		if err := s.checkWindow(now, cmd); err != nil {
			return err
		}
		s.addWindow(now, cmd)
	}
	s.turnWindows(now)
	return nil
}

// checkWindow validates reservations at the edge.
func (s *System) checkWindow(now batch.Time, cmd *batch.Command) error {
	w := cmd.Job.Window
	switch {
	case !(w.Start < w.End && now < w.End):
		return refuse(cmd.Key, ReasonBadJob, "window: %v..%v, accepted: a start before the end, and that to come",
			w.Start, w.End)
	case cmd.Job.Into != batch.NoJob:
		return refuse(cmd.Key, ReasonBadJob, "window: in another one, accepted: none")
	}
	return s.checkShape(cmd.Key, cmd.Job.Shape, cmd.Job.Memory)
}

// addWindow adds a window to the policy and schedules its start and end.
func (s *System) addWindow(now batch.Time, cmd *batch.Command) {
	w := &window{key: cmd.Key, job: cmd.Job}
	w.job.Handle = s.handle(nil)
	s.windows[w.key] = w
	s.booked = append(s.booked, w)
	s.edge = min(s.edge, max(w.job.Window.Start, now))
	s.apply(now, batch.Event{Kind: batch.Reserve, Job: w.job.Handle, Spec: w.job})
}

// carryWindow carries out a command about a window.
func (s *System) carryWindow(now batch.Time, w *window, cmd *batch.Command) error {
	switch cmd.Kind {
	case batch.CmdReserve:
		return nil
	case batch.CmdCancel:
		s.cancelWindow(now, w)
		return nil
	default:
		return refuse(cmd.Key, ReasonBadCommand, "kind: %d for an advance reservation, accepted: reserve, cancel",
			cmd.Kind)
	}
}

// windowOf returns the window a job is submitted into, nil for none.
func (s *System) windowOf(cmd *batch.Command) (*window, error) {
	if cmd.Into == (batch.Key{}) {
		return nil, nil
	}
	w := s.windows[cmd.Into]
	switch {
	case w == nil || w.ending || w.closed:
		return nil, refuse(cmd.Key, ReasonNoWindow, "its reservation %s is over, was cancelled, or is not there",
			cmd.Into.Job)
	case cmd.Kind == batch.CmdReserve:
		return nil, refuse(cmd.Key, ReasonBadJob, "into: of a job that is incoming, accepted: none")
	case cmd.Job.Shape.Width > w.job.Shape.Width:
		return nil, refuse(cmd.Key, ReasonTooWide, "width: %d, accepted: 1..%d in reservation %s", cmd.Job.Shape.Width,
			w.job.Shape.Width, cmd.Into.Job)
	}
	return w, nil
}

func (s *System) enter(a *attempt, w *window) {
	a.window = w
	w.in = append(w.in, a)
	a.job.Into = w.job.Handle
}

// quit removes an ended attempt from its window.
func (s *System) quit(now batch.Time, a *attempt) {
	w := a.window
	if w == nil {
		return
	}
	a.window = nil
	w.in = slices.DeleteFunc(w.in, func(b *attempt) bool { return a == b })
	if w.ending && !w.closed && len(w.in) == 0 {
		s.apply(now, batch.Event{Kind: batch.Cancel, Job: w.job.Handle})
		w.closed = true
	}
	s.retireWindow(w)
}

// retireWindow forgets a window that is over after its last job.
func (s *System) retireWindow(w *window) {
	if !w.closed || len(w.in) > 0 {
		return
	}
	delete(s.windows, w.key)
	s.booked = slices.DeleteFunc(s.booked, func(b *window) bool { return b == w })
	s.unused = append(s.unused, w.job.Handle)
}

// cancelWindow frees a window when the last job in it has ended; if all of them wait, that is
// now.
func (s *System) cancelWindow(now batch.Time, w *window) {
	const why = "its reservation was cancelled"
	if w.ending || w.closed {
		return
	}
	w.ending = true
	if len(w.in) == 0 {
		s.apply(now, batch.Event{Kind: batch.Cancel, Job: w.job.Handle})
		w.closed = true
		s.retireWindow(w)
		return
	}
	s.endAll(now, w, batch.EndCancelled, batch.EndCancelled, why)
}

// endAll ends all jobs of a window.
func (s *System) endAll(now batch.Time, w *window, waiting, running batch.End, why string) {
	for _, a := range slices.Clone(w.in) {
		if !a.waits() {
			s.end(now, a, running, why)
			continue
		}
		if !a.pending {
			s.apply(now, batch.Event{Kind: batch.Cancel, Job: a.job.Handle})
		}
		s.over(now, a, batch.Outcome{End: waiting, Reason: why})
	}
}

// turnWindows closes and opens the windows that are due; at one instant, closing comes first.
// A job that still waits for a window that closes never starts.
func (s *System) turnWindows(now batch.Time) {
	if s.retired || now < s.edge {
		return
	}
	for _, w := range slices.Clone(s.booked) {
		if w.closed || w.job.Window.End > now {
			continue
		}
		s.endAll(now, w, batch.EndStartFailed, batch.EndKilled, "its reservation is over")
		if !w.closed { // a cancelled window was freed with its last job
			s.apply(now, batch.Event{Kind: batch.WindowClose, Job: w.job.Handle})
			w.closed = true
		}
		s.retireWindow(w)
	}
	s.edge = batch.Never
	for _, w := range s.booked {
		if !w.closed && !w.open && !w.ending && w.job.Window.Start <= now {
			s.apply(now, batch.Event{Kind: batch.WindowOpen, Job: w.job.Handle})
			w.open = true
		}
		switch {
		case w.closed:
		case w.open || w.ending:
			s.edge = min(s.edge, w.job.Window.End)
		default:
			s.edge = min(s.edge, w.job.Window.Start)
		}
	}
}
