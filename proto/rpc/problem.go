package rpc

import (
	"strings"
	"unicode/utf8"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// WithDetail returns err as a Connect error with the code of p's reason and p as its
// detail. err can be p itself. Long texts are cut.
func WithDetail(err error, p *problem.Problem) *connect.Error {
	e := connect.NewError(Code(p.Reason), boundedError{err})
	if d, err := connect.NewErrorDetail(DetailOf(p)); err == nil {
		e.AddDetail(d)
	}
	return e
}

// DetailOf returns a problem for the wire, with valid and bounded texts; nil for nil.
func DetailOf(p *problem.Problem) *droverv1.ErrorDetail {
	if p == nil {
		return nil
	}
	return &droverv1.ErrorDetail{
		Reason: string(p.Reason), Field: bounded(p.Field, mostField), Accepted: bounded(p.Accepted, mostText),
		Message: bounded(p.Message, mostText), Hint: bounded(p.Hint, mostText), Retryable: p.Retryable,
		Offer: offerOf(p.Offer),
	}
}

func offerOf(o *problem.Offer) *droverv1.Offer {
	if o == nil {
		return nil
	}
	return &droverv1.Offer{
		Site: o.Site, Wait: durationpb.New(o.Wait), Completion: durationpb.New(o.Completion), Width: o.Width,
	}
}

// ProblemOf is the inverse of DetailOf. nil becomes a problem without a reason.
func ProblemOf(d *droverv1.ErrorDetail) *problem.Problem {
	p := &problem.Problem{
		Reason: problem.Reason(d.GetReason()), Field: d.GetField(), Accepted: d.GetAccepted(), Message: d.GetMessage(),
		Hint: d.GetHint(), Retryable: d.GetRetryable(),
	}
	if o := d.GetOffer(); o != nil {
		p.Offer = &problem.Offer{
			Site: o.GetSite(), Wait: o.GetWait().AsDuration(), Completion: o.GetCompletion().AsDuration(),
			Width: o.GetWidth(),
		}
	}
	return p
}

// codes are the Connect codes of the classes.
var codes = map[problem.Class]connect.Code{
	problem.Invalid:       connect.CodeInvalidArgument,
	problem.NotFound:      connect.CodeNotFound,
	problem.Conflict:      connect.CodeAlreadyExists,
	problem.Precondition:  connect.CodeFailedPrecondition,
	problem.Exhausted:     connect.CodeResourceExhausted,
	problem.Aborted:       connect.CodeAborted,
	problem.Unavailable:   connect.CodeUnavailable,
	problem.TimedOut:      connect.CodeDeadlineExceeded,
	problem.Unimplemented: connect.CodeUnimplemented,
	problem.Defect:        connect.CodeInternal,
}

// Code returns the Connect code of a reason, CodeUnknown for one that this
// program does not know.
func Code(r problem.Reason) connect.Code {
	if code, ok := codes[r.Class()]; ok {
		return code
	}
	return connect.CodeUnknown
}

// The largest texts of an error, in bytes. An error repeats names that a caller sent, and
// gRPC sends the error in a header: a name of megabytes would break the call.
const (
	mostField = 512
	mostText  = 4096
)

// bounded returns valid UTF-8 of at most most bytes. A cut text ends with "...".
func bounded(text string, most int) string {
	const cut = "..."
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if len(text) <= most {
		return text
	}
	end := most - len(cut)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + cut
}

// boundedError is an error with a bounded text.
type boundedError struct{ error }

// Error returns the bounded text.
func (e boundedError) Error() string { return bounded(e.error.Error(), mostText) }

// Unwrap returns the original error.
func (e boundedError) Unwrap() error { return e.error }
