package slurm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// gone is an attempt that the queue does not show any more.
type gone struct {
	key     batch.Key
	id      string
	missing int  // looks
	unsure  bool // it may never have been there
}

// enough is how many looks have to miss an attempt before what nobody says about
// it counts: files shared by nodes may show late what was written.
const enough = 3

// settle finds out what became of attempts that have left the queue: one command
// for all of them, and what they have written themselves.
func (s *System) settle(ctx context.Context, all []gone) error {
	if len(all) == 0 {
		return nil
	}
	known, open, err := s.enquire(ctx, all)
	if err != nil {
		return err
	}
	for _, g := range all {
		var t Testimony
		if s.cfg.Witness != nil {
			if t, err = s.cfg.Witness.Look(g.key); err != nil {
				s.log.Warn("what an attempt has written", "job", g.key.Job, "error", err)
				continue
			}
		}
		e, ok := known[g.key]
		if !ok {
			if !open[g.key] || !s.worthWaiting(g, t) {
				s.forgotten(g, t)
			}
			continue
		}
		s.settleOne(g, &e, t)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.model.pass()
	s.send()
	return nil
}

// enquire asks the controller, and about those that it has forgotten accounting or
// the file of completed jobs. A job counts only if it says itself which attempt it
// is. open are those about which nobody has said the last word yet.
func (s *System) enquire(ctx context.Context, all []gone) (known map[batch.Key]Ended, open map[batch.Key]bool, err error) {
	known = make(map[batch.Key]Ended)
	numbers := make(map[batch.Key]string, len(all))
	take := func(list []Ended) {
		for _, e := range list {
			key, ok := identify(s.cfg.Site, e.Name, e.Comment)
			if number, asked := numbers[key]; !ok || !asked || e.ID != number && e.Over() && e.NodeList == "" {
				continue // it was taken out of the queue to be put in with another shape, perhaps
			}
			if old, twice := known[key]; !twice || s.tells(&e, &old) {
				known[key] = e
			}
		}
	}
	var ids, unnumbered []string
	for _, g := range all {
		if numbers[g.key] = g.id; g.id != "" {
			ids = append(ids, g.id)
		} else {
			unnumbered = append(unnumbered, Name(g.key))
		}
	}
	ask := func(about func(context.Context, []string) ([]Ended, error), which []string) error {
		if len(which) == 0 {
			return nil
		}
		list, err := about(ctx, which)
		take(list)
		return err
	}
	if err := errors.Join(ask(s.c.Jobs, ids), ask(s.c.JobsNamed, unnumbered)); err != nil {
		return nil, nil, err
	}
	var forgotten []gone
	for _, g := range all {
		if _, ok := known[g.key]; !ok {
			forgotten = append(forgotten, g)
		}
	}
	list, open, err := s.past(ctx, forgotten)
	take(list)
	return known, open, err
}

// tells says whether one of two jobs that are the same attempt says more about it: it
// has not ended, or has not found the attempt claimed by the other one.
func (s *System) tells(e, other *Ended) bool {
	if e.Over() != other.Over() {
		return !e.Over()
	}
	return s.cfg.Taken != 0 && other.Code == s.cfg.Taken
}

// settleOne decides about an attempt of which Slurm says how it ended.
func (s *System) settleOne(g gone, e *Ended, t Testimony) {
	s.mu.Lock()
	a := s.attempts[g.key]
	if a == nil || a.stage != inside && a.stage != unsure || !e.Over() {
		if a != nil {
			a.missing = 0
		}
		s.mu.Unlock()
		return
	}
	again := a.again && a.want != toCancel && e.State == "CANCELLED" && e.NodeList == "" && !t.Claimed
	if again {
		s.back(a)
		s.mu.Unlock()
		return
	}
	witnessed := s.cfg.Witness != nil
	if witnessed && s.cfg.Taken != 0 && e.Code == s.cfg.Taken && !t.Began.IsZero() && t.Ended.IsZero() {
		s.twice(g.key, e.ID)
	}
	shape, cancelled, twice := a.sent, a.want == toCancel, a.twice
	s.mu.Unlock()
	v, out := judge(e, t, witnessed, shape, cancelled, twice)
	if v == notBegun && witnessed && !t.Barred {
		// Whether it has begun decides whether it may be launched again.
		var err error
		if t, err = s.cfg.Witness.Bar(g.key); err != nil {
			s.log.Error("claim of an attempt that was not launched", "job", g.key.Job, "error", err)
			return // the next look tries again
		}
		if !t.Barred {
			v, out = judge(e, t, witnessed, shape, cancelled, twice)
		}
	}
	if v == notYet && g.missing < enough || v == notBegun && !t.Barred && witnessed && g.missing < enough {
		s.poke(s.look)
		return
	}
	if v == ended && out.End == batch.EndLost && givenUp(e) && !s.part(g, t) {
		return
	}
	if v == notBegun {
		s.log.Error("Slurm has done with a job that has not run", "job", g.key.Job, "slurm", e.ID, "state", e.State, "nodes", e.NodeList, "reason", out.Reason)
	}
	s.conclude(g.key, e, t, out)
}

// forgotten decides about an attempt of which Slurm knows nothing: it was never
// there, it ended long ago, or Slurm has lost it.
func (s *System) forgotten(g gone, t Testimony) {
	switch {
	case !t.Ended.IsZero():
		s.conclude(g.key, nil, t, t.Outcome)
	case g.unsure && !t.Claimed && !t.Barred:
		s.mu.Lock()
		if a := s.attempts[g.key]; a != nil && a.stage == unsure {
			s.log.Info("a submission has not arrived, it is made again", "job", g.key.Job)
			s.back(a)
		}
		s.mu.Unlock()
	case g.missing < enough:
		s.poke(s.look)
	case s.cfg.Witness == nil:
		s.mu.Lock()
		a := s.attempts[g.key]
		out := batch.Outcome{End: batch.EndNeverRan, Reason: "Slurm has lost it: nobody knows job " + g.id}
		if a != nil && !a.waits() {
			out = batch.Outcome{End: batch.EndLost, Reason: "Slurm has forgotten job " + g.id}
		}
		s.mu.Unlock()
		s.conclude(g.key, nil, t, out)
	default:
		s.bar(g, t)
	}
}

// bar competes for the claim of an attempt that Slurm does not know: it has lost
// the job, or runs it without knowing.
func (s *System) bar(g gone, t Testimony) {
	if t.Began.IsZero() {
		var err error
		if t, err = s.cfg.Witness.Bar(g.key); err != nil {
			s.log.Error("claim of an attempt that Slurm has lost", "job", g.key.Job, "error", err)
			return
		}
	}
	switch {
	case t.Barred:
		s.log.Error("Slurm has lost a job that it had accepted, it never ran", "job", g.key.Job, "slurm", g.id)
		s.conclude(g.key, nil, t, batch.Outcome{End: batch.EndNeverRan, Reason: "Slurm has lost job " + g.id + ", which it had accepted"})
	case !t.Ended.IsZero():
		s.conclude(g.key, nil, t, t.Outcome)
	case !s.part(g, t):
	default:
		s.log.Error("Slurm knows nothing of a job that has begun", "job", g.key.Job, "slurm", g.id)
		s.conclude(g.key, nil, t, batch.Outcome{End: batch.EndLost, Reason: fmt.Sprintf("Slurm has forgotten job %s while it ran", g.id)})
	}
}

// conclude ends an attempt. Its times are its own where it has written any.
func (s *System) conclude(key batch.Key, e *Ended, t Testimony, out batch.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.attempts[key]
	if a == nil || !a.live() {
		return
	}
	end := t.Ended
	if e != nil {
		if !t.Began.IsZero() || s.cfg.Witness == nil && e.NodeList != "" {
			a.started = earlier(earlier(a.started, t.Began), e.Start)
			if a.nodes == nil {
				a.nodes = expand(e.NodeList)
			}
		}
		if end.IsZero() {
			end = e.End
		}
	}
	if out.End == batch.EndNeverRan || t.Barred {
		a.started, a.nodes = time.Time{}, nil
	} else if a.started.IsZero() {
		a.started = t.Began
	}
	now := time.Now()
	if end.IsZero() || end.After(now) {
		end = now
	}
	if a.want == toCancel && out.End == batch.EndNeverRan {
		out = batch.Outcome{End: batch.EndCancelled, Reason: "cancelled"}
	}
	s.finish(a, end, out)
}
