package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch/external"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/files"
	"github.com/seed-9b8f70bb/drover/server/files/blobs"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// errStopping is the error of a server that is about to stop.
var errStopping = &problem.Problem{
	Reason: problem.Stopping, Message: "the server is stopping", Retryable: true,
	Hint: "ask the agent for another site, or try again when this one is back",
}

// isStopping reports whether an error is that of a server that is about to stop.
func isStopping(err error) bool {
	p, ok := errors.AsType[*problem.Problem](err)
	return ok && p.Reason == problem.Stopping
}

// Problem returns the public form of an error. It returns nil for an internal error, because its text can
// contain paths and belongs in the log only.
func (s *Server) Problem(err error) *problem.Problem { return problemOf(err) }

func problemOf(err error) *problem.Problem {
	var (
		p          *problem.Problem
		transition *site.TransitionError
		size       *blobs.SizeError
		mismatch   *blobs.MismatchError
		offset     *blobs.OffsetError
		unknown    *external.UnknownError
	)
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &size):
		return &problem.Problem{
			Reason: problem.TooLarge, Field: "size_bytes", Accepted: fmt.Sprintf("at most %d bytes", size.Limit),
			Message: size.Error(),
		}
	case errors.As(err, &mismatch):
		return &problem.Problem{
			Reason: problem.BadValue, Field: mismatch.Field, Accepted: "the value of the content",
			Message: mismatch.Error(),
			Hint:    "the file changed or was damaged in transit: send it again",
		}
	case errors.As(err, &offset):
		return &problem.Problem{
			Reason: problem.OutOfRange, Field: "offset", Accepted: fmt.Sprintf("0 to %d", offset.Have),
			Message: offset.Error(), Retryable: true,
			Hint: "ask how much has arrived and continue from there",
		}
	case errors.Is(err, blobs.ErrArriving), errors.Is(err, blobs.ErrTaken):
		return &problem.Problem{
			Reason: problem.Arriving, Field: "offset", Accepted: "0, or later the number of bytes that have arrived",
			Retryable: true,
			Message:   "another client is uploading the same content",
			Hint:      "ask how much has arrived and continue from there",
		}
	case dataProblem(err) != nil:
		return dataProblem(err)
	case isFull(err), files.IsFull(err):
		return errDiskFull
	case errors.As(err, &transition):
		return &problem.Problem{Reason: problem.NotWaiting, Field: "job_id", Message: transition.Error()}
	case closed(err):
		return errStopping
	case errors.As(err, &unknown):
		return &problem.Problem{
			Reason: problem.BatchSilent, Message: "the site's batch system does not answer", Retryable: true,
			Hint: "its jobs keep running; drover sites shows other sites",
		}
	case errors.Is(err, site.ErrNoPlan):
		return &problem.Problem{
			Reason: problem.NoEstimate, Message: err.Error(),
			Hint: "the server's log has the reason; drover sites shows other sites",
		}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &problem.Problem{
			Reason: problem.Timeout, Message: "the call ended before it was answered",
			Retryable: true,
		}
	}
	return nil
}
