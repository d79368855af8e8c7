package slurm

import (
	"context"
	"errors"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// books is what is known of the accounting database.
//
//	controller ── forgets after MinJobAge ──▶ accounting ── does not answer ──▶ the file of
//	                                                                            completed jobs
//
// What an attempt has written itself is there in any case, but does not say why it
// was ended. Only the goroutine that looks at Slurm has to do with it.
type books struct {
	silent bool      // it has not answered the last time
	next   time.Time // it is not asked again before
}

// past returns what is kept of jobs that the controller does not know. open are those
// about which the last word is not said: accounting does not answer, or takes them to
// run still.
func (s *System) past(ctx context.Context, forgotten []gone) (over []Ended, open map[batch.Key]bool, err error) {
	if len(forgotten) == 0 {
		return nil, nil, nil
	}
	var ids, names []string
	for _, g := range forgotten {
		names = append(names, Name(g.key))
		if g.id != "" {
			ids = append(ids, g.id)
		}
	}
	list, silent, err := s.consult(ctx, ids, names)
	if err != nil {
		return nil, nil, err
	}
	open = make(map[batch.Key]bool)
	for _, g := range forgotten {
		open[g.key] = silent
	}
	for _, e := range list {
		if e.Over() {
			over = append(over, e)
		} else if key, ok := identify(s.cfg.Site, e.Name, e.Comment); ok {
			open[key] = true
		}
	}
	return over, open, nil
}

// consult asks accounting, or what there is instead while it does not answer: it is
// asked again after a while then.
func (s *System) consult(ctx context.Context, ids, names []string) (list []Ended, silent bool, err error) {
	asked := *s.c
	began := time.Now()
	if s.books.silent && began.Before(s.books.next) {
		asked.Database = false
	}
	list, err = asked.Past(ctx, ids, names)
	var none *AccountingError
	switch {
	case errors.As(err, &none):
		took := time.Since(began)
		s.books.next = began.Add(min(max(s.cfg.Interval, 10*took), longestInterval))
		if !s.books.silent {
			instead := "what they write themselves"
			if s.c.JobComp != "" {
				instead = "the file of completed jobs, and " + instead
			}
			s.log.Warn("jobs that the controller has forgotten are judged without accounting", "by", instead, "error", none)
		}
		s.books.silent = true
		return list, true, nil
	case err != nil:
		return nil, false, err
	case asked.Database && s.books.silent:
		s.books.silent = false
		s.log.Info("accounting answers again")
	}
	return list, s.books.silent, nil
}

// worthWaiting says whether an attempt about which the last word is not said stays as
// it is: only accounting can say why it was ended. It is not waited for where the
// attempt has written its end, or was never there, nor for longer than a look may be
// old.
func (s *System) worthWaiting(g gone, t Testimony) bool {
	if !t.Ended.IsZero() || g.unsure && !t.Claimed {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.attempts[g.key]
	if a == nil {
		return false
	}
	now := time.Now()
	if g.missing <= enough || a.adrift.IsZero() {
		a.adrift = now
	}
	if now.Sub(a.adrift) < s.cfg.Stale {
		return true
	}
	s.log.Error("accounting has not said how a job ended that the controller has forgotten: nobody waits for it any more",
		"job", g.key.Job, "slurm", g.id, "after", now.Sub(a.adrift).Round(time.Second))
	return false
}
