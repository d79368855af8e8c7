package rpc

import (
	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// WithDetail returns err as a Connect error with the code of p's reason and p as
// its detail. The text is err's, which may be p itself. What is longer than a refusal
// may be is cut.
func WithDetail(err error, p *problem.Problem) *connect.Error {
	e := connect.NewError(Code(p.Reason), boundedError{err})
	if d, err := connect.NewErrorDetail(DetailOf(p)); err == nil {
		e.AddDetail(d)
	}
	return e
}

// DetailOf returns a problem as it crosses the wire, its texts bounded; nil for nil.
func DetailOf(p *problem.Problem) *droverv1.ErrorDetail {
	if p == nil {
		return nil
	}
	return &droverv1.ErrorDetail{
		Reason: string(p.Reason), Field: bounded(p.Field, mostField), Accepted: bounded(p.Accepted, mostText),
		Message: bounded(p.Message, mostText), Hint: bounded(p.Hint, mostText), Retryable: p.Retryable, Offer: offerOf(p.Offer),
	}
}

func offerOf(o *problem.Offer) *droverv1.Offer {
	if o == nil {
		return nil
	}
	return &droverv1.Offer{Site: o.Site, Wait: durationpb.New(o.Wait), Completion: durationpb.New(o.Completion), Width: o.Width}
}

// ProblemOf is the inverse of DetailOf, but for nil, which becomes a problem
// without a reason.
func ProblemOf(d *droverv1.ErrorDetail) *problem.Problem {
	p := &problem.Problem{
		Reason: problem.Reason(d.GetReason()), Field: d.GetField(), Accepted: d.GetAccepted(), Message: d.GetMessage(),
		Hint: d.GetHint(), Retryable: d.GetRetryable(),
	}
	if o := d.GetOffer(); o != nil {
		p.Offer = &problem.Offer{Site: o.GetSite(), Wait: o.GetWait().AsDuration(), Completion: o.GetCompletion().AsDuration(), Width: o.GetWidth()}
	}
	return p
}
