package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/external"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// mostDrafted bounds the edits and questions of one call.
const mostDrafted = 10_000

// Draft carries out a call on a round's copy. It does not need the loop but to make
// one. The errors of answers are *site.Refusal and *problem.Problem. A call that
// fails on its way throws the copy away, so that no round goes on with half its
// edits.
func (s *Server) Draft(ctx context.Context, c *rpc.DraftCall) (out rpc.DraftAnswers, err error) {
	lease, err := s.checkDraft(c)
	if err != nil {
		return out, err
	}
	d, err := s.openDraft(ctx, c)
	if d == nil || err != nil {
		return out, err
	}
	keep := time.Duration(0)
	defer func() { s.drafts.done(d, keep) }()
	if d.core == nil {
		if d.core, err = s.newDraft(ctx); err != nil {
			return out, err
		}
	}
	if out, err = s.revise(ctx, d.core, c); err == nil && !c.End {
		keep = lease
	}
	return out, err
}

// revise makes the edits of a call and answers its questions.
func (s *Server) revise(ctx context.Context, d *site.Draft, c *rpc.DraftCall) (out rpc.DraftAnswers, err error) {
	out.Edits, out.Questions = make([]site.Answer, len(c.Edits)), make([]site.Answer, len(c.Questions))
	for i := range c.Edits {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		if out.Edits[i] = s.edit(d, &c.Edits[i]); errors.Is(out.Edits[i].Err, site.ErrNoPlan) {
			return out, out.Edits[i].Err
		}
	}
	desk := newDraftDesk(s, d)
	for at := 0; at < len(out.Questions); at += atOnce {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		to := min(at+atOnce, len(out.Questions))
		if err := desk.answer(c.Questions[at:to], out.Questions[at:to]); err != nil {
			return out, err
		}
	}
	out.Age = s.now().Sub(d.Made())
	return out, nil
}

// checkDraft refuses what no copy could do, and returns the lease.
func (s *Server) checkDraft(c *rpc.DraftCall) (time.Duration, error) {
	lease := c.Lease.Std()
	if c.Lease == 0 {
		lease = s.cfg.Limits.DraftLease
	}
	n := len(c.Edits) + len(c.Questions)
	switch {
	case s.leaving.Load():
		return 0, errStopping
	case s.disk.degraded():
		return 0, errDiskFull
	case c.Round == "":
		return 0, &problem.Problem{Reason: problem.BadValue, Field: "round", Accepted: "a name of its own", Message: "round: no name"}
	case n > mostDrafted:
		return 0, &problem.Problem{
			Reason: problem.OutOfRange, Field: "questions", Accepted: fmt.Sprintf("at most %d edits and questions together", mostDrafted),
			Message: fmt.Sprintf("%d edits and questions", n), Hint: "make several calls of them",
		}
	}
	return lease, cmp.Or(checkJobs("edits", c.Edits), checkJobs("questions", c.Questions))
}

func checkJobs(field string, list []rpc.DraftItem) error {
	for i := range list {
		if _, err := site.CheckID(string(list[i].Job)); err != nil {
			p := problemOf(err)
			p.Field = fmt.Sprintf("%s[%d].job_id", field, i)
			return p
		}
	}
	return nil
}

// openDraft takes the copy of a call's round, or room for one; nil when there is
// nothing to be done.
func (s *Server) openDraft(ctx context.Context, c *rpc.DraftCall) (*draft, error) {
	if c.Begin {
		return s.drafts.begin(c.Round)
	}
	d, err := s.drafts.take(ctx, c.Round)
	if p, _ := errors.AsType[*problem.Problem](err); p != nil && c.End && len(c.Edits)+len(c.Questions) == 0 {
		return nil, nil
	}
	return d, err
}

// newDraft copies the plan and what the core knows of its jobs. What happens between
// the two is like what happens after them: an edit or a question finds out.
func (s *Server) newDraft(ctx context.Context) (*site.Draft, error) {
	plan, err := s.system.Draft(ctx)
	if unknown, _ := errors.AsType[*external.UnknownError](err); unknown == nil && errors.Is(err, batch.ErrNoDrafts) {
		return nil, &problem.Problem{
			Reason: problem.NoDrafts, Message: err.Error(), Hint: "its jobs can be moved by hand, and rounds leave it out",
		}
	}
	if err != nil {
		return nil, err
	}
	var core *site.Draft
	if err := s.see(ctx, func() { core = s.core.Draft(plan) }); err != nil {
		return nil, err
	}
	return core, nil
}

// edit puts a job or takes it out.
func (s *Server) edit(d *site.Draft, e *rpc.DraftItem) site.Answer {
	switch {
	case e.Invalid != nil:
		return site.Answer{Err: e.Invalid}
	case e.Request == nil:
		return site.Answer{Err: d.Take(e.Job)}
	case d.Waiting() >= s.cfg.Limits.Waiting:
		return site.Answer{Err: s.queueFull()}
	}
	q, err := d.Put(e.Job, site.Question{Request: e.Request, From: d.Made().Add(e.NotBefore)})
	return site.Answer{Quote: q, Err: err}
}
