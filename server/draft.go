package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/slurm"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// mostDrafted bounds the edits and questions of one call.
const mostDrafted = 10_000

// draftCall is what a round wants of its copy of the plan.
type draftCall struct {
	round      string
	begin, end bool
	lease      batch.Duration // 0: the default
	edits      []draftItem
	questions  []draftItem
}

// draftItem is an edit or a question.
type draftItem struct {
	job     batch.JobID
	request *site.Request // nil: about the job as it stands
	after   batch.Duration
	bad     error // what is wrong with the request: the answer
}

// draftAnswers is what became of the edits and questions of a call, one for each.
type draftAnswers struct {
	edits, answers []site.Answer
	age            batch.Duration // of the copy
}

// draft carries out a call on a round's copy. It does not need the loop but to make
// one. The errors of answers are *site.Refusal and *problem.Problem. A call that
// fails on its way throws the copy away, so that no round goes on with half its
// edits.
func (s *Server) draft(ctx context.Context, c *draftCall) (out draftAnswers, err error) {
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
	if out, err = s.revise(ctx, d.core, c); err == nil && !c.end {
		keep = lease
	}
	return out, err
}

// revise makes the edits of a call and answers its questions.
func (s *Server) revise(ctx context.Context, d *site.Draft, c *draftCall) (out draftAnswers, err error) {
	out.edits, out.answers = make([]site.Answer, len(c.edits)), make([]site.Answer, len(c.questions))
	for i := range c.edits {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		if out.edits[i] = s.edit(d, &c.edits[i]); errors.Is(out.edits[i].Err, site.ErrNoPlan) {
			return out, out.edits[i].Err
		}
	}
	desk := newDraftDesk(s, d)
	for at := 0; at < len(out.answers); at += atOnce {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		to := min(at+atOnce, len(out.answers))
		if err := desk.answer(c.questions[at:to], out.answers[at:to]); err != nil {
			return out, err
		}
	}
	out.age = s.now().Sub(d.Made())
	return out, nil
}

// checkDraft refuses what no copy could do, and returns the lease.
func (s *Server) checkDraft(c *draftCall) (time.Duration, error) {
	lease := c.lease.Std()
	if c.lease == 0 {
		lease = s.cfg.Limits.DraftLease
	}
	n := len(c.edits) + len(c.questions)
	switch {
	case s.leaving.Load():
		return 0, errStopping
	case s.disk.degraded():
		return 0, errDiskFull
	case c.round == "":
		return 0, &problem.Problem{Reason: problem.BadValue, Field: "round", Accepted: "a name of its own", Message: "round: no name"}
	case c.lease != 0 && (c.lease < site.ShortestLease || c.lease > site.LongestLease):
		return 0, &problem.Problem{
			Reason: problem.OutOfRange, Field: "lease", Accepted: fmt.Sprintf("%v..%v", site.ShortestLease, site.LongestLease),
			Message: fmt.Sprintf("lease: %v", c.lease),
		}
	case n > mostDrafted:
		return 0, &problem.Problem{
			Reason: problem.OutOfRange, Field: "questions", Accepted: fmt.Sprintf("at most %d edits and questions together", mostDrafted),
			Message: fmt.Sprintf("%d edits and questions", n), Hint: "make several calls of them",
		}
	}
	return lease, cmp.Or(checkJobs("edits", c.edits), checkJobs("questions", c.questions))
}

func checkJobs(field string, list []draftItem) error {
	for i := range list {
		if _, err := site.CheckID(string(list[i].job)); err != nil {
			p, _ := asProblem(err)
			p.Field = fmt.Sprintf("%s[%d].job_id", field, i)
			return p
		}
	}
	return nil
}

// openDraft takes the copy of a call's round, or room for one; nil when there is
// nothing to be done.
func (s *Server) openDraft(ctx context.Context, c *draftCall) (*draft, error) {
	if c.begin {
		return s.drafts.begin(c.round)
	}
	d, err := s.drafts.take(ctx, c.round)
	if p, _ := errors.AsType[*problem.Problem](err); p != nil && c.end && len(c.edits)+len(c.questions) == 0 {
		return nil, nil
	}
	return d, err
}

// newDraft copies the plan and what the core knows of its jobs. What happens between
// the two is like what happens after them: an edit or a question finds out.
func (s *Server) newDraft(ctx context.Context) (*site.Draft, error) {
	plan, err := s.system.Draft(ctx)
	if unknown, _ := errors.AsType[*slurm.UnknownError](err); unknown == nil && errors.Is(err, batch.ErrNoDrafts) {
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
func (s *Server) edit(d *site.Draft, e *draftItem) site.Answer {
	switch {
	case e.bad != nil:
		return site.Answer{Err: e.bad}
	case e.request == nil:
		return site.Answer{Err: d.Take(e.job)}
	case d.Waiting() >= s.cfg.Limits.Waiting:
		return site.Answer{Err: s.queueFull()}
	}
	q, err := d.Put(e.job, site.Question{Request: e.request, From: d.Made().Add(e.after)})
	return site.Answer{Quote: q, Err: err}
}
