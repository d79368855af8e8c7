package problem

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Problem is an error that users see. Its fields are those of the message ErrorDetail,
// which explains them.
type Problem struct {
	Reason    Reason
	Field     string // path into the request, "request.width"; empty for none
	Accepted  string // "1..64", "one of lu, sleep"
	Message   string // one sentence with the problem and the value
	Hint      string // what a user can do about it
	Retryable bool   // the same call can succeed later
	Offer     *Offer // the nearest alternative; nil for none

	// Cause is the error underneath, for errors.Is and errors.As. It stays in
	// the process that made it.
	Cause error
}

// Offer is a slot that a site could give instead. Durations count from the answer.
type Offer struct {
	Site       string
	Wait       time.Duration
	Completion time.Duration
	Width      int32
}

// Error returns the message with its field and what would have been accepted,
// unless the message names them already.
func (p *Problem) Error() string {
	text := p.Message
	if text == "" && p.Cause != nil {
		text = p.Cause.Error()
	}
	if p.Accepted == "" || strings.Contains(text, "accepted: ") {
		return text
	}
	if p.Field != "" && !strings.HasPrefix(text, p.Field) {
		text = p.Field + ": " + text
	}
	return text + ", accepted: " + p.Accepted
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Cause }

// New returns a problem without a field.
func New(r Reason, format string, args ...any) *Problem {
	return &Problem{Reason: r, Message: fmt.Sprintf(format, args...)}
}

// Field returns a problem with one field of a request. The message is formatted
// from format and args and begins with the field's path.
func Field(r Reason, field, accepted, format string, args ...any) *Problem {
	return &Problem{Reason: r, Field: field, Accepted: accepted, Message: field + ": " + fmt.Sprintf(format, args...)}
}

// ReasonOf returns the reason of a problem anywhere in err's chain, "" if there
// is none.
func ReasonOf(err error) Reason {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p.Reason
	}
	return ""
}
