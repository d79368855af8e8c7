package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/rpc"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	protorpc "github.com/seed-9b8f70bb/drover/proto/rpc"
)

// Client calls the supervisor that dial reaches. An error wraps ErrGone when no answer
// came.
type Client struct {
	calls droverv1connect.SupervisorServiceClient
}

// NewClient returns a client. It does not connect yet.
func NewClient(dial func(ctx context.Context, network, address string) (net.Conn, error)) *Client {
	caller := protorpc.NewCaller(protorpc.CallerConfig{Dial: dial})
	return &Client{protorpc.Client(caller, droverv1connect.NewSupervisorServiceClient, "http://supervisor")}
}

// Spawn is Service.Spawn.
func (c *Client) Spawn(ctx context.Context, name attempt.Name, spec attempt.Spec) (attempt.Status, error) {
	res, err := c.calls.LaunchAttempt(ctx, specMessage(name, spec))
	if connect.IsWireError(err) && connect.CodeOf(err) == connect.CodeFailedPrecondition {
		return attempt.Status{}, attempt.ErrNoLease
	}
	if err != nil {
		return attempt.Status{}, failure(ctx, err)
	}
	return rpc.StatusOf(res.GetStatus()), nil
}

// Attach is Service.Attach.
func (c *Client) Attach(ctx context.Context, name attempt.Name) (attempt.Status, error) {
	res, err := c.calls.AttachAttempt(ctx, &droverv1.AttachAttemptRequest{Name: nameMessage(name)})
	if err != nil {
		return attempt.Status{}, failure(ctx, err)
	}
	return rpc.StatusOf(res.GetStatus()), nil
}

// Signal returns os.ErrProcessDone when the program has ended.
func (c *Client) Signal(ctx context.Context, name attempt.Name, sig syscall.Signal) error {
	res, err := c.calls.SignalAttempt(ctx, &droverv1.SignalAttemptRequest{Name: nameMessage(name), Signal: int32(sig)})
	switch {
	case connect.IsWireError(err) && connect.CodeOf(err) == connect.CodeNotFound:
		return os.ErrProcessDone // the watch is about to deliver its end
	case err != nil:
		return failure(ctx, err)
	case res.GetEnded():
		return os.ErrProcessDone
	}
	return nil
}

// Renew is Service.Renew.
func (c *Client) Renew(
	ctx context.Context, t attempt.Token, d time.Duration,
) (next attempt.Token, held bool, err error) {
	res, err := c.calls.RenewLease(ctx, &droverv1.RenewLeaseRequest{Token: t, Duration: durationpb.New(d)})
	if err != nil {
		return nil, false, failure(ctx, err)
	}
	return res.GetToken(), res.GetHeld(), nil
}

// Dismiss is Service.Dismiss.
func (c *Client) Dismiss(ctx context.Context, kill bool) error {
	if _, err := c.calls.Dismiss(ctx, &droverv1.DismissRequest{Kill: kill}); err != nil {
		return failure(ctx, err)
	}
	return nil
}

// Watch begins a watch. Next waits for the next end; stop ends the watch.
func (c *Client) Watch(ctx context.Context) (next func() (attempt.End, error), stop func(), err error) {
	stream, err := c.calls.WatchAttempts(ctx, &droverv1.WatchAttemptsRequest{})
	if err != nil {
		return nil, nil, failure(ctx, err)
	}
	next = func() (attempt.End, error) {
		if !stream.Receive() {
			err := stream.Err()
			if err == nil {
				err = errors.New("end of the watch")
			}
			return attempt.End{}, failure(ctx, err)
		}
		return attempt.End{Name: nameOf(stream.Msg().GetName()), Status: rpc.StatusOf(stream.Msg().GetStatus())}, nil
	}
	stop = func() { _ = stream.Close() } // its error adds nothing to that of next
	if _, err := next(); err != nil {    // the first message says that the watch has begun
		stop()
		return nil, nil, err
	}
	return next, stop, nil
}

// failure wraps ErrGone around an error that is not an answer.
func failure(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case connect.IsWireError(err):
		return err
	}
	return fmt.Errorf("%w: %w", ErrGone, err)
}

// Refused reports whether a supervisor refused a call because of its arguments or its
// lease, and therefore did nothing.
func Refused(err error) bool {
	return errors.Is(err, attempt.ErrNoLease) ||
		connect.IsWireError(err) && connect.CodeOf(err) == connect.CodeInvalidArgument
}
