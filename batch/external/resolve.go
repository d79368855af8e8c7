package external

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// absence is an attempt that the cluster's queue no longer shows.
type absence struct {
	key         batch.Key
	id          string
	polls       int  // that missed it, in a row
	unconfirmed bool // the cluster may never have had it
}

// resolve finds out what became of absent attempts: from the controller, with one
// Lookup for all, from History, and from the attempts' own files.
func (s *System) resolve(ctx context.Context, absent []absence) error {
	if len(absent) == 0 {
		return nil
	}
	known, open, err := s.records(ctx, absent)
	if err != nil {
		return err
	}
	for _, m := range absent {
		var p Progress
		if s.cfg.Files != nil {
			if p, err = s.cfg.Files.Read(m.key); err != nil {
				s.log.Warn("attempt file not read", "job", m.key.Job, "error", err)
				continue
			}
		}
		r, ok := known[m.key]
		switch {
		case ok:
			s.resolveKnown(m, &r, p)
		case !open[m.key] || !s.awaitsAccounting(m, p):
			s.resolveUnknown(m, p)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.model.pass()
	s.submitReady()
	return nil
}

// records asks the controller and, for jobs that it has forgotten, the history. A job
// counts only if its name or comment identifies the attempt. open are the attempts
// with records that can still change.
func (s *System) records(
	ctx context.Context, absent []absence,
) (known map[batch.Key]Record, open map[batch.Key]bool, err error) {
	known = make(map[batch.Key]Record)
	idOf := make(map[batch.Key]string, len(absent))
	take := func(list []Record) {
		for _, r := range list {
			key, ok := Identify(s.cfg.Site, r.Name, r.Comment)
			if id, asked := idOf[key]; !ok || !asked || r.ID != id && r.Over() && len(r.Nodes) == 0 {
				continue // perhaps cancelled to be submitted again with another shape
			}
			if old, twice := known[key]; !twice || s.moreSpecific(&r, &old) {
				known[key] = r
			}
		}
	}
	var ids, names []string
	for _, m := range absent {
		if idOf[m.key] = m.id; m.id != "" {
			ids = append(ids, m.id)
		} else {
			names = append(names, Name(m.key))
		}
	}
	list, err := s.cluster.Lookup(ctx, ids, names)
	if err != nil {
		return nil, nil, err
	}
	take(list)
	var forgotten []absence
	for _, m := range absent {
		if _, ok := known[m.key]; !ok {
			forgotten = append(forgotten, m)
		}
	}
	list, open, err = s.history(ctx, forgotten)
	take(list)
	return known, open, err
}

// moreSpecific reports whether one of two records of an attempt says more: it has not
// ended, or the other one is a start that found the attempt claimed.
func (s *System) moreSpecific(r, other *Record) bool {
	if r.Over() != other.Over() {
		return !r.Over()
	}
	return s.cfg.ClaimedExit != 0 && other.Code == s.cfg.ClaimedExit
}

// resolveKnown decides about an attempt by the record that the cluster has of it.
func (s *System) resolveKnown(m absence, r *Record, p Progress) {
	s.mu.Lock()
	a := s.attempts[m.key]
	if a == nil || a.stage != submitted && a.stage != unconfirmed || !r.Over() {
		if a != nil {
			a.missed = 0
		}
		s.mu.Unlock()
		return
	}
	if a.resubmit && a.desired != wantCancelled && r.neverPlaced() && !p.Claimed {
		s.requeue(a)
		s.mu.Unlock()
		return
	}
	withFiles := s.cfg.Files != nil
	if withFiles && s.cfg.ClaimedExit != 0 && r.Code == s.cfg.ClaimedExit && !p.Began.IsZero() && p.Ended.IsZero() {
		s.noteSecondStart(m.key, r.ID)
	}
	c := evidence{
		record: r, withFiles: withFiles, title: s.title, limit: s.cluster.Limit(a.sent.Walltime),
		cancelled: a.desired == wantCancelled, twice: a.twice,
	}
	s.mu.Unlock()
	c.progress = p
	verdict, out := c.judge()
	if verdict == neverBegan && withFiles && !p.Barred {
		// It can get another attempt only if this one can never begin.
		var err error
		if p, err = s.cfg.Files.Claim(m.key); err != nil {
			s.log.Error("claim of an attempt that was not launched failed", "job", m.key.Job, "error", err)
			return // the next poll tries again
		}
		if c.progress = p; !p.Barred {
			verdict, out = c.judge()
		}
	}
	if m.polls < enoughPolls && (verdict == undecided || verdict == neverBegan && !p.Barred && withFiles) {
		wake(s.pollNow)
		return
	}
	if verdict == decided && out.End == batch.EndLost && r.unobserved() && !s.confirmStopped(m, p) {
		return
	}
	if verdict == neverBegan {
		s.log.Error("job ended without running",
			"job", m.key.Job, "id", r.ID, "state", r.State, "nodes", r.Nodes, "reason", out.Reason)
	}
	s.conclude(m.key, r, p, out)
}

// resolveUnknown decides about an attempt that the cluster knows nothing about: it was
// never there, ended long ago, or was lost.
func (s *System) resolveUnknown(m absence, p Progress) {
	switch {
	case !p.Ended.IsZero():
		s.conclude(m.key, nil, p, p.Outcome)
	case m.unconfirmed && !p.Claimed && !p.Barred:
		s.mu.Lock()
		if a := s.attempts[m.key]; a != nil && a.stage == unconfirmed {
			s.log.Info("submission did not arrive, it is repeated", "job", m.key.Job)
			s.requeue(a)
		}
		s.mu.Unlock()
	case m.polls < enoughPolls:
		wake(s.pollNow)
	case s.cfg.Files == nil:
		s.mu.Lock()
		a := s.attempts[m.key]
		out := batch.Outcome{End: batch.EndNeverRan, Reason: s.title + " has lost job " + m.id}
		if a != nil && !a.waits() {
			out = batch.Outcome{End: batch.EndLost, Reason: s.title + " has forgotten job " + m.id}
		}
		s.mu.Unlock()
		s.conclude(m.key, nil, p, out)
	default:
		s.claimLost(m, p)
	}
}

// claimLost tries to claim an attempt that the cluster does not know: the cluster lost
// the job, or runs it without knowing.
func (s *System) claimLost(m absence, p Progress) {
	if p.Began.IsZero() {
		var err error
		if p, err = s.cfg.Files.Claim(m.key); err != nil {
			s.log.Error("claim of a lost attempt failed", "job", m.key.Job, "error", err)
			return
		}
	}
	switch {
	case p.Barred:
		s.log.Error("accepted job was lost before it ran", "job", m.key.Job, "id", m.id)
		reason := s.title + " has lost job " + m.id + ", which it had accepted"
		s.conclude(m.key, nil, p, batch.Outcome{End: batch.EndNeverRan, Reason: reason})
	case !p.Ended.IsZero():
		s.conclude(m.key, nil, p, p.Outcome)
	case s.confirmStopped(m, p):
		s.log.Error("running job was lost", "job", m.key.Job, "id", m.id)
		reason := fmt.Sprintf("%s has forgotten job %s while it ran", s.title, m.id)
		s.conclude(m.key, nil, p, batch.Outcome{End: batch.EndLost, Reason: reason})
	}
}

// confirmStopped reports whether an attempt that began and that the cluster lost sight
// of can be reported as lost. Its program may still run, and a new attempt would run
// beside it. So it is asked to stop, and has StopTimeout to record its end.
//
//	node failure ──▶ Stop ──▶ records its end ──▶ lost, and over
//	                    └───▶ StopTimeout ──────▶ lost; it may run until its node sees the request
func (s *System) confirmStopped(m absence, p Progress) bool {
	if s.cfg.Files == nil || p.Began.IsZero() || !p.Ended.IsZero() {
		return true
	}
	if err := s.cfg.Files.Stop(m.key); err != nil {
		s.log.Error("stop request of an unobserved attempt failed", "job", m.key.Job, "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.attempts[m.key]
	if a == nil {
		return true
	}
	now := time.Now()
	if a.stopAsked.IsZero() {
		a.stopAsked = now
		s.log.Error("lost sight of a running attempt, asking it to stop",
			"job", m.key.Job, "attempt", m.key.Attempt, "id", m.id, "nodes", a.nodes, "timeout", s.cfg.StopTimeout)
	}
	if now.Sub(a.stopAsked) < s.cfg.StopTimeout {
		return false
	}
	a.presumed = true
	s.log.Error("attempt did not confirm that it stopped, it may still run on its nodes",
		"job", m.key.Job, "attempt", m.key.Attempt, "id", m.id, "nodes", a.nodes)
	return true
}

// noteStopped reports that an attempt stopped on request. Called with mu held.
func (s *System) noteStopped(key batch.Key, by string) {
	if a := s.attempts[key]; a != nil && !a.presumed {
		s.log.Info("unobserved attempt has stopped", "job", key.Job, "attempt", key.Attempt, "by", by)
		return
	}
	s.log.Error("attempt that was reported lost ran until now and has stopped",
		"job", key.Job, "epoch", key.Epoch, "attempt", key.Attempt, "by", by)
}

// accountingState is what is known about the accounting service. Only the poll loop
// uses it.
//
//	controller ── forgets after a while ──▶ accounting ── does not answer ──▶ other records
//
// An attempt's own file exists in any case but does not say why the attempt was ended.
type accountingState struct {
	silent bool      // it did not answer the last time
	next   time.Time // when it is asked again
}

// history returns the records of jobs that the controller has forgotten. open are the
// attempts with records that can still change: accounting does not answer, or has the job
// as running.
func (s *System) history(
	ctx context.Context, forgotten []absence,
) (ended []Record, open map[batch.Key]bool, err error) {
	if len(forgotten) == 0 {
		return nil, nil, nil
	}
	var ids, names []string
	for _, m := range forgotten {
		names = append(names, Name(m.key))
		if m.id != "" {
			ids = append(ids, m.id)
		}
	}
	list, silent, err := s.askHistory(ctx, ids, names)
	if err != nil {
		return nil, nil, err
	}
	open = make(map[batch.Key]bool)
	for _, m := range forgotten {
		open[m.key] = silent
	}
	for _, r := range list {
		if r.Over() {
			ended = append(ended, r)
		} else if key, ok := Identify(s.cfg.Site, r.Name, r.Comment); ok {
			open[key] = true
		}
	}
	return ended, open, nil
}

// askHistory calls Cluster.History, without accounting for a while after accounting did
// not answer.
func (s *System) askHistory(ctx context.Context, ids, names []string) (list []Record, silent bool, err error) {
	began := time.Now()
	offline := s.accounting.silent && began.Before(s.accounting.next)
	list, err = s.cluster.History(ctx, ids, names, offline)
	down, _ := errors.AsType[*AccountingError](err)
	switch {
	case down != nil:
		took := time.Since(began)
		s.accounting.next = began.Add(min(max(s.cfg.Interval, 10*took), longestInterval))
		if !s.accounting.silent {
			s.log.Warn("accounting does not answer, ends of forgotten jobs come from other records", "error", down)
		}
		s.accounting.silent = true
		return list, true, nil
	case err != nil:
		return nil, false, err
	case !offline && s.accounting.silent:
		s.accounting.silent = false
		s.log.Info("accounting answers again")
	}
	return list, s.accounting.silent, nil
}

// awaitsAccounting reports whether an attempt stays as it is because only accounting
// can say why it was ended: for at most Stale, and not if the attempt recorded its end
// or was never in the cluster.
func (s *System) awaitsAccounting(m absence, p Progress) bool {
	if !p.Ended.IsZero() || m.unconfirmed && !p.Claimed {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.attempts[m.key]
	if a == nil {
		return false
	}
	now := time.Now()
	if m.polls <= enoughPolls || a.unaccounted.IsZero() {
		a.unaccounted = now
	}
	if now.Sub(a.unaccounted) < s.cfg.Stale {
		return true
	}
	s.log.Error("no record of how a forgotten job ended, no longer waiting for accounting",
		"job", m.key.Job, "id", m.id, "after", now.Sub(a.unaccounted).Round(time.Second))
	return false
}

// conclude ends an attempt. The times that it recorded override the cluster's.
func (s *System) conclude(key batch.Key, r *Record, p Progress, out batch.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.attempts[key]
	if a == nil || !a.live() {
		return
	}
	end := p.Ended
	if r != nil {
		if !p.Began.IsZero() || s.cfg.Files == nil && len(r.Nodes) > 0 {
			a.started = earlier(earlier(a.started, p.Began), r.Start)
			if a.nodes == nil {
				a.nodes = r.Nodes
			}
		}
		if end.IsZero() {
			end = r.End
		}
	}
	if out.End == batch.EndNeverRan || p.Barred {
		a.started, a.nodes = time.Time{}, nil
	} else if a.started.IsZero() {
		a.started = p.Began
	}
	now := time.Now()
	if end.IsZero() || end.After(now) {
		end = now
	}
	if a.desired == wantCancelled && out.End == batch.EndNeverRan {
		out = cancelledOutcome
	}
	s.finish(a, end, out)
}
