package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// errGone is wrapped by the error of a call that got no answer: the supervisor
// is not there, or died.
var errGone = errors.New("the supervisor does not answer")

// remote is the supervisor of a directory, whichever life of it.
type remote struct {
	calls droverv1connect.SupervisorServiceClient
	conns *conns
}

func newRemote(dir string) remote {
	open := &conns{dir: dir, all: make(map[*conn]struct{})}
	caller := rpc.NewCaller(rpc.CallerConfig{Dial: open.dial})
	return remote{rpc.Client(caller, droverv1connect.NewSupervisorServiceClient, "http://supervisor"), open}
}

func (r remote) launch(ctx context.Context, a attempt.Name, spec order) (attempt.Status, error) {
	res, err := r.calls.LaunchAttempt(ctx, launchMessage(a, spec))
	if connect.IsWireError(err) && connect.CodeOf(err) == connect.CodeFailedPrecondition {
		return attempt.Status{}, attempt.ErrNoLease
	}
	if err != nil {
		return attempt.Status{}, failure(ctx, err)
	}
	return statusOfMessage(res.GetStatus()), nil
}

func (r remote) attach(ctx context.Context, a attempt.Name) (attempt.Status, error) {
	res, err := r.calls.AttachAttempt(ctx, &droverv1.AttachAttemptRequest{Name: nameMessage(a)})
	if err != nil {
		return attempt.Status{}, failure(ctx, err)
	}
	return statusOfMessage(res.GetStatus()), nil
}

// signal returns os.ErrProcessDone when the program has ended.
func (r remote) signal(ctx context.Context, a attempt.Name, sig syscall.Signal) error {
	res, err := r.calls.SignalAttempt(ctx, &droverv1.SignalAttemptRequest{Name: nameMessage(a), Signal: int32(sig)})
	switch {
	case connect.IsWireError(err) && connect.CodeOf(err) == connect.CodeNotFound:
		return os.ErrProcessDone // its end is on its way here
	case err != nil:
		return failure(ctx, err)
	case res.GetEnded():
		return os.ErrProcessDone
	}
	return nil
}

func (r remote) renew(ctx context.Context, token attempt.Token, d time.Duration) (next attempt.Token, held bool, err error) {
	res, err := r.calls.RenewLease(ctx, &droverv1.RenewLeaseRequest{Token: token, Duration: durationpb.New(d)})
	if err != nil {
		return nil, false, failure(ctx, err)
	}
	return res.GetToken(), res.GetHeld(), nil
}

func (r remote) dismiss(ctx context.Context, kill bool) error {
	if _, err := r.calls.Dismiss(ctx, &droverv1.DismissRequest{Kill: kill}); err != nil {
		return failure(ctx, err)
	}
	return nil
}

// watch begins a watch and returns what waits for the next end.
func (r remote) watch(ctx context.Context) (next func() (attempt.End, error), stop func(), err error) {
	stream, err := r.calls.WatchAttempts(ctx, &droverv1.WatchAttemptsRequest{})
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
		return attempt.End{nameOf(stream.Msg().GetName()), statusOfMessage(stream.Msg().GetStatus())}, nil
	}
	stop = func() { _ = stream.Close() } // what it would say has been heard
	if _, err := next(); err != nil {
		stop()
		return nil, nil, err
	}
	return next, stop, nil
}

// failure tells an answer from none.
func failure(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case connect.IsWireError(err):
		return err
	}
	return fmt.Errorf("%w: %w", errGone, err)
}

// refusedByFace reports whether a call was refused for what it asks, so that
// nothing was done.
func refusedByFace(err error) bool {
	return errors.Is(err, attempt.ErrNoLease) || connect.IsWireError(err) && connect.CodeOf(err) == connect.CodeInvalidArgument
}
