package external

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// pollLoop polls the cluster until the System ends: one List per poll, whatever the
// number of jobs, and now and then one Nodes.
func (s *System) pollLoop() {
	pause := time.Duration(0)
	for {
		if !s.rest(pause) {
			return
		}
		began := time.Now()
		err := s.poll(s.life)
		took := time.Since(began)
		if s.life.Err() != nil {
			return
		}
		pause = max(s.cfg.Interval, 10*took)
		if err != nil {
			pause = s.pollFailed(err)
		}
	}
}

// rest waits between two polls: for pause, or shorter if a poll is wanted, but at least
// for a quarter of the interval. It returns false when the System ends.
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
	case <-s.pollNow:
	case <-s.life.Done():
		return false
	}
	return true
}

// pollFailed records a failed poll and returns the pause before the next one.
func (s *System) pollFailed(err error) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.view.fails == 0 {
		s.log.Warn("controller does not answer, job states are unknown and submissions wait", "error", err)
	}
	return s.requestFailed(err)
}

// requestFailed records a request that got no answer and returns the pause that follows
// it. Called with mu held.
func (s *System) requestFailed(err error) time.Duration {
	s.view.fails++
	s.view.why = err.Error()
	return s.pause.NextBackOff()
}

// poll asks for the queue and updates the attempts and the model.
func (s *System) poll(ctx context.Context) error {
	began := time.Now()
	jobs, err := s.cluster.List(ctx)
	if err != nil {
		return err
	}
	taken := time.Now()
	s.mu.Lock()
	age := taken.Sub(s.view.asked)
	outdated := age >= nodesInterval || s.model == nil && age >= nodesIntervalDown || s.view.asked.IsZero()
	s.mu.Unlock()
	var nodes *Nodes
	if outdated {
		if nodes, err = s.cluster.Nodes(ctx); err != nil {
			return err
		}
	}
	progress := s.readProgress(jobs)
	notices := s.notices()
	s.mu.Lock()
	if s.view.fails > 0 {
		s.log.Info("controller answers again", "after", taken.Sub(s.view.taken).Round(time.Second))
	}
	v := &s.view
	if !v.first {
		close(s.firstPoll)
	}
	v.first, v.began, v.taken, v.fails, v.full = true, began, taken, 0, false
	s.pause.Reset()
	if nodes != nil {
		v.nodes, v.asked = *nodes, taken
	}
	v.jobs = jobs
	for _, n := range notices {
		if n.Stopped {
			s.noteStopped(n.Key, n.By)
		} else {
			s.noteSecondStart(n.Key, n.By)
		}
	}
	absent := s.compare(jobs, began, progress)
	s.rebuildModel()
	s.submitReady()
	s.mu.Unlock()
	for _, n := range notices {
		if err := s.cfg.Files.Forget(n); err != nil {
			s.log.Warn("notice of an attempt not removed", "job", n.Key.Job, "error", err)
		}
	}
	return s.resolve(ctx, absent)
}

// readProgress reads the files of attempts that the cluster has started and that are
// not known to have begun.
func (s *System) readProgress(jobs []Job) map[batch.Key]Progress {
	progress := make(map[batch.Key]Progress)
	if s.cfg.Files == nil {
		return progress
	}
	for i := range jobs {
		j := &jobs[i]
		key, ok := Identify(s.cfg.Site, j.Name, j.Comment)
		if !ok || !j.started() {
			continue
		}
		s.mu.Lock()
		a := s.attempts[key]
		known := a == nil || a.begun()
		s.mu.Unlock()
		if known {
			continue
		}
		if p, err := s.cfg.Files.Read(key); err == nil {
			progress[key] = p
		}
	}
	return progress
}

// notices returns the notices that script starts left.
func (s *System) notices() []Notice {
	if s.cfg.Files == nil {
		return nil
	}
	all, err := s.cfg.Files.Notices()
	if err != nil {
		s.log.Warn("notices of attempts not read", "error", err)
	}
	return all
}

// compare updates the attempts by a poll and returns those that the cluster does not
// show. Called with mu held.
func (s *System) compare(jobs []Job, began time.Time, progress map[batch.Key]Progress) []absence {
	seen := make(map[batch.Key]*Job)
	s.queued = 0
	for i := range jobs {
		j := &jobs[i]
		key, ok := Identify(s.cfg.Site, j.Name, j.Comment)
		if !ok {
			continue
		}
		if !j.started() {
			s.queued++
		}
		a := s.attempts[key]
		if a == nil || a.stage == over {
			s.cancelStray(a, j)
			continue
		}
		if other := seen[key]; other != nil {
			j = s.dropDuplicate(a, other, j)
		}
		seen[key] = j
	}
	var absent []absence
	for _, key := range slices.SortedFunc(maps.Keys(s.attempts), compareKeys) {
		a, j := s.attempts[key], seen[key]
		switch {
		case !a.live() || a.stage == submitting:
		case j != nil:
			s.observe(a, j, progress[key])
		case a.stage == submitted && began.After(a.since):
			a.missed++
			absent = append(absent, absence{key: key, id: a.id, polls: a.missed})
		case a.stage == unconfirmed && began.After(a.since.Add(unconfirmedAfter)):
			if a.missed++; a.missed > 1 {
				absent = append(absent, absence{key: key, polls: a.missed, unconfirmed: true})
			}
		}
	}
	return absent
}

// dropDuplicate decides which of two jobs of one attempt counts: the one that has
// begun, or else the older one. A duplicate that waits is cancelled; it would find the
// attempt claimed.
func (s *System) dropDuplicate(a *attempt, first, second *Job) *Job {
	keep, drop := first, second
	if !first.started() && (second.started() || second.ID == a.id) {
		keep, drop = second, first
	}
	s.log.Error("attempt is in the cluster twice",
		"job", a.key.Job, "attempt", a.key.Attempt, "kept", keep.ID, "dropped", drop.ID)
	if !drop.started() {
		s.cancelNamed(drop.ID, drop.Name)
	}
	return keep
}

// cancelStray cancels a job of this site that waits in the cluster although its attempt
// was cancelled, moved or is unknown. It would find its attempt claimed. A stray that
// runs is left alone.
func (s *System) cancelStray(a *attempt, j *Job) {
	if j.started() || a == nil && time.Since(s.base) < strayAfter {
		return
	}
	switch {
	case a == nil:
		s.log.Warn("cancelling a job of an earlier server process", "id", j.ID, "name", j.Name)
	case !a.twice:
		a.twice = true
		s.log.Error("cancelling a job of an attempt that is over", "job", a.key.Job, "attempt", a.key.Attempt, "id",
			j.ID)
	}
	s.cancelNamed(j.ID, j.Name)
}

// cancelNamed cancels a job in the background.
func (s *System) cancelNamed(id, name string) {
	s.work.Go(func() {
		if err := s.cluster.CancelNamed(s.life, id, name); err != nil {
			s.log.Warn("cancel failed", "id", id, "name", name, "error", err)
		}
	})
}

// observe updates an attempt by its job in the cluster's queue.
func (s *System) observe(a *attempt, j *Job, p Progress) {
	if a.stage != submitted || a.id != j.ID {
		s.identified(a, j)
	}
	a.missed = 0
	begun := !p.Began.IsZero() || s.cfg.Files == nil || a.begun()
	phase := j.phase(begun)
	if phase == batch.PhaseHeld && j.AdminHold && a.desired == wantRun {
		phase = batch.PhaseQueued // not Drover's to release
	}
	if a.requeued = a.begun() && phase < batch.PhaseStarting; a.requeued {
		s.noteSecondStart(a.key, j.ID)
		phase = a.phase
	}
	if phase != a.phase {
		s.changePhase(a, phase, j, p)
	}
	s.schedule(a)
}

// identified records under which ID the cluster has an attempt.
func (s *System) identified(a *attempt, j *Job) {
	switch {
	case a.stage == local: // an earlier server process submitted it
		s.leaveQueue(a)
		a.sent = batch.Shape{Width: j.Processors, Walltime: j.Limit}
		if s.cluster.Limit(a.shape.Walltime) == j.Limit {
			a.sent.Walltime = a.shape.Walltime
		}
		a.resubmit = a.sent != a.shape
	case a.stage == unconfirmed:
		s.log.Debug("unconfirmed submission found", "job", a.key.Job, "attempt", a.key.Attempt, "id", j.ID)
	}
	if a.id != "" && a.id != j.ID {
		s.log.Error("attempt has another ID in the cluster", "job", a.key.Job, "was", a.id, "is", j.ID)
	}
	if a.id != j.ID {
		a.lastAction = 0 // it was about another job
	}
	a.stage, a.id, a.since = submitted, j.ID, s.view.began
}

// changePhase moves an attempt to another phase.
func (s *System) changePhase(a *attempt, phase batch.Phase, j *Job, p Progress) {
	if phase >= batch.PhaseStarting && a.started.IsZero() {
		a.started = earlier(j.Start, time.Now())
		if !p.Began.IsZero() {
			a.started = earlier(a.started, p.Began)
		}
		a.nodes = j.Nodes
		if a.resubmit { // too late
			a.resubmit, a.shape = false, a.sent
		}
	}
	if phase < batch.PhaseStarting {
		a.started, a.nodes = time.Time{}, nil
	}
	a.phase = phase
	s.changes.touch(a)
}

// noteSecondStart reports once that the cluster started an attempt again that had
// begun, or was about to: its state is older than that start. An attempt that has ended
// meanwhile, or belongs to an earlier server process, is only reported. Called with mu
// held.
func (s *System) noteSecondStart(key batch.Key, by string) {
	a := s.attempts[key]
	if a != nil && a.twice {
		return
	}
	if a != nil {
		a.twice = true
	}
	s.log.Error("second start of an attempt that has begun, it runs nothing",
		"job", key.Job, "epoch", key.Epoch, "attempt", key.Attempt, "second_start", by)
}

// earlier returns the first of two instants that are known.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
