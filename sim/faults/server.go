package faults

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/loop"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// server is one site: the core under the loop of a live site. The disk and the host outlive the
// server. It implements loop.Store and loop.Outlet.
type server struct {
	w      *world
	node   int
	name   string
	procs  int32
	policy string
	self   bool // its batch system starts jobs unseen
	config site.Config
	disk   disk
	host   *host
	skew   batch.Duration // error of the clock, set at a restart
	gone   bool           // lost for good

	// State of one life of the server:
	up     bool
	life   int
	core   *site.Site
	system *system
	clock  clock
	loop   *loop.Loop
	calls  []loop.Call   // for the next turn
	due    bool          // a turn is due even without a call
	flight *site.Effects // of the commit in progress; nil for none
	armed  batch.Time    // time of the next tick
	ended  int64         // jobs that have ended
	plans  []batch.Command
	voided []batch.Key // attempts that were undone
}

func newServer(w *world, i int) *server {
	s := &server{
		w: w, node: i, name: fmt.Sprintf("s%d", i), procs: w.sc.procs[i], policy: w.sc.policies[i],
		self: w.sc.selves[i],
	}
	s.skew = w.between(0, 10*batch.Minute)
	s.config = site.Config{
		Name: s.name, Platform: batch.Processors(s.procs), Tuning: w.sc.tuning, Attempts: w.sc.attempts,
		Patience: w.sc.patience,
		Speed:    catalogue.Reference,
	}
	if w.chance(250) {
		s.config.Speed = 2 * catalogue.Reference
	}
	s.host = newHost(w, s)
	return s
}

// call queues a call of the core. What do returns is called once everything that the core knew
// by then is durable. f is the job of the call, or nil.
func (s *server) call(f *jobTruth, do func(now batch.Time) (reply func(ok bool))) {
	if !s.up {
		return
	}
	life := s.life
	var reply func(bool)
	s.calls = append(s.calls, loop.Call{
		Writes: true,
		Do: func() {
			s.recall(f)
			reply = do(s.now())
			s.plan()
		},
		Done: func(err error) {
			if reply == nil || err == nil && s.life != life {
				return
			}
			if reply(err == nil); err == nil {
				s.torn(life)
			}
		},
	})
	s.turn()
}

// doRetry calls the core until the call is durable or the server dies.
func (s *server) doRetry(f *jobTruth, do func(now batch.Time)) {
	life := s.life
	s.call(f, func(now batch.Time) func(bool) {
		do(now)
		return func(ok bool) {
			if !ok {
				s.w.after(50*batch.Millisecond, func() {
					if s.life == life && s.up {
						s.doRetry(f, do)
					}
				})
			}
		}
	})
}

func (s *server) now() batch.Time { return s.clock.read(s.w.now) }

// recall gives the core the record of a job that it has dropped from memory.
func (s *server) recall(f *jobTruth) {
	if f == nil || s.core.Knows(f.id) {
		return
	}
	s.disk.expire(f, s.now())
	r := s.disk.record(f)
	if r == nil {
		return
	}
	if err := s.core.Recall(r); err != nil {
		panic(violation(err.Error()))
	}
}

// plan passes new jobs to the batch system before they are durable, as a live server does: that
// system asks before it starts a job. A batch system that starts jobs unseen gets them through
// Order.
func (s *server) plan() {
	if s.self {
		return
	}
	if s.plans = s.core.Plans(s.plans[:0]); len(s.plans) > 0 {
		s.system.do(s.now(), s.plans)
	}
}

// turn runs turns until no call waits or a commit is in progress.
func (s *server) turn() {
	for s.up && !s.loop.Busy() && (s.due || len(s.calls) > 0) {
		calls := s.calls
		s.calls, s.due = nil, false
		s.loop.Turn(s.now(), calls)
	}
	s.arm()
}

// arm schedules the next wake-up of the core and the policy.
func (s *server) arm() {
	if !s.up {
		return
	}
	due := s.system.engine.Next()
	if !s.loop.Busy() {
		due = min(due, s.loop.Wake())
	}
	if due == batch.Never {
		return
	}
	at := max(s.clock.when(due), s.w.now+1)
	if at >= s.armed {
		return
	}
	s.armed = at
	life := s.life
	s.w.queue.add(at, func() {
		if s.life != life || !s.up || s.armed != at {
			return
		}
		s.armed = batch.Never
		now := s.now()
		if s.system.engine.Next() <= now {
			s.system.do(now, nil)
		}
		s.due = s.due || !s.loop.Busy() && s.loop.Wake() <= now
		s.turn()
	})
}

// Refuses implements loop.Store: a full disk shows only when a commit fails.
func (s *server) Refuses(batch.Time) error { return nil }

// Commit implements loop.Store: a sync takes time and sometimes fails.
func (s *server) Commit(fx *site.Effects, done func(error)) {
	s.tally(fx.Writes)
	if len(fx.Writes) == 0 {
		done(nil)
		return
	}
	life := s.life
	sync := s.w.between(batch.Microsecond, s.w.sc.slow)
	if s.w.calm {
		sync = batch.Millisecond
	}
	if s.w.plant == SkipSync && s.w.chance(500) {
		late := slices.Clone(fx.Writes)
		s.w.after(sync, func() {
			if s.life == life {
				s.durable(late)
			}
		})
		done(nil)
		return
	}
	s.flight = fx
	s.w.after(sync, func() {
		if s.life != life {
			return
		}
		s.flight = nil
		if s.w.fault(s.w.sc.full) {
			done(errFull)
		} else {
			s.durable(fx.Writes)
			done(nil)
		}
		if s.life == life {
			s.turn()
		}
	})
}

// durable writes to the disk.
func (s *server) durable(writes []site.Write) {
	for i := range writes {
		wr := &writes[i]
		f := s.w.byID[wr.Record.ID]
		p := s.disk.page(f)
		old := p.record
		had := p.there
		p.apply(wr, s.w.sc.written)
		s.w.wrote(s, f, had, &old, &p.record)
	}
}

// Order implements loop.Outlet. The server can be killed between two jobs.
func (s *server) Order(cmds []batch.Command) {
	life := s.life
	for len(cmds) > 0 {
		n := 1
		for n < len(cmds) && cmds[n].Key == cmds[0].Key {
			n++
		}
		if s.system.do(s.now(), cmds[:n]); s.torn(life) {
			return
		}
		cmds = cmds[n:]
	}
}

// Claim implements loop.Outlet.
func (s *server) Claim(attempt batch.Key) {
	s.compete(attempt)
	s.torn(s.life)
}

// Send implements loop.Outlet.
func (s *server) Send(m *site.Message) {
	s.post(m)
	s.torn(s.life)
}

// Watch implements loop.Outlet: no simulated job waits for one of another site.
func (s *server) Watch([]batch.JobID) {}

// Discard implements loop.Outlet.
func (s *server) Discard(id batch.JobID) {
	if j, err := s.core.Job(id); err != nil || !j.Kept { // it can have come back
		s.disk.page(s.w.byID[id]).files = false
	}
}

// Written implements loop.Outlet.
func (s *server) Written(w *site.Write) { s.misbehave(&w.Record) }

// torn sometimes kills the server in the middle of its work. It reports whether this life of
// the server has ended.
func (s *server) torn(life int) bool {
	if s.life == life && s.w.fault(s.w.sc.torn) {
		s.w.counts[CrashPoint]++
		s.crash()
	}
	return s.life != life
}

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

// start launches an attempt that the policy has started, if the core permits it. A batch system
// that starts jobs unseen does not ask.
func (s *server) start(a *attempt) {
	if s.self {
		s.host.requestLaunch(a.key, a.shape)
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
					s.w.logf(s, f, "attempt %d/%d must not start: %v", a.key.Epoch, a.key.Attempt, err)
					s.finish(a, batch.EndNeverRan)
				default:
					s.host.requestLaunch(a.key, a.shape)
				}
			}
		})
	})
}

// observe passes the state of an attempt to the batch system and the core.
func (s *server) observe(key batch.Key) {
	a := s.system.attempts[key]
	c := s.host.claims[key]
	if a == nil || c == nil || a.phase == batch.PhaseEnded {
		return
	}
	if a.phase < batch.PhaseStarting { // started in an earlier life of the batch system
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
		if c.end == a.ending { // the attempt was ended on command, so its end is known
			end = a.ending
		}
		s.finish(a, end)
	case running:
		if a.phase != batch.PhaseStarting {
			return
		}
		a.phase = batch.PhaseRunning
		s.doRetry(c.f, func(now batch.Time) {
			// The core returns an error if it has newer information.
			_, _ = s.core.Running(min(now, s.clock.read(c.started)), key, nil, nil)
		})
		s.system.signal(a)
	}
}

// finish reports the end of an attempt to the batch system and the core.
func (s *server) finish(a *attempt, end batch.End) {
	if a.phase == batch.PhaseEnded {
		return
	}
	s.system.finish(s.now(), a)
	s.report(a.key, end)
}

// outcome is the outcome of a process with this end.
func outcome(end batch.End) batch.Outcome {
	o := batch.Outcome{End: end}
	if end == batch.EndFailed {
		o.ExitCode = 1
	}
	return o
}

// report reports the end of an attempt to the core after a delay.
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
