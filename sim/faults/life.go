package faults

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy"
	"github.com/seed-9b8f70bb/drover/server/loop"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// epochOfClocks is what a correct clock shows when a run begins.
const epochOfClocks = batch.Time(1_800_000_000) * batch.Time(batch.Second)

// scheduleFaults schedules the faults of a site.
func (s *server) scheduleFaults() {
	w := s.w
	w.every(w.sc.crashEvery, func() {
		if s.up {
			s.crash()
		}
	})
	w.every(w.sc.superEvery, func() {
		if s.host.up {
			s.host.killSupervisor()
			w.after(w.between(batch.Millisecond, 5*batch.Second), s.supervise)
		}
	})
	w.every(w.sc.forgetEvery, s.forget)
	if w.sc.lost == s.node {
		w.after(w.between(batch.Second, w.sc.chaos), s.lose)
	}
}

// crash kills the server. A write in progress is then on the disk or not.
func (s *server) crash() {
	w := s.w
	w.counts[Crash]++
	w.logf(s, nil, "the server is killed")
	if s.flight != nil {
		w.counts[CrashTorn]++
		if w.chance(500) {
			s.durable(s.flight.Writes)
		}
	}
	s.die()
	w.after(w.between(batch.Millisecond, 6*batch.Second), s.boot)
}

// die drops everything that is not on the disk.
func (s *server) die() {
	s.loop.Stop()
	s.up = false
	s.life++
	s.core, s.system, s.voided, s.calls, s.flight = nil, nil, nil, nil, nil
}

// recover restarts everything at the end of the faults.
func (s *server) recover() {
	if s.gone {
		return
	}
	if !s.up {
		s.boot()
	}
	s.supervise()
	s.core.SetDraining(false)
}

// supervise starts a supervisor if none runs, and makes it look after all attempts.
func (s *server) supervise() {
	if s.host.up || s.gone || !s.up {
		return
	}
	s.host.startSupervisor()
	for _, c := range s.host.list {
		s.host.notify(c.key)
		if a := s.system.attempts[c.key]; a != nil {
			s.system.signal(a)
		}
	}
}

// boot starts the server from the disk and the state of the host.
func (s *server) boot() {
	if s.up || s.gone {
		return
	}
	w := s.w
	if w.fault(w.sc.jump) {
		w.counts[SetBack]++
		s.skew -= w.between(0, batch.Hour)
	}
	w.logf(s, nil, "the server starts")
	s.up = true
	s.life++
	s.armed, s.ended = batch.Never, 0
	s.clock = clock{from: w.now, shows: epochOfClocks + w.now + batch.Time(s.skew), rate: w.sc.rates[s.node]}
	policy, err := policy.New(s.policy, s.config.Platform, nil)
	if err == nil {
		s.core, err = site.New(s.config)
	}
	if err != nil {
		panic(violation(err.Error()))
	}
	s.system = newSystem(s, policy, s.config.Platform)
	s.system.do(s.now(), nil)
	if !s.host.up {
		s.host.startSupervisor()
	}
	s.restoreCore()
	s.recount()
	s.recoverAttempts()
	s.loop = loop.New(s.core, s, s)
	s.plan()
	s.due = true
	s.turn()
}

// restoreCore gives a new core the records of the disk.
func (s *server) restoreCore() {
	var records []site.Record
	for n := range s.disk.pages {
		p := &s.disk.pages[n]
		if p.there && p.until == 0 {
			records = append(records, p.read())
		}
		if !p.there || !p.record.Kept {
			p.files = false // of a job while its files were being fetched
		}
	}
	if err := s.core.Restore(records); err != nil {
		panic(violation(err.Error()))
	}
}

// recoverAttempts makes the core recover and the batch system adopt the running attempts.
func (s *server) recoverAttempts() {
	unsettled := s.core.Unsettled()
	attempts := make([]site.RecoveredAttempt, len(unsettled))
	for i, key := range unsettled {
		attempts[i] = s.recoverAttempt(key)
	}
	if err := s.core.Recover(s.now(), attempts); err != nil {
		panic(violation(err.Error()))
	}
	if s.self {
		for _, c := range s.host.list {
			s.host.notify(c.key) // jobs can have started unseen
		}
	}
	for i, key := range unsettled {
		if f := &attempts[i]; !f.Won && f.Found.Phase != batch.PhaseEnded {
			s.adopt(key, f.Found.Phase)
		}
	}
}

// recoverAttempt tries to claim an attempt that may have been launched, and returns what became
// of it.
func (s *server) recoverAttempt(key batch.Key) site.RecoveredAttempt {
	if s.host.take(key) {
		s.w.check(s.w.byID[key.Job])
		return site.RecoveredAttempt{Won: true}
	}
	c := s.host.claims[key]
	f := site.RecoveredAttempt{Found: batch.Found{Key: key, Phase: batch.PhaseStarting}}
	if c.state != pending {
		f.Found.Phase = batch.PhaseRunning
		f.Found.Started = time.UnixMicro(int64(min(s.clock.read(c.started), s.now())))
	}
	if c.state == over {
		f.Found.Phase = batch.PhaseEnded
		f.Found.Ended = time.UnixMicro(int64(min(s.clock.read(c.ended), s.now())))
		f.Found.Outcome = outcome(c.seen)
	}
	return f
}

func (s *server) adopt(key batch.Key, phase batch.Phase) {
	j, err := s.core.Job(key.Job)
	if err != nil || j.Needs == nil || j.Key() != key {
		panic(violation(fmt.Sprintf("%s knows nothing of attempt %d/%d, which runs", s.name, key.Epoch, key.Attempt)))
	}
	since := s.now()
	if c := s.host.claims[key]; c.state != pending {
		since = s.clock.read(c.started)
	}
	spec := &batch.Job{Shape: j.Shape, Origin: j.Needs.Origin, Owner: j.Owner, Name: j.Service}
	s.system.adopt(s.now(), key, spec, since, phase)
}

// forget drops an ended job, as a server over its limit does.
func (s *server) forget() {
	if !s.up {
		return
	}
	jobs, _ := s.core.List(site.Filter{}, 0, 0)
	for i := range jobs {
		if j := &jobs[i]; j.Kept && j.State.Final() && s.w.chance(500) {
			f := s.w.byID[j.ID]
			s.call(f, func(batch.Time) func(bool) {
				if s.core.Forget(j.ID) == nil {
					s.w.counts[Forgotten]++
				}
				return nil
			})
			return
		}
	}
}

// lose ends a site for good.
func (s *server) lose() {
	w := s.w
	if w.calm || s.gone {
		return
	}
	w.counts[SiteLost]++
	w.logf(s, nil, "the site is lost for good")
	if s.up {
		s.die()
	}
	s.gone = true
	s.host.lose()
	for _, f := range w.truths {
		w.recordLoss(s, f)
	}
}

var errFull = errors.New("the disk is full")

// Undo implements loop.Store. It builds a new core from the disk, with a new batch system, as
// after a restart, or with the old one.
func (s *server) Undo(error) {
	s.w.counts[DiskFull]++
	s.w.logf(s, nil, "the disk is full")
	if s.w.plant == KeptQueue || s.w.chance(500) {
		s.rebuild()
	} else {
		s.die()
		s.boot()
	}
}

// rebuild builds a new core and keeps the batch system. It cancels there the attempts that the
// core has forgotten, and their keys are not reused. Otherwise a resubmitted job would not be
// queued under its key, or would get the end of another attempt.
func (s *server) rebuild() {
	core, err := site.New(s.config)
	if err != nil {
		panic(violation(err.Error()))
	}
	s.core, s.ended = core, 0
	s.restoreCore()
	s.loop.Replace(s.core)
	s.recount()
	r := loop.Rebuild{
		Core: s.core, System: s.system, Voided: s.voided,
		Order:   func(cmds []batch.Command) { s.system.do(s.now(), cmds) },
		Recover: func(j *site.Job) (site.RecoveredAttempt, error) { return s.recoverAttempt(j.Key()), nil },
	}
	if s.w.plant == KeptQueue {
		r.Core = credulous{s.core}
	}
	if err := r.Run(context.Background(), s.now()); err != nil {
		panic(violation(err.Error()))
	}
	s.voided = r.Voided
	s.plan()
	s.armed, s.due = batch.Never, true
}

// credulous is a core that accepts reports on attempts that it has undone.
type credulous struct{ *site.Site }

func (credulous) Void(batch.Key) {}
