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

// drafts is the copies of the plan that rounds work on, in memory only. Each has a
// lease, which begins anew when a call on it is over. Whoever comes while another
// call works on the same copy waits for it.
type drafts struct {
	most int

	mu     sync.Mutex
	all    map[string]*draft // by round
	closed bool
}

// draft is one copy.
type draft struct {
	round string
	turn  chan struct{} // holds a token while nobody works on it
	core  *site.Draft   // nil while it is being made, and if that has failed; its user's

	// What follows belongs to drafts.mu.
	users int
	until time.Time // of the lease, while there are no users
	timer *time.Timer
}

func newDrafts(most int) *drafts { return &drafts{most: most, all: make(map[string]*draft)} }

// begin makes room for a copy, in place of one that the round may have, and takes
// it: its user makes it, and gives it back with done. The error is a
// *problem.Problem.
func (ds *drafts) begin(round string) (*draft, error) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	switch {
	case ds.closed:
		return nil, errStopping
	case ds.most == 0:
		return nil, &problem.Problem{
			Reason: problem.NoDrafts, Message: "this site makes no copies of its plan", Hint: "limits.drafts of its configuration is 0",
		}
	case ds.all[round] == nil && len(ds.all) >= ds.most:
		return nil, &problem.Problem{
			Reason: problem.TooManyDrafts, Field: "begin", Accepted: fmt.Sprintf("at most %d rounds at a time", ds.most), Retryable: true,
			Message: fmt.Sprintf("%d rounds of reallocation have copies of the plan", len(ds.all)), Hint: "the others end, or their leases do",
		}
	}
	ds.drop(ds.all[round])
	d := &draft{round: round, turn: make(chan struct{}, 1), users: 1}
	ds.all[round] = d
	return d, nil
}

// take gives the copy of a round to the caller, who gives it back with done. The
// error is a *problem.Problem, or that of ctx.
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

// done gives a copy back, to be kept for a lease; with none it is thrown away.
func (ds *drafts) done(d *draft, lease time.Duration) {
	d.turn <- struct{}{}
	if lease == 0 {
		ds.mu.Lock()
		ds.drop(d)
		ds.mu.Unlock()
	}
	ds.leave(d, lease)
}

// leave says that a user is gone. The last one begins the lease, if it is not 0.
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

// expire throws a copy away whose lease is over, unless somebody has come.
func (ds *drafts) expire(d *draft) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if d.users == 0 && !time.Now().Before(d.until) {
		ds.drop(d)
	}
}

// drop forgets a copy; its users, if it has any, may go on with it. nil is none.
func (ds *drafts) drop(d *draft) {
	if d == nil || ds.all[d.round] != d {
		return
	}
	delete(ds.all, d.round)
	if d.timer != nil {
		d.timer.Stop()
	}
}

// close throws all copies away, and refuses more.
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
		Reason: problem.UnknownRound, Field: "round", Accepted: "a round that has begun here", Message: fmt.Sprintf("no draft of round %.70q", round),
		Hint: "its lease is over, or the server has been started again: begin a new round",
	}
}

// mostDrafted bounds the edits and questions of one call.
const mostDrafted = 10_000

// Draft carries out a call on a round's copy. It does not need the loop but to make
// one. The errors of answers are *problem.Problem. A call that
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

// atOnce is how many questions are answered before it is seen whether anybody still
// waits for the answers.
const atOnce = 256

// questionBatch sorts questions by what they are about, and puts the answers back.
type questionBatch struct {
	core      *site.Draft
	full      error // why nobody can be put; nil if that is not so
	questions []site.Question
	jobs      []batch.JobID
	asked     []int // where the answers of questions belong
	stood     []int // and those of jobs
	answers   []site.Answer
}

func newQuestionBatch(s *Server, core *site.Draft) *questionBatch {
	w := &questionBatch{core: core, answers: make([]site.Answer, atOnce)}
	if core.Waiting() >= s.cfg.Limits.Waiting {
		w.full = s.queueFull()
	}
	return w
}

// answer answers up to atOnce questions. The error is site.ErrNoPlan: of one, so of
// all.
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
