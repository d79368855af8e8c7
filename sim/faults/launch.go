package faults

import "github.com/seed-9b8f70bb/drover/batch"

// compete makes a claim for the server.
func (s *server) compete(key batch.Key) {
	life := s.life
	s.w.after(s.w.between(batch.Microsecond, s.w.sc.claim), func() {
		if s.life != life {
			return
		}
		won := s.host.take(key)
		f := s.w.byID[key.Job]
		if s.w.check(f); s.torn(life) {
			return
		}
		s.w.after(s.w.between(batch.Microsecond, s.w.sc.claim), func() {
			if s.life != life {
				return
			}
			s.doRetry(f, func(now batch.Time) { s.core.Claimed(now, key, won) })
		})
	})
}

// start launches an attempt that the policy has started, if the core lets it. A
// batch system that starts jobs by itself does not ask.
func (s *server) start(a *attempt) {
	if s.self {
		s.host.want(a.key, a.shape)
		return
	}
	s.ask(a, 10*batch.Millisecond)
}

// ask asks the core whether an attempt may be launched, until it answers.
func (s *server) ask(a *attempt, after batch.Duration) {
	life, f := s.life, s.w.byID[a.key.Job]
	s.w.after(s.w.between(batch.Microsecond, after), func() {
		if s.life != life || !s.up {
			return
		}
		s.call(f, func(now batch.Time) func(bool) {
			_, err := s.core.Starting(now, a.key)
			return func(ok bool) {
				switch {
				case s.life != life:
				case !ok:
					s.ask(a, batch.Second)
				case err != nil:
					s.w.say(s, f, "attempt %d/%d must not start: %v", a.key.Epoch, a.key.Attempt, err)
					s.finish(a, batch.EndNeverRan)
				default:
					s.host.want(a.key, a.shape)
				}
			}
		})
	})
}

// heard looks at what became of an attempt, for the batch system and the core.
func (s *server) heard(key batch.Key) {
	a := s.system.attempts[key]
	c := s.host.claims[key]
	if a == nil || c == nil || a.phase == batch.PhaseEnded {
		return
	}
	if a.phase < batch.PhaseStarting { // started by an earlier life of the batch system
		if !s.self || c.state == ofServer || c.state == pending {
			return
		}
		s.system.surprise(s.now(), a)
	}
	switch c.state {
	case ofServer, never:
		s.finish(a, batch.EndNeverRan)
	case over:
		end := c.seen
		if c.end == a.ending { // what is ended on order needs nobody who sees it
			end = a.ending
		}
		s.finish(a, end)
	case running:
		if a.phase != batch.PhaseStarting {
			return
		}
		a.phase = batch.PhaseRunning
		s.doRetry(c.f, func(now batch.Time) {
			// The core may know better: that is what it says with an error.
			_, _ = s.core.Running(min(now, s.clock.read(c.started)), key, nil, nil)
		})
		s.system.signal(a)
	}
}

// finish tells the batch system and the core how an attempt has ended.
func (s *server) finish(a *attempt, end batch.End) {
	if a.phase == batch.PhaseEnded {
		return
	}
	s.system.finish(s.now(), a)
	s.report(a.key, end)
}

// outcome is that of a process which has ended so.
func outcome(end batch.End) batch.Outcome {
	o := batch.Outcome{End: end}
	if end == batch.EndFailed {
		o.ExitCode = 1
	}
	return o
}

// report tells the core, a moment later, how an attempt has ended.
func (s *server) report(key batch.Key, end batch.End) {
	life := s.life
	s.w.after(s.w.between(batch.Microsecond, s.w.sc.launch), func() {
		if s.life != life || !s.up {
			return
		}
		s.doRetry(s.w.byID[key.Job], func(now batch.Time) {
			_, _ = s.core.Ended(now, key, outcome(end), nil) // as for Running
		})
	})
}
