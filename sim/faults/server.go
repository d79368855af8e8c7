package faults

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// server is one site: the core, and around it what package server is on a live
// one. The disk and the host stay when the server dies.
type server struct {
	w      *world
	node   int
	name   string
	procs  int32
	policy string
	self   bool // its batch system starts jobs by itself
	config site.Config
	disk   disk
	host   *host
	skew   batch.Duration // of the clock, at a restart
	gone   bool           // lost for good

	// One life of the server:
	up      bool
	life    int
	core    *site.Site
	system  *system
	clock   clock
	replies []func(ok bool) // of calls since the last commit
	flight  site.Effects    // of the commit under way
	waiting []func(ok bool) // its replies
	syncing bool
	armed   batch.Time // of the next tick
	ended   int64      // jobs
	plans   []batch.Command
	voided  []batch.Key // attempts that were undone
}

func newServer(w *world, i int) *server {
	s := &server{w: w, node: i, name: fmt.Sprintf("s%d", i), procs: w.sc.procs[i], policy: w.sc.policies[i], self: w.sc.selves[i]}
	s.skew = w.between(0, 10*batch.Minute)
	s.config = site.Config{
		Name: s.name, Platform: batch.Processors(s.procs), Tuning: w.sc.tuning, Attempts: w.sc.attempts, Patience: w.sc.patience,
		Speed: catalogue.Reference,
	}
	if w.chance(250) {
		s.config.Speed = 2 * catalogue.Reference
	}
	s.host = newHost(w, s)
	return s
}

// call has the core do something, and lets go of what f returns when all that
// the core knew by then is durable. id is the job that it is about, nil for none.
func (s *server) call(f *fact, do func(now batch.Time) (reply func(ok bool))) {
	if !s.up {
		return
	}
	s.recall(f)
	if reply := do(s.now()); reply != nil {
		s.replies = append(s.replies, reply)
	}
	s.settle()
}

// insist is call for news that must not be lost: it is tried until it is durable,
// or the server dies.
func (s *server) insist(f *fact, do func(now batch.Time)) {
	life := s.life
	s.call(f, func(now batch.Time) func(bool) {
		do(now)
		return func(ok bool) {
			if !ok {
				s.w.after(50*batch.Millisecond, func() {
					if s.life == life && s.up {
						s.insist(f, do)
					}
				})
			}
		}
	})
}

func (s *server) now() batch.Time { return s.clock.read(s.w.now) }

// recall brings what the disk has of a job that has left the core's memory back
// to it.
func (s *server) recall(f *fact) {
	if f == nil || s.core.Knows(f.id) {
		return
	}
	var r *site.Record
	if s.syncing {
		for i := range s.flight.Writes {
			if w := &s.flight.Writes[i]; w.Record.ID == f.id {
				r = &w.Record
			}
		}
	}
	if r == nil {
		s.disk.expire(f, s.now())
		r = s.disk.record(f)
	}
	if r == nil {
		return
	}
	if err := s.core.Recall(r); err != nil {
		panic(violation(err.Error()))
	}
}

// settle does what follows a call: plans at once, the rest by a commit.
func (s *server) settle() {
	now := s.now()
	if s.plans = s.plans[:0]; !s.self { // nothing starts here without being asked
		s.plans = s.core.Plans(s.plans)
	}
	if len(s.plans) > 0 || s.system.engine.Next() <= now {
		s.system.do(now, s.plans)
	}
	s.commit()
	s.arm()
}

// arm has the server woken when the core or the policy want it.
func (s *server) arm() {
	if !s.up {
		return
	}
	due := min(s.core.Wake(), s.system.engine.Next())
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
		s.call(nil, func(now batch.Time) func(bool) {
			s.core.Tick(now)
			return nil
		})
	})
}

// commit begins to write what has gathered, unless a write is under way.
func (s *server) commit() {
	if s.syncing {
		return
	}
	s.core.Take(s.now(), &s.flight)
	if s.flight.Empty() && len(s.replies) == 0 {
		return
	}
	s.waiting, s.replies = append(s.waiting[:0], s.replies...), s.replies[:0]
	s.tally()
	s.syncing = true
	if len(s.flight.Writes) == 0 {
		s.release()
		return
	}
	life := s.life
	skip := s.w.plant == SkipSync && s.w.chance(500)
	sync := s.w.between(batch.Microsecond, s.w.sc.slow)
	if s.w.calm {
		sync = batch.Millisecond
	}
	if skip {
		s.let()
		if s.life != life {
			return
		}
	}
	s.w.after(sync, func() {
		switch {
		case s.life != life:
		case s.w.fault(s.w.sc.full):
			s.full()
		case skip:
			s.durable()
			s.done()
		default:
			s.durable()
			s.release()
		}
	})
}

// durable puts the writes onto the disk.
func (s *server) durable() {
	for i := range s.flight.Writes {
		wr := &s.flight.Writes[i]
		f := s.w.byID[wr.Record.ID]
		p := s.disk.page(f)
		old := p.record
		had := p.there
		p.apply(wr, s.w.sc.written)
		if s.w.sc.shed {
			s.core.Shed(f.id)
		}
		s.w.wrote(s, f, had, &old, &p.record)
	}
}

// release lets go of what was waiting for the commit, and goes on with the next.
func (s *server) release() {
	life := s.life
	if s.let(); s.life == life {
		s.done()
	}
}

func (s *server) done() {
	s.syncing = false
	s.settle()
}

// let lets go of it. The server may be killed after each part of it.
func (s *server) let() {
	life := s.life
	for i, reply := range s.waiting {
		s.waiting[i] = nil
		if reply(true); s.torn(life) {
			return
		}
	}
	s.waiting = s.waiting[:0]
	if len(s.flight.Plans) > 0 {
		if s.system.do(s.now(), s.flight.Plans); s.torn(life) {
			return
		}
	}
	for _, key := range s.flight.Claims {
		if s.compete(key); s.torn(life) {
			return
		}
	}
	for i := range s.flight.Commands {
		if s.system.do(s.now(), s.flight.Commands[i:i+1]); s.torn(life) {
			return
		}
	}
	for i := range s.flight.Messages {
		if s.post(&s.flight.Messages[i]); s.torn(life) {
			return
		}
	}
	for _, id := range s.flight.Discard {
		f := s.w.byID[id]
		if j, err := s.core.Job(id); err != nil || !j.Kept { // it may have come back
			s.disk.page(f).files = false
		}
	}
	s.misbehave()
}

// torn kills the server in the midst of what it does, now and then.
func (s *server) torn(life int) bool {
	if s.life == life && s.w.fault(s.w.sc.torn) {
		s.w.counts[CrashPoint]++
		s.crash()
	}
	return s.life != life
}
