package supervisor

import (
	"context"
	"errors"
	"net/http"
	"os"
	"syscall"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// face is the supervisor's RPC face.
type face struct{ *supervisor }

// face returns an HTTP server that is not started.
func (s *supervisor) face() *http.Server {
	srv, _ := rpc.Serve(rpc.Config{
		Name: "supervisor",
		Services: []rpc.Service{
			rpc.Handle[droverv1connect.SupervisorServiceHandler](droverv1connect.NewSupervisorServiceHandler, face{s}),
		},
		IdleTimeout: -1, // a connection keeps the supervisor alive, with or without calls
		Log:         s.log,
	})
	return srv
}

func (f face) LaunchAttempt(ctx context.Context, req *droverv1.LaunchAttemptRequest) (*droverv1.LaunchAttemptResponse, error) {
	a, err := attemptOf(req.GetName())
	if err != nil {
		return nil, err
	}
	spec := orderOf(req)
	if err := checkOrder(&spec); err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	st, err := f.launch(ctx, a, spec)
	if errors.Is(err, attempt.ErrNoLease) {
		return nil, connect.NewError(connect.CodeFailedPrecondition, err)
	}
	if err != nil {
		return nil, f.failed(err)
	}
	return &droverv1.LaunchAttemptResponse{Status: statusMessage(st)}, nil
}

func (f face) AttachAttempt(ctx context.Context, req *droverv1.AttachAttemptRequest) (*droverv1.AttachAttemptResponse, error) {
	a, err := attemptOf(req.GetName())
	if err != nil {
		return nil, err
	}
	st, err := f.attach(ctx, a)
	if err != nil {
		return nil, f.failed(err)
	}
	return &droverv1.AttachAttemptResponse{Status: statusMessage(st)}, nil
}

func (f face) SignalAttempt(_ context.Context, req *droverv1.SignalAttemptRequest) (*droverv1.SignalAttemptResponse, error) {
	a, err := attemptOf(req.GetName())
	if err != nil {
		return nil, err
	}
	err = f.signal(a, syscall.Signal(req.GetSignal()))
	switch {
	case errors.Is(err, os.ErrProcessDone):
		return &droverv1.SignalAttemptResponse{Ended: true}, nil
	case errors.Is(err, attempt.ErrUnknown):
		return nil, connect.NewError(connect.CodeNotFound, err)
	case err != nil:
		return nil, f.failed(err)
	}
	return &droverv1.SignalAttemptResponse{}, nil
}

func (f face) WatchAttempts(ctx context.Context, _ *droverv1.WatchAttemptsRequest, stream *connect.ServerStream[droverv1.WatchAttemptsResponse]) error {
	w := f.watchers.add()
	defer f.watchers.remove(w)
	if err := stream.Send(&droverv1.WatchAttemptsResponse{}); err != nil {
		return err
	}
	for {
		all, err := f.watchers.next(ctx, w)
		if errors.Is(err, errSlow) {
			return connect.NewError(connect.CodeResourceExhausted, err)
		}
		if err != nil {
			return err
		}
		for i := range all {
			err := stream.Send(&droverv1.WatchAttemptsResponse{
				Name: nameMessage(all[i].Name), Status: statusMessage(all[i].Status),
			})
			if err != nil {
				return err
			}
		}
	}
}

func (f face) RenewLease(_ context.Context, req *droverv1.RenewLeaseRequest) (*droverv1.RenewLeaseResponse, error) {
	next, held, err := f.renew(req.GetToken(), req.GetDuration().AsDuration())
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	return &droverv1.RenewLeaseResponse{Token: next, Held: held}, nil
}

func (f face) Dismiss(_ context.Context, req *droverv1.DismissRequest) (*droverv1.DismissResponse, error) {
	f.dismiss(req.GetKill())
	return &droverv1.DismissResponse{}, nil
}

// failed gives an error that nobody expects its code. The caller runs for the
// same user, and may see paths.
func (f face) failed(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	f.log.Error("call failed", "error", err)
	return connect.NewError(connect.CodeInternal, err)
}
