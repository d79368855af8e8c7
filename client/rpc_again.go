package client

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// sentRequest is a request as somebody has sent it before.
type sentRequest struct{ message *droverv1.Request }

// sentIn returns the request of a job, nil when the record is without it.
func sentIn(j *droverv1.Job) *sentRequest {
	if j.GetRequest().GetService() == "" {
		return nil
	}
	return &sentRequest{message: j.GetRequest()}
}

// out returns the request as it is sent anew.
func (s *sentRequest) out(retryOf string) *droverv1.Request {
	m := proto.CloneOf(s.message)
	m.RetryOf = retryOf
	return m
}

// mayRunAgain refuses a request that cannot be submitted anew from its record.
func (s *sentRequest) mayRunAgain(id string) error {
	if !s.message.GetIdempotent() {
		return &Error{
			Reason: ReasonNotIdempotent, Field: "rerun", Accepted: "a job whose request is idempotent",
			Message: fmt.Sprintf("the request of job %s is not idempotent: it must not be executed twice", id),
			Hint:    "wait without a new attempt",
		}
	}
	for name, v := range s.message.GetArguments() {
		if content := contentOf(v); content != nil && content.GetDataId() == "" {
			return &Error{
				Reason: ReasonBadValue, Field: "request.arguments." + name, Accepted: "a request without files",
				Message: fmt.Sprintf("argument %s of job %s is a file, which is at the job's site only", name, id),
				Hint:    "let the one who has the file ask for new attempts when submitting",
			}
		}
	}
	return nil
}
