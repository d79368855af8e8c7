package slurm

import (
	"context"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// watchSlurm looks at the queue, again and again. One look is one squeue, whatever
// the number of jobs, and now and then one sinfo.
func (s *System) watchSlurm() {
	pause := time.Duration(0)
	for {
		if !s.rest(pause) {
			return
		}
		began := time.Now()
		err := s.lookOnce(s.life)
		took := time.Since(began)
		if s.life.Err() != nil {
			return
		}
		pause = max(s.cfg.Interval, 10*took)
		if err != nil {
			pause = min(s.failed(err), longestInterval)
		}
	}
}

// rest waits between two looks: no longer than pause, and at least a quarter of the
// interval even if a look is wanted sooner.
func (s *System) rest(pause time.Duration) bool {
	if pause <= 0 {
		return s.life.Err() == nil
	}
	short := time.NewTimer(min(pause, s.cfg.Interval/4))
	defer short.Stop()
	select {
	case <-short.C:
	case <-s.life.Done():
		return false
	}
	long := time.NewTimer(pause - min(pause, s.cfg.Interval/4))
	defer long.Stop()
	select {
	case <-long.C:
	case <-s.look:
	case <-s.life.Done():
		return false
	}
	return true
}

// failed notes a look without an answer, and returns how long to wait for the next.
func (s *System) failed(err error) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.view.fails == 0 {
		s.log.Warn("Slurm does not answer: what its jobs do is not known, and nothing is submitted", "error", err)
	}
	s.view.fails++
	s.view.why = err.Error()
	return s.cfg.Interval << min(s.view.fails, 10)
}

// lookOnce asks for the queue and works out what has changed.
func (s *System) lookOnce(ctx context.Context) error {
	began := time.Now()
	rows, err := s.c.Queue(ctx, "")
	if err != nil {
		return err
	}
	taken := time.Now()
	s.mu.Lock()
	age := taken.Sub(s.view.asked)
	old := age >= nodesEvery || s.model == nil && age >= nodesSoon || s.view.asked.IsZero()
	s.mu.Unlock()
	var machine *cluster
	if old {
		if machine, err = s.c.cluster(ctx, s.cfg.Partition); err != nil {
			return err
		}
	}
	begun := s.testimonies(rows)
	again := s.startedAgain()
	s.mu.Lock()
	if s.view.fails > 0 {
		s.log.Info("Slurm answers again", "after", taken.Sub(s.view.taken).Round(time.Second))
	}
	v := &s.view
	if !v.first {
		close(s.seen)
	}
	v.first, v.began, v.taken, v.fails, v.full = true, began, taken, 0, false
	if machine != nil {
		v.nodes, v.parts, v.asked = machine.nodes, machine.parts, taken
	}
	v.rows = rows
	for _, start := range again {
		if start.Stopped {
			s.stopped(start.Key, start.By)
		} else {
			s.twice(start.Key, start.By)
		}
	}
	gone := s.compare(rows, began, begun)
	s.remodel()
	s.send()
	s.mu.Unlock()
	for _, start := range again {
		if err := s.cfg.Witness.Forget(start); err != nil {
			s.log.Warn("word of a start that was reported", "job", start.Key.Job, "error", err)
		}
	}
	return s.settle(ctx, gone)
}

// testimonies looks at what attempts have written that Slurm says are started, and
// that are not known to have begun.
func (s *System) testimonies(rows []Row) map[batch.Key]Testimony {
	said := make(map[batch.Key]Testimony)
	if s.cfg.Witness == nil {
		return said
	}
	for i := range rows {
		r := &rows[i]
		key, ok := identify(s.cfg.Site, r.Name, r.Comment)
		if !ok || phaseOf(r, true) < batch.PhaseStarting {
			continue
		}
		s.mu.Lock()
		a := s.attempts[key]
		known := a == nil || a.begun()
		s.mu.Unlock()
		if known {
			continue
		}
		if t, err := s.cfg.Witness.Look(key); err == nil {
			said[key] = t
		}
	}
	return said
}

// compare tells attempts from what a look has shown, and returns those that Slurm
// does not have any more. Called with mu held.
func (s *System) compare(rows []Row, began time.Time, said map[batch.Key]Testimony) []gone {
	seen := make(map[batch.Key]*Row)
	s.within = 0
	for i := range rows {
		r := &rows[i]
		key, ok := identify(s.cfg.Site, r.Name, r.Comment)
		if !ok {
			continue
		}
		if phaseOf(r, true) < batch.PhaseStarting {
			s.within++
		}
		a := s.attempts[key]
		if a == nil || a.stage == over {
			s.stray(a, r)
			continue // of an earlier life: it is recognised when it is submitted
		}
		if other := seen[key]; other != nil {
			r = s.double(a, other, r)
		}
		seen[key] = r
	}
	var left []gone
	for key, a := range s.attempts {
		r := seen[key]
		switch {
		case !a.live() || a.stage == sending:
		case r != nil:
			s.see(a, r, said[key])
		case a.stage == inside && began.After(a.since):
			a.missing++
			left = append(left, gone{key: key, id: a.id, missing: a.missing})
		case a.stage == unsure && began.After(a.since.Add(settling)):
			if a.missing++; a.missing > 1 {
				left = append(left, gone{key: key, missing: a.missing, unsure: true})
			}
		}
	}
	return left
}

// settling is how long a submission without an answer may take to appear.
const settling = 2 * time.Second

// double decides which of two jobs that are the same attempt is the one: what has
// begun, or else the older. The other one would find at its start that the attempt
// is claimed; it is taken out before.
func (s *System) double(a *attempt, r, q *Row) *Row {
	keep, drop := r, q
	if phaseOf(q, true) >= batch.PhaseStarting && phaseOf(r, true) < batch.PhaseStarting || q.ID == a.id && phaseOf(r, true) < batch.PhaseStarting {
		keep, drop = q, r
	}
	s.log.Error("Slurm has an attempt twice", "job", a.key.Job, "attempt", a.key.Attempt, "kept", keep.ID, "dropped", drop.ID)
	if phaseOf(drop, true) < batch.PhaseStarting {
		id, name := drop.ID, drop.Name
		s.work.Go(func() {
			if err := s.c.CancelNamed(s.life, id, name); err != nil {
				s.log.Warn("a job that Slurm has twice", "slurm", id, "error", err)
			}
		})
	}
	return keep
}

// strayAfter is how long a new system leaves jobs alone that wait in Slurm and that
// nobody has told it of: a server that starts again has told all it knows by then.
const strayAfter = time.Minute

// stray takes out of Slurm what waits there for nothing: the job was cancelled, or
// is at another site. It would find its claim taken. What runs is left alone.
func (s *System) stray(a *attempt, r *Row) {
	if phaseOf(r, true) >= batch.PhaseStarting || a == nil && time.Since(s.base) < strayAfter {
		return
	}
	id, name := r.ID, r.Name
	switch {
	case a == nil:
		s.log.Warn("a job of an earlier life waits in Slurm for nothing: it is cancelled", "slurm", id, "name", name)
	case !a.twice:
		a.twice = true
		s.log.Error("Slurm would run an attempt that is over: it is cancelled", "job", a.key.Job, "attempt", a.key.Attempt, "slurm", id)
	}
	s.work.Go(func() {
		if err := s.c.CancelNamed(s.life, id, name); err != nil {
			s.log.Warn("cancel of a stray job", "slurm", id, "error", err)
		}
	})
}

// recognise looks for an attempt in what the last look has shown.
func (s *System) recognise(a *attempt) {
	if !s.view.first {
		return
	}
	for i := range s.view.rows {
		r := &s.view.rows[i]
		if key, ok := identify(s.cfg.Site, r.Name, r.Comment); ok && key == a.key {
			s.see(a, r, Testimony{})
			return
		}
	}
}

// see takes over what the queue says about an attempt.
func (s *System) see(a *attempt, r *Row, t Testimony) {
	if a.stage != inside || a.id != r.ID {
		if a.stage == outside { // it was there all the time
			s.leaveQueue(a)
			a.sent = batch.Shape{Width: r.CPUs, Walltime: r.Limit}
			if Limit(a.shape.Walltime) == r.Limit {
				a.sent.Walltime = a.shape.Walltime
			}
			a.again = a.sent != a.shape
		}
		if a.id != "" && a.id != r.ID {
			s.log.Error("Slurm has an attempt under another number", "job", a.key.Job, "was", a.id, "is", r.ID)
		}
		if a.id != r.ID {
			a.asked = nothing // it was another one that was asked about
		}
		a.stage, a.id, a.since = inside, r.ID, s.view.began
	}
	a.missing = 0
	begun := !t.Began.IsZero() || s.cfg.Witness == nil || a.begun()
	phase := phaseOf(r, begun)
	if phase == batch.PhaseHeld && r.Reason == "JobHeldAdmin" && a.want == toRun {
		phase = batch.PhaseQueued // not ours to release
	}
	if a.back = a.begun() && phase < batch.PhaseStarting; a.back {
		s.twice(a.key, r.ID)
		phase = a.phase
	}
	if phase != a.phase {
		s.move(a, phase, r, t)
	}
	s.consider(a)
}

// move notes that an attempt has come to another phase.
func (s *System) move(a *attempt, phase batch.Phase, r *Row, t Testimony) {
	if phase >= batch.PhaseStarting && a.started.IsZero() {
		a.started = earlier(r.Start, time.Now())
		if !t.Began.IsZero() {
			a.started = earlier(a.started, t.Began)
		}
		a.nodes = expand(r.NodeList)
		if a.again { // too late
			a.again, a.shape = false, a.sent
		}
	}
	if phase < batch.PhaseStarting {
		a.started, a.nodes = time.Time{}, nil
	}
	a.phase = phase
	s.changes.touch(a)
}

// earlier returns the first of two instants that are known.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
