package rpc

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
func (h handler) Draft(ctx context.Context, req *droverv1.DraftRequest) (*droverv1.DraftResponse, error) {
	c, err := draftIn(req)
	if err != nil {
		return nil, err
	}
	answers, err := h.s.Draft(ctx, c)
	if err != nil {
		return nil, err
	}
	out := &droverv1.DraftResponse{Age: durationOut(max(answers.Age, 0))}
	for i := range answers.Edits {
		a := &answers.Edits[i]
		if c.Edits[i].Request == nil && a.Err == nil {
			out.Edits = append(out.Edits, &droverv1.Quote{}) // taken out
			continue
		}
		out.Edits = append(out.Edits, h.answerOut(a))
	}
	for i := range answers.Questions {
		out.Answers = append(out.Answers, h.answerOut(&answers.Questions[i]))
	}
	return out, nil
}

// draftIn translates a call. What is wrong with the request of one edit or question
// is its answer, and keeps no other from being answered.
func draftIn(req *droverv1.DraftRequest) (*DraftCall, error) {
	if err := words(LongestWord, "round", req.GetRound()); err != nil {
		return nil, err
	}
	c := &DraftCall{Round: req.GetRound(), Begin: req.GetBegin(), End: req.GetEnd()}
	var err error
	if c.Lease, err = durationIn("lease", req.GetLease()); err != nil {
		return nil, err
	}
	if req.GetLease() != nil && c.Lease == 0 {
		return nil, &problem.Problem{
			Reason: problem.OutOfRange, Field: "lease", Message: "lease: 0s",
			Accepted: fmt.Sprintf("%v..%v, or none for the server's choice", site.ShortestLease, site.LongestLease),
		}
	}
	for i, e := range req.GetEdits() {
		item := DraftItem{Job: batch.JobID(e.GetJobId())}
		switch {
		case e.GetPut():
			item.Request, item.NotBefore, item.Invalid = askedIn(e.GetRequest(), e)
		case e.GetRequest() != nil || e.GetNotBefore() != nil:
			return nil, &problem.Problem{
				Reason: problem.BadValue, Field: fmt.Sprintf("edits[%d].request", i), Accepted: "none, for a job that is taken out",
				Message: fmt.Sprintf("edits[%d]: a request, or not_before, of a job that is not put", i),
			}
		}
		c.Edits = append(c.Edits, item)
	}
	for i, q := range req.GetQuestions() {
		item := DraftItem{Job: batch.JobID(q.GetJobId())}
		switch {
		case q.GetRequest() != nil:
			item.Request, item.NotBefore, item.Invalid = askedIn(q.GetRequest(), q)
		case q.GetNotBefore() != nil:
			return nil, &problem.Problem{
				Reason: problem.BadValue, Field: fmt.Sprintf("questions[%d].not_before", i), Accepted: "none, for a job as it stands",
				Message: fmt.Sprintf("questions[%d]: not_before of a job that is not put", i),
			}
		}
		c.Questions = append(c.Questions, item)
	}
	return c, nil
}

// askedIn translates and checks the request of an edit or a question.
func askedIn(r *droverv1.Request, m interface{ GetNotBefore() *durationpb.Duration }) (*site.Request, batch.Duration, error) {
	request, err := RequestIn(r)
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
func (h handler) answerOut(a *site.Answer) *droverv1.Quote {
	if a.Err == nil {
		return quoteOut(&a.Quote)
	}
	return &droverv1.Quote{Refusal: rpc.DetailOf(h.refusal(a.Err))}
}
