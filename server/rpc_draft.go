package server

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// Draft works on a round's copy of the plan.
func (f face) Draft(ctx context.Context, req *droverv1.DraftRequest) (*droverv1.DraftResponse, error) {
	c, err := draftIn(req)
	if err != nil {
		return nil, err
	}
	answers, err := f.s.draft(ctx, c)
	if err != nil {
		return nil, err
	}
	out := &droverv1.DraftResponse{Age: durationOut(max(answers.age, 0))}
	for i := range answers.edits {
		a := &answers.edits[i]
		if c.edits[i].request == nil && a.Err == nil {
			out.Edits = append(out.Edits, &droverv1.Quote{}) // taken out
			continue
		}
		out.Edits = append(out.Edits, f.s.answerOut(a))
	}
	for i := range answers.answers {
		out.Answers = append(out.Answers, f.s.answerOut(&answers.answers[i]))
	}
	return out, nil
}

// draftIn translates a call. What is wrong with the request of one edit or question
// is its answer, and keeps no other from being answered.
func draftIn(req *droverv1.DraftRequest) (*draftCall, error) {
	if err := words(longestWord, "round", req.GetRound()); err != nil {
		return nil, err
	}
	c := &draftCall{round: req.GetRound(), begin: req.GetBegin(), end: req.GetEnd()}
	var err error
	if c.lease, err = durationIn("lease", req.GetLease()); err != nil {
		return nil, err
	}
	if req.GetLease() != nil && c.lease == 0 {
		return nil, &problem.Problem{
			Reason: problem.OutOfRange, Field: "lease", Message: "lease: 0s",
			Accepted: fmt.Sprintf("%v..%v, or none for the server's choice", site.ShortestLease, site.LongestLease),
		}
	}
	for i, e := range req.GetEdits() {
		item := draftItem{job: batch.JobID(e.GetJobId())}
		switch {
		case e.GetPut():
			item.request, item.after, item.bad = askedIn(e.GetRequest(), e)
		case e.GetRequest() != nil || e.GetNotBefore() != nil:
			return nil, &problem.Problem{
				Reason: problem.BadValue, Field: fmt.Sprintf("edits[%d].request", i), Accepted: "none, for a job that is taken out",
				Message: fmt.Sprintf("edits[%d]: a request, or not_before, of a job that is not put", i),
			}
		}
		c.edits = append(c.edits, item)
	}
	for i, q := range req.GetQuestions() {
		item := draftItem{job: batch.JobID(q.GetJobId())}
		switch {
		case q.GetRequest() != nil:
			item.request, item.after, item.bad = askedIn(q.GetRequest(), q)
		case q.GetNotBefore() != nil:
			return nil, &problem.Problem{
				Reason: problem.BadValue, Field: fmt.Sprintf("questions[%d].not_before", i), Accepted: "none, for a job as it stands",
				Message: fmt.Sprintf("questions[%d]: not_before of a job that is not put", i),
			}
		}
		c.questions = append(c.questions, item)
	}
	return c, nil
}

// askedIn translates and checks the request of an edit or a question.
func askedIn(r *droverv1.Request, m interface{ GetNotBefore() *durationpb.Duration }) (*site.Request, batch.Duration, error) {
	request, err := requestIn(r)
	if err != nil {
		return nil, 0, err
	}
	after, err := durationIn("not_before", m.GetNotBefore())
	if err != nil {
		return nil, 0, err
	}
	return request, after, request.Validate()
}

// answerOut returns a quote, or the refusal that it is.
func (s *Server) answerOut(a *site.Answer) *droverv1.Quote {
	if a.Err == nil {
		return quoteOut(&a.Quote)
	}
	p, told := asProblem(a.Err)
	if !told {
		s.log.Error("answering about a draft", "error", a.Err)
	}
	return &droverv1.Quote{Refusal: rpc.DetailOf(p)}
}
