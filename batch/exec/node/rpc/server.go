package rpc

import (
	"context"
	"errors"
	"net/http"
	"os"
	"syscall"

	"connectrpc.com/connect"
	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
	"github.com/seed-9b8f70bb/drover/batch/exec/rpc"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	protorpc "github.com/seed-9b8f70bb/drover/proto/rpc"
)

// handler serves a daemon.
type handler struct {
	service Service
	log     hclog.Logger
}

// NewServer returns the HTTP server of a daemon. The caller starts and ends it.
func NewServer(s Service, log hclog.Logger) *http.Server {
	srv, _ := protorpc.Serve(protorpc.Config{
		Name: "node daemon",
		Services: []protorpc.Service{protorpc.Handle[droverv1connect.NodeServiceHandler](
			droverv1connect.NewNodeServiceHandler, handler{s, log},
		)},
		Log: log,
	})
	return srv
}

func (h handler) DescribeNode(context.Context, *droverv1.DescribeNodeRequest) (*droverv1.DescribeNodeResponse, error) {
	d := h.service.Describe()
	res := &droverv1.DescribeNodeResponse{
		Name: d.Name, Processors: int32(d.Processors), MemoryBytes: d.Memory, Site: d.Site, Tasks: int32(d.Tasks),
		Version: d.Version,
	}
	for _, o := range d.Offers {
		res.Offers = append(res.Offers, &droverv1.NodeOffer{Ability: o.Ability, Way: o.Way, Why: o.Why})
	}
	return res, nil
}

func (h handler) RenewNode(ctx context.Context, req *droverv1.RenewNodeRequest) (*droverv1.RenewNodeResponse, error) {
	r, err := h.service.Renew(ctx, claimantOf(req.GetClaimant()), req.GetToken(), req.GetDuration().AsDuration())
	if err != nil {
		return nil, h.failed(err)
	}
	return &droverv1.RenewNodeResponse{Token: r.Next, Held: r.Held, Unfit: r.Unfit}, nil
}

func (h handler) LaunchTask(
	ctx context.Context, req *droverv1.LaunchTaskRequest,
) (*droverv1.LaunchTaskResponse, error) {
	st, err := h.service.Launch(ctx, claimantOf(req.GetClaimant()), taskOf(req))
	if err != nil {
		return nil, h.failed(err)
	}
	return &droverv1.LaunchTaskResponse{Status: rpc.StatusMessage(st)}, nil
}

func (h handler) AttachTask(
	ctx context.Context, req *droverv1.AttachTaskRequest,
) (*droverv1.AttachTaskResponse, error) {
	st, err := h.service.Attach(ctx, claimantOf(req.GetClaimant()), idOf(req.GetName()))
	if err != nil {
		return nil, h.failed(err)
	}
	return &droverv1.AttachTaskResponse{Status: rpc.StatusMessage(st)}, nil
}

func (h handler) BarTask(_ context.Context, req *droverv1.BarTaskRequest) (*droverv1.BarTaskResponse, error) {
	won, err := h.service.Bar(claimantOf(req.GetClaimant()), idOf(req.GetName()))
	if err != nil {
		return nil, h.failed(err)
	}
	return &droverv1.BarTaskResponse{Won: won}, nil
}

func (h handler) SignalTask(_ context.Context, req *droverv1.SignalTaskRequest) (*droverv1.SignalTaskResponse, error) {
	err := h.service.Signal(claimantOf(req.GetClaimant()), idOf(req.GetName()), syscall.Signal(req.GetSignal()),
		sequenceOf(req.GetOrder()))
	switch {
	case errors.Is(err, os.ErrProcessDone):
		return &droverv1.SignalTaskResponse{Ended: true}, nil
	case err != nil:
		return nil, h.failed(err)
	}
	return &droverv1.SignalTaskResponse{}, nil
}

func (h handler) SetShares(_ context.Context, req *droverv1.SetSharesRequest) (*droverv1.SetSharesResponse, error) {
	all := make([]node.Share, 0, len(req.GetShares()))
	for _, s := range req.GetShares() {
		all = append(all, node.Share{ID: idOf(s.GetName()), CPU: cgroup.CPU(s.GetCpu())})
	}
	refused, err := h.service.SetShares(claimantOf(req.GetClaimant()), all, sequenceOf(req.GetOrder()))
	if err != nil {
		return nil, h.failed(err)
	}
	res := &droverv1.SetSharesResponse{}
	for _, r := range refused {
		res.Refused = append(res.Refused, &droverv1.TaskRefusal{Name: idMessage(r.ID), Reason: r.Reason})
	}
	return res, nil
}

func (h handler) WatchNode(
	ctx context.Context, req *droverv1.WatchNodeRequest, stream *connect.ServerStream[droverv1.WatchNodeResponse],
) error {
	w, err := h.service.Watch(claimantOf(req.GetClaimant()), req.GetUseInterval().AsDuration())
	if err != nil {
		return h.failed(err)
	}
	defer w.Close()
	if err := stream.Send(&droverv1.WatchNodeResponse{Watch: w.Number()}); err != nil {
		return err
	}
	for {
		all, err := w.Next(ctx)
		if err != nil {
			return h.failed(err)
		}
		for i := range all {
			if err := stream.Send(updateMessage(&all[i])); err != nil {
				return err
			}
		}
	}
}

// failed returns an error with its code.
func (h handler) failed(err error) error {
	var owned *node.OwnedError
	var named *node.NameError
	var invalid *node.InvalidError
	switch {
	case errors.As(err, &owned), errors.As(err, &named):
		return connect.NewError(connect.CodePermissionDenied, err)
	case errors.Is(err, node.ErrUnclaimed), errors.Is(err, node.ErrStale), errors.Is(err, attempt.ErrNoLease):
		return connect.NewError(connect.CodeFailedPrecondition, err)
	case errors.As(err, &invalid):
		return connect.NewError(connect.CodeInvalidArgument, err)
	case errors.Is(err, supervisor.ErrClosed), errors.Is(err, node.ErrSlow), errors.Is(err, node.ErrStopping):
		return connect.NewError(connect.CodeUnavailable, err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	h.log.Error("call failed", "error", err)
	return connect.NewError(connect.CodeInternal, errors.New(node.PublicMessage(err)))
}
