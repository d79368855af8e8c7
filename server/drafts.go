package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/external"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// drafts are the drafts of the plan that reallocation rounds work on, in memory only. Each has a
// lease, which restarts when a call on it ends. Calls on the same draft run one at a time.
type drafts struct {
	most int

	mu     sync.Mutex
	all    map[string]*draft // by round
	closed bool
}

// draft is one draft.
type draft struct {
	round string
	turn  chan struct{} // holds a token while no call works on it
	core  *site.Draft   // nil while it is being made or if that failed; owned by its user

	// The mutex of drafts guards the following fields.
	users int
	until time.Time // the end of the lease, while there are no users
	timer *time.Timer
}

func newDrafts(most int) *drafts { return &drafts{most: most, all: make(map[string]*draft)} }

// begin creates an empty draft, in place of the round's previous one, and takes it: the caller
// fills it and returns it with done. The error is a *problem.Problem.
func (ds *drafts) begin(round string) (*draft, error) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	switch {
	case ds.closed:
		return nil, errStopping
	case ds.most == 0:
		return nil, &problem.Problem{
			Reason: problem.NoDrafts, Message: "this site takes no part in reallocation rounds",
			Hint: "limits.drafts of its configuration is 0",
		}
	case ds.all[round] == nil && len(ds.all) >= ds.most:
		return nil, &problem.Problem{
			Reason: problem.TooManyDrafts, Field: "begin",
			Accepted: fmt.Sprintf("at most %d rounds at a time", ds.most), Retryable: true,
			Message: fmt.Sprintf("%d reallocation rounds are in progress", len(ds.all)),
			Hint:    "wait until another round, or its lease, ends",
		}
	}
	ds.drop(ds.all[round])
	d := &draft{round: round, turn: make(chan struct{}, 1), users: 1}
	ds.all[round] = d
	return d, nil
}

// take gives the draft of a round to the caller, which returns it with done. The error is a
// *problem.Problem, or that of ctx.
func (ds *drafts) take(ctx context.Context, round string) (*draft, error) {
	ds.mu.Lock()
	d := ds.all[round]
	if d != nil {
		d.users++
	}
	ds.mu.Unlock()
	if d == nil {
		return nil, unknownRound(round)
	}
	select {
	case <-d.turn:
	case <-ctx.Done():
		ds.leave(d, 0)
		return nil, ctx.Err()
	}
	if d.core == nil {
		ds.done(d, 0)
		return nil, unknownRound(round)
	}
	return d, nil
}

// done returns a draft and keeps it for a lease; 0 drops it.
func (ds *drafts) done(d *draft, lease time.Duration) {
	d.turn <- struct{}{}
	if lease == 0 {
		ds.mu.Lock()
		ds.drop(d)
		ds.mu.Unlock()
	}
	ds.leave(d, lease)
}

// leave removes a user. The last one starts the lease, if it is not 0.
func (ds *drafts) leave(d *draft, lease time.Duration) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	d.users--
	if lease > 0 {
		d.until = time.Now().Add(lease)
	}
	if d.users > 0 || ds.all[d.round] != d {
		return
	}
	if d.timer != nil {
		d.timer.Stop()
	}
	d.timer = time.AfterFunc(time.Until(d.until), func() { ds.expire(d) })
}

// expire drops a draft with an expired lease, unless it has a user again.
func (ds *drafts) expire(d *draft) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if d.users == 0 && !time.Now().Before(d.until) {
		ds.drop(d)
	}
}

// drop forgets a draft; current users can still work on it. A nil draft is ignored.
func (ds *drafts) drop(d *draft) {
	if d == nil || ds.all[d.round] != d {
		return
	}
	delete(ds.all, d.round)
	if d.timer != nil {
		d.timer.Stop()
	}
}

// close drops all drafts and refuses new ones.
func (ds *drafts) close() {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.closed = true
	for _, d := range ds.all {
		ds.drop(d)
	}
}

func unknownRound(round string) error {
	return &problem.Problem{
		Reason: problem.UnknownRound, Field: "round", Accepted: "a round that this site takes part in",
		Message: fmt.Sprintf("no draft of round %.70q", round),
		Hint:    "its lease expired or the server restarted: begin a new round",
	}
}

// mostDrafted bounds the edits and questions of one call.
const mostDrafted = 10_000

// Draft performs a call on a round's draft. Only the creation of a draft needs the loop. The errors
// in the answers are *problem.Problem. A call that fails midway drops the draft,
// so that no round continues with half its edits.
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

// revise applies the edits of a call and answers its questions.
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
	questions := newQuestionBatch(s, d)
	for at := 0; at < len(out.Questions); at += atOnce {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		to := min(at+atOnce, len(out.Questions))
		if err := questions.answer(c.Questions[at:to], out.Questions[at:to]); err != nil {
			return out, err
		}
	}
	if delay := s.launches.delay(time.Now()); delay > 0 { // the plan does not know that nothing starts
		for _, list := range [][]site.Answer{out.Edits, out.Questions} {
			for i := range list {
				list[i].Quote.Wait += delay
				list[i].Quote.Completion += delay
			}
		}
	}
	out.Age = s.now().Sub(d.Made())
	return out, nil
}

// checkDraft refuses invalid calls and returns the lease.
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
		return 0, &problem.Problem{
			Reason: problem.BadValue, Field: "round", Accepted: "a unique name",
			Message: "round: no name",
		}
	case n > mostDrafted:
		return 0, &problem.Problem{
			Reason: problem.OutOfRange, Field: "questions",
			Accepted: fmt.Sprintf("at most %d edits and questions together", mostDrafted),
			Message:  fmt.Sprintf("%d edits and questions", n), Hint: "split them into several calls",
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

// openDraft takes the draft of a call's round, or begins a new one; nil if there is nothing to do.
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

// newDraft copies the plan and what the core knows of its jobs. A change between the two copies is
// like a later change: an edit or a question finds it.
func (s *Server) newDraft(ctx context.Context) (*site.Draft, error) {
	plan, err := s.system.Draft(ctx)
	if unknown, _ := errors.AsType[*external.UnknownError](err); unknown == nil && errors.Is(err, batch.ErrNoDrafts) {
		return nil, &problem.Problem{
			Reason: problem.NoDrafts, Message: err.Error(), Hint: "move its jobs by hand; rounds leave this site out",
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

// edit puts a job into the draft or takes it out.
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

// atOnce is the number of questions that are answered between two checks whether the caller still
// waits.
const atOnce = 256

// questionBatch groups questions by kind and returns the answers in the original order.
type questionBatch struct {
	core      *site.Draft
	full      error // why no further job can be put; nil if one can
	questions []site.Question
	jobs      []batch.JobID
	asked     []int // the indices of the answers to questions
	stood     []int // the indices of the answers about jobs
	answers   []site.Answer
}

func newQuestionBatch(s *Server, core *site.Draft) *questionBatch {
	w := &questionBatch{core: core, answers: make([]site.Answer, atOnce)}
	if core.Waiting() >= s.cfg.Limits.Waiting {
		w.full = s.queueFull()
	}
	return w
}

// answer answers up to atOnce questions. The error is site.ErrNoPlan if an answer has it, because
// then all have.
func (w *questionBatch) answer(list []rpc.DraftItem, out []site.Answer) error {
	w.questions, w.jobs, w.asked, w.stood = w.questions[:0], w.jobs[:0], w.asked[:0], w.stood[:0]
	for i := range list {
		switch q := &list[i]; {
		case q.Invalid != nil:
			out[i].Err = q.Invalid
		case q.Request == nil:
			w.jobs, w.stood = append(w.jobs, q.Job), append(w.stood, i)
		case w.full != nil:
			out[i].Err = w.full
		default:
			w.questions = append(w.questions, site.Question{Request: q.Request, From: w.core.Made().Add(q.NotBefore)})
			w.asked = append(w.asked, i)
		}
	}
	w.core.Standing(w.jobs, w.answers[:len(w.jobs)])
	err := w.file(w.stood, out)
	w.core.Quotes(w.questions, w.answers[:len(w.questions)])
	return errors.Join(err, w.file(w.asked, out))
}

func (w *questionBatch) file(at []int, out []site.Answer) error {
	for k, i := range at {
		if out[i] = w.answers[k]; errors.Is(out[i].Err, site.ErrNoPlan) {
			return out[i].Err
		}
	}
	return nil
}
