package daemon

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// shortestInterval is how often use is told at most.
const shortestInterval = 10 * time.Millisecond

// face is the daemon's RPC face.
type face struct{ *Daemon }

// face returns an HTTP server that is not started.
func (d *Daemon) face() *http.Server {
	srv, _ := rpc.Serve(rpc.Config{
		Name:     "node daemon",
		Services: []rpc.Service{rpc.Handle[droverv1connect.NodeServiceHandler](droverv1connect.NewNodeServiceHandler, face{d})},
		Log:      d.log,
	})
	return srv
}

func (f face) DescribeNode(context.Context, *droverv1.DescribeNodeRequest) (*droverv1.DescribeNodeResponse, error) {
	res := &droverv1.DescribeNodeResponse{
		Name: f.cfg.Name, Processors: int32(f.cfg.Processors), MemoryBytes: f.cfg.Memory, Site: f.site(),
		Tasks: int32(len(f.host.Running())), Version: f.cfg.Version,
	}
	for _, o := range f.host.Offers() {
		res.Offers = append(res.Offers, &droverv1.NodeOffer{Ability: o.Ability.String(), Way: o.Way.String(), Why: o.Why})
	}
	return res, nil
}

func (f face) RenewNode(ctx context.Context, req *droverv1.RenewNodeRequest) (*droverv1.RenewNodeResponse, error) {
	o := ownerOf(req.GetClaimant())
	if o.Site == "" || o.ID == "" {
		return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("claimant: accepted: a site and the ID of a data directory"))
	}
	d := req.GetDuration().AsDuration()
	if d < supervisor.ShortestLease || d > supervisor.LongestLease {
		return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("duration: accepted: 10ms to 24h"))
	}
	if err := f.called(req.GetClaimant().GetNode()); err != nil {
		return nil, f.failed(err)
	}
	if err := f.claim(o); err != nil {
		return nil, f.failed(err)
	}
	next, held, err := f.host.Renew(ctx, req.GetToken(), d)
	if err != nil {
		return nil, f.failed(err)
	}
	res := &droverv1.RenewNodeResponse{Token: next, Held: held}
	if err := f.host.Fit(); err != nil {
		res.Unfit = err.Error()
	}
	return res, nil
}

// admits refuses everybody but the owner, and one who takes this for another node.
func (f face) admits(c *droverv1.Claimant) error {
	if err := f.called(c.GetNode()); err != nil {
		return err
	}
	return f.serves(ownerOf(c))
}

func (f face) LaunchTask(ctx context.Context, req *droverv1.LaunchTaskRequest) (*droverv1.LaunchTaskResponse, error) {
	if err := f.admits(req.GetClaimant()); err != nil {
		return nil, f.failed(err)
	}
	task, err := taskOf(req)
	if err != nil {
		return nil, f.failed(err)
	}
	st := attempt.Status{Condition: attempt.Failed}
	switch p, err := f.host.Launch(ctx, task); {
	case errors.Is(err, supervisor.ErrBarred):
		st = attempt.Status{Condition: attempt.Barred}
	case passing(err):
		return nil, f.failed(err)
	case errors.Is(err, exec.ErrNeverRan):
		st = attempt.Status{Condition: attempt.NeverRan, Reason: strings.TrimPrefix(err.Error(), exec.ErrNeverRan.Error()+": ")}
	case err != nil:
		st.Reason = err.Error()
	default:
		if st = p.Status(); st.Condition == 0 {
			return nil, f.failed(supervisor.ErrClosed)
		}
	}
	return &droverv1.LaunchTaskResponse{Status: statusMessage(st)}, nil
}

// passing reports whether a launch that failed says nothing about the task.
func passing(err error) bool {
	var invalid *node.InvalidError
	return errors.Is(err, attempt.ErrNoLease) || errors.Is(err, supervisor.ErrClosed) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) || errors.As(err, &invalid)
}

func (f face) AttachTask(ctx context.Context, req *droverv1.AttachTaskRequest) (*droverv1.AttachTaskResponse, error) {
	if err := f.admits(req.GetClaimant()); err != nil {
		return nil, f.failed(err)
	}
	st, _, err := f.host.Attach(ctx, idOf(req.GetName()))
	if err != nil {
		return nil, f.failed(err)
	}
	return &droverv1.AttachTaskResponse{Status: statusMessage(st)}, nil
}

func (f face) BarTask(_ context.Context, req *droverv1.BarTaskRequest) (*droverv1.BarTaskResponse, error) {
	if err := f.admits(req.GetClaimant()); err != nil {
		return nil, f.failed(err)
	}
	won, err := f.host.Bar(idOf(req.GetName()))
	if err != nil {
		return nil, f.failed(err)
	}
	return &droverv1.BarTaskResponse{Won: won}, nil
}

func (f face) SignalTask(_ context.Context, req *droverv1.SignalTaskRequest) (*droverv1.SignalTaskResponse, error) {
	if err := f.admits(req.GetClaimant()); err != nil {
		return nil, f.failed(err)
	}
	if req.GetSignal() < 1 || req.GetSignal() > 64 {
		return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("signal: accepted: 1 to 64"))
	}
	p := f.host.Find(idOf(req.GetName()))
	if p == nil {
		return &droverv1.SignalTaskResponse{Ended: true}, nil
	}
	err := f.orders.carryOut(p.ID(), orderOf(req.GetOrder()), lastSignal, func() error { return p.Signal(syscall.Signal(req.GetSignal())) })
	switch {
	case errors.Is(err, os.ErrProcessDone):
		return &droverv1.SignalTaskResponse{Ended: true}, nil
	case err != nil:
		return nil, f.failed(err)
	}
	return &droverv1.SignalTaskResponse{}, nil
}

func (f face) SetShares(_ context.Context, req *droverv1.SetSharesRequest) (*droverv1.SetSharesResponse, error) {
	if err := f.admits(req.GetClaimant()); err != nil {
		return nil, f.failed(err)
	}
	res := &droverv1.SetSharesResponse{}
	var first error
	for _, s := range req.GetShares() {
		p := f.host.Find(idOf(s.GetName()))
		if p == nil {
			continue
		}
		err := f.orders.carryOut(p.ID(), orderOf(req.GetOrder()), lastShares, func() error {
			_, err := p.Share(cgroup.CPU(s.GetCpu()))
			return err
		})
		switch {
		case errors.Is(err, errLate):
			return nil, f.failed(err)
		case err != nil && !errors.Is(err, os.ErrProcessDone):
			if first == nil {
				first = err
			}
			res.Refused = append(res.Refused, &droverv1.TaskRefusal{Name: s.GetName(), Reason: reason(err)})
		}
	}
	if first != nil { // a controller that has vanished refuses those of all tasks, each time
		f.log.Warn("shares not set", "tasks", len(res.Refused), "first", first)
	}
	return res, nil
}

func (f face) WatchNode(ctx context.Context, req *droverv1.WatchNodeRequest, stream *connect.ServerStream[droverv1.WatchNodeResponse]) error {
	if err := f.admits(req.GetClaimant()); err != nil {
		return f.failed(err)
	}
	w := f.watchers.add()
	defer f.watchers.remove(w)
	if err := stream.Send(&droverv1.WatchNodeResponse{Watch: f.orders.begin()}); err != nil {
		return err
	}
	var tick <-chan time.Time
	if d := req.GetUseInterval().AsDuration(); d > 0 {
		t := time.NewTicker(max(d, shortestInterval))
		defer t.Stop()
		tick = t.C
	}
	for {
		var all []*droverv1.WatchNodeResponse
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick:
			all = append(all, &droverv1.WatchNodeResponse{Use: f.use()})
		case <-w.wake:
		}
		ends, err := f.watchers.take(w)
		if err != nil {
			return connect.NewError(connect.CodeUnavailable, err)
		}
		for _, e := range ends {
			all = append(all, &droverv1.WatchNodeResponse{Name: nameMessage(e.id), Status: statusMessage(e.status)})
		}
		for _, m := range all {
			if err := stream.Send(m); err != nil {
				return err
			}
		}
	}
}

// use measures all tasks that run.
func (f face) use() []*droverv1.TaskUse {
	var all []*droverv1.TaskUse
	for _, p := range f.host.Running() {
		u, err := p.Use()
		waited, unknown := p.Waited()
		if unknown != nil {
			waited = 0
		}
		if err == nil {
			all = append(all, useMessage(p.ID(), u, waited))
		} else if !errors.Is(err, os.ErrProcessDone) {
			f.log.Debug("not measured", "task", p.ID(), "error", err)
		}
	}
	return all
}

// failed gives an error its code.
func (f face) failed(err error) error {
	var owned *OwnedError
	var named *NameError
	var invalid *node.InvalidError
	switch {
	case errors.As(err, &owned), errors.As(err, &named):
		return connect.NewError(connect.CodePermissionDenied, err)
	case errors.Is(err, errUnclaimed), errors.Is(err, errLate), errors.Is(err, attempt.ErrNoLease):
		return connect.NewError(connect.CodeFailedPrecondition, err)
	case errors.As(err, &invalid):
		return connect.NewError(connect.CodeInvalidArgument, err)
	case errors.Is(err, supervisor.ErrClosed):
		return connect.NewError(connect.CodeUnavailable, err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	f.log.Error("call failed", "error", err)
	return connect.NewError(connect.CodeInternal, errors.New(reason(err)))
}
