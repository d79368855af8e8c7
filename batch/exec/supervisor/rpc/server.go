package rpc

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"syscall"

	"connectrpc.com/connect"
	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/rpc"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	protorpc "github.com/seed-9b8f70bb/drover/proto/rpc"
)

// handler serves a supervisor.
type handler struct {
	service Service
	log     hclog.Logger
}

// NewServer returns the HTTP server of a supervisor. The caller starts and ends it.
func NewServer(s Service, log hclog.Logger) *http.Server {
	srv, _ := protorpc.Serve(protorpc.Config{
		Name: "supervisor",
		Services: []protorpc.Service{
			protorpc.Handle[droverv1connect.SupervisorServiceHandler](droverv1connect.NewSupervisorServiceHandler,
				handler{s, log}),
		},
		IdleTimeout: -1, // a connection keeps the supervisor alive, with or without calls
		Log:         log,
	})
	return srv
}

func (h handler) LaunchAttempt(
	ctx context.Context, req *droverv1.LaunchAttemptRequest,
) (*droverv1.LaunchAttemptResponse, error) {
	name, err := validName(req.GetName())
	if err != nil {
		return nil, err
	}
	spec := specOf(req)
	if err := spec.Validate(); err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	st, err := h.service.Spawn(ctx, name, spec)
	if errors.Is(err, attempt.ErrNoLease) {
		return nil, connect.NewError(connect.CodeFailedPrecondition, err)
	}
	if err != nil {
		return nil, h.failed(err)
	}
	return &droverv1.LaunchAttemptResponse{Status: rpc.StatusMessage(st)}, nil
}

func (h handler) AttachAttempt(
	ctx context.Context, req *droverv1.AttachAttemptRequest,
) (*droverv1.AttachAttemptResponse, error) {
	name, err := validName(req.GetName())
	if err != nil {
		return nil, err
	}
	st, err := h.service.Attach(ctx, name)
	if err != nil {
		return nil, h.failed(err)
	}
	return &droverv1.AttachAttemptResponse{Status: rpc.StatusMessage(st)}, nil
}

func (h handler) SignalAttempt(
	_ context.Context, req *droverv1.SignalAttemptRequest,
) (*droverv1.SignalAttemptResponse, error) {
	name, err := validName(req.GetName())
	if err != nil {
		return nil, err
	}
	err = h.service.Signal(name, syscall.Signal(req.GetSignal()))
	switch {
	case errors.Is(err, os.ErrProcessDone):
		return &droverv1.SignalAttemptResponse{Ended: true}, nil
	case errors.Is(err, attempt.ErrUnknown):
		return nil, connect.NewError(connect.CodeNotFound, err)
	case err != nil:
		return nil, h.failed(err)
	}
	return &droverv1.SignalAttemptResponse{}, nil
}

func (h handler) WatchAttempts(
	ctx context.Context, _ *droverv1.WatchAttemptsRequest, stream *connect.ServerStream[droverv1.WatchAttemptsResponse],
) error {
	w := h.service.Watch()
	defer w.Close()
	if err := stream.Send(&droverv1.WatchAttemptsResponse{}); err != nil {
		return err
	}
	for {
		all, err := w.Next(ctx)
		if errors.Is(err, ErrSlow) {
			return connect.NewError(connect.CodeResourceExhausted, err)
		}
		if err != nil {
			return err
		}
		for i := range all {
			err := stream.Send(&droverv1.WatchAttemptsResponse{
				Name: nameMessage(all[i].Name), Status: rpc.StatusMessage(all[i].Status),
			})
			if err != nil {
				return err
			}
		}
	}
}

func (h handler) RenewLease(_ context.Context, req *droverv1.RenewLeaseRequest) (*droverv1.RenewLeaseResponse, error) {
	next, held, err := h.service.Renew(req.GetToken(), req.GetDuration().AsDuration())
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	return &droverv1.RenewLeaseResponse{Token: next, Held: held}, nil
}

func (h handler) Dismiss(_ context.Context, req *droverv1.DismissRequest) (*droverv1.DismissResponse, error) {
	h.service.Dismiss(req.GetKill())
	return &droverv1.DismissResponse{}, nil
}

// failed returns an unexpected error with its code. The caller runs as the same user,
// so that the text may contain paths.
func (h handler) failed(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	h.log.Error("call failed", "error", err)
	return connect.NewError(connect.CodeInternal, err)
}

func validName(m *droverv1.AttemptName) (attempt.Name, error) {
	n := nameOf(m)
	if n.Key.Job == "" || !filepath.IsAbs(n.Dir) {
		return n, connect.NewError(connect.CodeInvalidArgument,
			errors.New("name: accepted: a job and an absolute directory"))
	}
	return n, nil
}
