package slurm

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// send hands to Slurm what may go, in order: nothing before the first look, which
// says what is there already, and nothing while Slurm does not answer. Called with
// mu held.
func (s *System) send() {
	if !s.view.first || s.view.fails > 0 || s.view.full || s.closed {
		return
	}
	for i := 0; i < len(s.outside) && s.sending < senders+preparing && s.within+s.sending < s.cfg.Most; {
		a := s.outside[i]
		if !a.ready() {
			i++
			continue
		}
		s.leaveQueue(a)
		a.stage, a.sent, a.again = sending, a.shape, false
		s.sending++
		key, shape, earliest := a.key, a.sent, a.job.EarliestStart
		s.work.Go(func() { s.submit(a, key, shape, earliest) })
	}
}

// submit is the goroutine of one submission. The shape is the attempt's own while
// it is being sent.
func (s *System) submit(a *attempt, key batch.Key, shape batch.Shape, earliest batch.Time) {
	id, err := s.handOver(key, shape, earliest)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sending--
	now := time.Now()
	a.since, a.missing = now, 0
	var refused *RefusedError
	switch {
	case err == nil:
		a.stage, a.id, a.found = inside, id, false
		s.within++
		s.log.Debug("submitted", "job", key.Job, "epoch", key.Epoch, "attempt", key.Attempt, "slurm", id)
	case errors.Is(err, errRan) || maybeDone(err):
		a.stage = unsure
		s.log.Warn("whether Slurm has a job is not known: it will be looked for, not repeated", "job", key.Job, "error", err)
	case s.life.Err() != nil:
		a.stage = unsure
	case unreachable(err):
		s.back(a)
		s.view.fails++
		s.view.why = err.Error()
		s.log.Warn("submissions wait for the controller", "error", err)
		s.poke(s.look)
	case errors.As(err, &refused) && refused.Again:
		s.back(a)
		s.log.Info("Slurm takes no more jobs for now", "job", key.Job, "error", err)
		s.view.full = true // until the next look
	case errors.Is(err, ErrNeverRan):
		s.finish(a, now, batch.Outcome{End: batch.EndNeverRan, Reason: err.Error()})
	default:
		s.log.Warn("Slurm refuses a job", "job", key.Job, "error", err)
		s.finish(a, now, batch.Outcome{End: batch.EndStartFailed, Reason: err.Error()})
	}
	if a.stage == inside || a.stage == unsure {
		s.wished(a)
	}
	s.model.pass()
	s.send()
}

// wished sees to what was wanted of an attempt while it was being sent.
func (s *System) wished(a *attempt) {
	if a.want == toRun {
		a.again = a.shape.Width != a.sent.Width || Limit(a.shape.Walltime) != Limit(a.sent.Walltime)
	}
	s.changes.touch(a)
	s.consider(a)
}

// back puts an attempt among those that wait here again.
func (s *System) back(a *attempt) {
	a.stage, a.id, a.asked, a.again = outside, "", nothing, false
	a.started, a.nodes = time.Time{}, nil
	switch a.want {
	case toCancel:
		s.finish(a, time.Now(), batch.Outcome{End: batch.EndCancelled, Reason: "cancelled"})
		return
	case toHold:
		a.phase = batch.PhaseHeld
	default:
		a.phase = batch.PhaseQueued
	}
	s.enterQueue(a)
	s.changes.touch(a)
}

// errRan says that an attempt that is to be submitted has begun already, under an
// earlier server: it is looked for instead.
var errRan = errors.New("it has begun before")

// handOver makes a script and gives it to Slurm.
func (s *System) handOver(key batch.Key, shape batch.Shape, earliest batch.Time) (string, error) {
	if s.cfg.Witness != nil {
		t, err := s.cfg.Witness.Look(key)
		switch {
		case err != nil:
			return "", errors.Join(ErrNeverRan, err)
		case t.Barred:
			return "", ErrNeverRan
		case t.Claimed || !t.Began.IsZero():
			return "", errRan
		}
	}
	script, err := s.cfg.Programs.Script(key, shape)
	if err != nil {
		return "", err
	}
	select {
	case s.slot <- struct{}{}:
		defer func() { <-s.slot }()
	case <-s.life.Done():
		return "", fmt.Errorf("%w: the server ends", ErrNeverRan)
	}
	return s.c.Submit(s.life, &Submission{
		Script: script.Text, Name: Name(key), Comment: comment(s.cfg.Site, key, script.Owner), Width: shape.Width, Limit: shape.Walltime,
		Partition: s.cfg.Partition, Account: s.cfg.Account, QOS: s.cfg.QOS, Memory: script.Memory,
		Extra: append(slices.Clone(script.Extra), s.cfg.Extra...), // the later ones win
		Dir:   script.Dir, Stdout: script.Stdout, Stderr: script.Stderr,
		Delay: max(earliest.Sub(s.Now()), 0),
	})
}
