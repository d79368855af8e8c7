package external

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// submitReady submits attempts of the local queue in order, as many as MaxQueued
// allows. It waits for the first poll, which shows what the cluster already has, and
// while the cluster does not answer. Called with mu held.
func (s *System) submitReady() {
	if !s.view.first || s.view.fails > 0 || s.view.full || s.closed {
		return
	}
	for i := 0; i < len(s.queue); {
		if s.submissions >= maxSubmissions+maxPrepared || s.queued+s.submissions >= s.cfg.MaxQueued {
			return
		}
		a := s.queue[i]
		if !a.submittable() {
			i++
			continue
		}
		s.leaveQueue(a)
		a.stage, a.sent, a.resubmit = submitting, a.shape, false
		s.submissions++
		key, shape, earliest := a.key, a.sent, a.job.EarliestStart
		s.work.Go(func() { s.submit(a, key, shape, earliest) })
	}
}

// submit is the goroutine of one submission.
func (s *System) submit(a *attempt, key batch.Key, shape batch.Shape, earliest batch.Time) {
	id, err := s.handOver(key, shape, earliest)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.submissions--
	now := time.Now()
	a.since, a.missed = now, 0
	refused, _ := errors.AsType[*RefusedError](err)
	switch {
	case err == nil:
		a.stage, a.id = submitted, id
		s.queued++
		s.log.Debug("submitted", "job", key.Job, "epoch", key.Epoch, "attempt", key.Attempt, "id", id)
	case errors.Is(err, errBegan) || maybeDone(err):
		a.stage = unconfirmed
		s.log.Warn("submission unconfirmed, polls will look for the job", "job", key.Job, "error", err)
	case s.life.Err() != nil:
		a.stage = unconfirmed
	case unreachable(err):
		s.requeue(a)
		s.requestFailed(err)
		s.log.Warn("controller does not answer, submissions wait", "error", err)
		wake(s.pollNow)
	case refused != nil && refused.Again:
		s.requeue(a)
		s.log.Info("submission refused for now", "job", key.Job, "error", err)
		s.view.full = true
	case errors.Is(err, ErrNeverRan):
		s.finish(a, now, batch.Outcome{End: batch.EndNeverRan, Reason: err.Error()})
	default:
		s.log.Warn("submission refused", "job", key.Job, "error", err)
		s.finish(a, now, batch.Outcome{End: batch.EndStartFailed, Reason: err.Error()})
	}
	if a.stage == submitted || a.stage == unconfirmed {
		// Commands that came during the submission take effect now.
		if a.desired == wantRun {
			a.resubmit = !s.sameInCluster(a.shape, a.sent)
		}
		s.changes.touch(a)
		s.schedule(a)
	}
	s.model.pass()
	s.submitReady()
}

// requeue returns an attempt that is not in the cluster to the local queue.
func (s *System) requeue(a *attempt) {
	a.stage, a.id, a.lastAction, a.resubmit = local, "", 0, false
	a.started, a.nodes = time.Time{}, nil
	switch a.desired {
	case wantCancelled:
		s.finishCancelled(a)
		return
	case wantHeld:
		a.phase = batch.PhaseHeld
	default:
		a.phase = batch.PhaseQueued
	}
	s.enterQueue(a)
	s.changes.touch(a)
}

// errBegan says that an attempt began under an earlier server process: polls look for
// it instead of a second submission.
var errBegan = errors.New("it began under an earlier server process")

// handOver makes the script of an attempt and submits it.
func (s *System) handOver(key batch.Key, shape batch.Shape, earliest batch.Time) (string, error) {
	if s.cfg.Files != nil {
		p, err := s.cfg.Files.Read(key)
		switch {
		case err != nil:
			return "", errors.Join(ErrNeverRan, err)
		case p.Barred:
			return "", ErrNeverRan
		case p.Claimed || !p.Began.IsZero():
			return "", errBegan
		}
	}
	script, err := s.cfg.Programs.Script(key, shape)
	if err != nil {
		return "", err
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-s.life.Done():
		return "", fmt.Errorf("%w: the server is stopping", ErrNeverRan)
	}
	return s.cluster.Submit(s.life, &Submission{
		Script: script, Name: Name(key), Comment: Comment(s.cfg.Site, key, script.Owner),
		Width: shape.Width, Limit: shape.Walltime, Delay: max(earliest.Sub(s.Now()), 0),
	})
}
