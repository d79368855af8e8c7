package rpc

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// Draft edits a round's draft and answers questions about it.
func (h handler) Draft(ctx context.Context, req *droverv1.DraftRequest) (*droverv1.DraftResponse, error) {
	c, err := draftIn(req)
	if err != nil {
		return nil, err
	}
	answers, err := h.s.Draft(ctx, c)
	if err != nil {
		return nil, err
	}
	out := &droverv1.DraftResponse{Age: rpc.Duration(max(answers.Age, 0))}
	for i := range answers.Edits {
		a := &answers.Edits[i]
		if c.Edits[i].Request == nil && a.Err == nil {
			out.Edits = append(out.Edits, &droverv1.Quote{}) // the job was removed
			continue
		}
		out.Edits = append(out.Edits, h.answerOut(a))
	}
	for i := range answers.Questions {
		out.Answers = append(out.Answers, h.answerOut(&answers.Questions[i]))
	}
	return out, nil
}

// draftIn converts a call. An invalid edit or question gets an error as its answer; the others are
// processed.
func draftIn(req *droverv1.DraftRequest) (*DraftCall, error) {
	c := &DraftCall{Round: req.GetRound(), Begin: req.GetBegin(), End: req.GetEnd(), Lease: durationIn(req.GetLease())}
	for i, e := range req.GetEdits() {
		out := DraftItem{Job: batch.JobID(e.GetJobId())}
		switch {
		case e.GetPut():
			out.Request, out.NotBefore, out.Invalid = itemIn(e)
		case e.GetRequest() != nil || e.GetNotBefore() != nil:
			return nil, &problem.Problem{
				Reason: problem.BadValue, Field: fmt.Sprintf("edits[%d].request", i),
				Accepted: "none, for a job that is taken out",
				Message:  fmt.Sprintf("edits[%d]: request and not_before need put", i),
			}
		}
		c.Edits = append(c.Edits, out)
	}
	for i, q := range req.GetQuestions() {
		out := DraftItem{Job: batch.JobID(q.GetJobId())}
		switch {
		case q.GetRequest() != nil:
			out.Request, out.NotBefore, out.Invalid = itemIn(q)
		case q.GetNotBefore() != nil:
			return nil, &problem.Problem{
				Reason: problem.BadValue, Field: fmt.Sprintf("questions[%d].not_before", i),
				Accepted: "none, without a request",
				Message:  fmt.Sprintf("questions[%d]: not_before needs put", i),
			}
		}
		c.Questions = append(c.Questions, out)
	}
	return c, nil
}

// item is an edit or a question.
type item interface {
	proto.Message
	GetRequest() *droverv1.Request
	GetNotBefore() *durationpb.Duration
}

// itemIn checks and converts an edit or a question with a request.
func itemIn(m item) (*site.Request, batch.Duration, error) {
	if m.GetRequest() == nil {
		return nil, 0, problem.Field(problem.BadValue, "request", "a request", "missing")
	}
	if err := rpc.Check("", m); err != nil {
		return nil, 0, err
	}
	r, err := RequestIn(m.GetRequest())
	if err != nil {
		return nil, 0, err
	}
	return r, durationIn(m.GetNotBefore()), r.Validate()
}

// answerOut returns an answer's quote or refusal for the wire.
func (h handler) answerOut(a *site.Answer) *droverv1.Quote {
	if a.Err == nil {
		return quoteOut(&a.Quote)
	}
	return &droverv1.Quote{Refusal: rpc.DetailOf(h.refusal(a.Err))}
}
