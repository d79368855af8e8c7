package rpc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// calls is what Serve does around every call: it logs the call, recovers from a
// panic, and turns the error into one that the caller can read.
type calls struct {
	name    string
	problem func(error) *problem.Problem // may be nil
	log     hclog.Logger
}

var _ connect.Interceptor = (*calls)(nil)

// WrapUnary implements connect.Interceptor.
func (c *calls) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		began := time.Now()
		res, err := next(ctx, req)
		return res, c.finish(req.Spec().Procedure, began, err)
	}
}

// WrapStreamingClient implements connect.Interceptor. Serve makes no clients.
func (c *calls) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler implements connect.Interceptor.
func (c *calls) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		began := time.Now()
		return c.finish(conn.Spec().Procedure, began, next(ctx, conn))
	}
}

// finish logs a call and returns its error as one of Connect.
func (c *calls) finish(procedure string, began time.Time, err error) error {
	c.log.Debug("call", "procedure", procedure, "duration", time.Since(began), "error", err)
	if err == nil {
		return nil
	}
	if already, ok := errors.AsType[*connect.Error](err); ok {
		return already // a message that cannot be read, or a stream that its reader has left
	}
	p := c.problemOf(procedure, err)
	return WithDetail(p, p)
}

// problemOf returns the problem that the caller gets for err. The text of an error that
// the process does not know can name files of the host, so only the log gets it.
func (c *calls) problemOf(procedure string, err error) *problem.Problem {
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return p
	}
	if c.problem != nil {
		if p := c.problem(err); p != nil {
			return p
		}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &problem.Problem{
			Reason: problem.Timeout, Message: "the call ended before the answer was ready", Retryable: true,
		}
	}
	c.log.Error("call failed", "procedure", procedure, "error", err)
	return c.defect()
}

func (c *calls) defect() *problem.Problem {
	return problem.New(problem.Internal, "the %s failed; its log says more", c.name)
}

// recover returns the error of a handler that panicked.
func (c *calls) recover(_ context.Context, spec connect.Spec, _ http.Header, cause any) error {
	return c.panicked(spec.Procedure, cause)
}

// recovered returns the error of do, also when do panics.
func (c *calls) recovered(procedure string, do func() error) (err error) {
	defer func() {
		switch cause := recover(); cause {
		case nil:
		case http.ErrAbortHandler: // net/http handles it
			panic(cause)
		default:
			err = c.panicked(procedure, cause)
		}
	}()
	return do()
}

func (c *calls) panicked(procedure string, cause any) error {
	c.log.Error("panic", "procedure", procedure, "cause", fmt.Sprint(cause), "stack", hclog.Stacktrace())
	return c.defect()
}
