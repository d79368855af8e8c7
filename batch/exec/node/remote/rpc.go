package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// dialPatience is how long a connection may take to be made.
const dialPatience = 2 * time.Second

// remote is the daemon of a node, whichever life of it.
type remote struct {
	calls    droverv1connect.NodeServiceClient
	caller   *rpc.Caller
	claimant *droverv1.Claimant
}

func newRemote(cfg Config) remote {
	caller := rpc.NewCaller(rpc.CallerConfig{DialTimeout: dialPatience})
	return remote{
		calls:    rpc.Client(caller, droverv1connect.NewNodeServiceClient, cfg.Address),
		caller:   caller,
		claimant: &droverv1.Claimant{Site: cfg.Site, Id: cfg.SiteID, Node: cfg.Name},
	}
}

func (r remote) close() { r.caller.Close() }

func (r remote) describe(ctx context.Context) (Description, error) {
	res, err := r.calls.DescribeNode(ctx, &droverv1.DescribeNodeRequest{})
	if err != nil {
		return Description{}, failure(err)
	}
	d := Description{
		Name: res.GetName(), Processors: int(res.GetProcessors()), Memory: res.GetMemoryBytes(), Site: res.GetSite(),
		Tasks: int(res.GetTasks()), Version: res.GetVersion(),
	}
	for _, o := range res.GetOffers() {
		d.Offers = append(d.Offers, Offer{Ability: o.GetAbility(), Way: o.GetWay(), Why: o.GetWhy()})
	}
	return d, nil
}

// renewal is the answer to one.
type renewal struct {
	next  attempt.Token
	held  bool
	unfit string // why nothing can be started there now
}

func (r remote) renew(ctx context.Context, t attempt.Token, d time.Duration) (renewal, error) {
	res, err := r.calls.RenewNode(ctx, &droverv1.RenewNodeRequest{Claimant: r.claimant, Token: t, Duration: durationpb.New(d)})
	if err != nil {
		return renewal{}, failure(err)
	}
	return renewal{next: res.GetToken(), held: res.GetHeld(), unfit: res.GetUnfit()}, nil
}

func (r remote) launch(ctx context.Context, t node.Task) (attempt.Status, error) {
	res, err := r.calls.LaunchTask(ctx, launchMessage(r.claimant, t))
	if connect.IsWireError(err) && connect.CodeOf(err) == connect.CodeFailedPrecondition {
		return attempt.Status{}, attempt.ErrNoLease
	}
	if err != nil {
		return attempt.Status{}, failure(err)
	}
	return statusOf(res.GetStatus()), nil
}

func (r remote) attach(ctx context.Context, id node.ID) (attempt.Status, error) {
	res, err := r.calls.AttachTask(ctx, &droverv1.AttachTaskRequest{Claimant: r.claimant, Name: nameMessage(id)})
	if err != nil {
		return attempt.Status{}, failure(err)
	}
	return statusOf(res.GetStatus()), nil
}

func (r remote) bar(ctx context.Context, id node.ID) (bool, error) {
	res, err := r.calls.BarTask(ctx, &droverv1.BarTaskRequest{Claimant: r.claimant, Name: nameMessage(id)})
	if err != nil {
		return false, failure(err)
	}
	return res.GetWon(), nil
}

// signal returns os.ErrProcessDone when the task has ended.
func (r remote) signal(ctx context.Context, id node.ID, sig syscall.Signal, o order) error {
	res, err := r.calls.SignalTask(ctx, &droverv1.SignalTaskRequest{
		Claimant: r.claimant, Name: nameMessage(id), Signal: int32(sig), Order: orderMessage(o),
	})
	switch {
	case err != nil:
		return late(err)
	case res.GetEnded():
		return os.ErrProcessDone
	}
	return nil
}

func (r remote) setShares(ctx context.Context, all []Share, o order) error {
	req := &droverv1.SetSharesRequest{Claimant: r.claimant, Order: orderMessage(o)}
	for _, s := range all {
		req.Shares = append(req.Shares, &droverv1.TaskShare{Name: nameMessage(s.ID), Cpu: int64(s.CPU)})
	}
	res, err := r.calls.SetShares(ctx, req)
	if err != nil {
		return late(err)
	}
	var errs []error
	for _, refused := range res.GetRefused() {
		errs = append(errs, fmt.Errorf("share of task %s: %s", idOf(refused.GetName()), refused.GetReason()))
	}
	return errors.Join(errs...)
}

// watch begins a watch and returns its number, and what waits for its next message.
func (r remote) watch(ctx context.Context, use time.Duration) (number uint64, next func() (message, error), stop func(), err error) {
	stream, err := r.calls.WatchNode(ctx, &droverv1.WatchNodeRequest{Claimant: r.claimant, UseInterval: durationpb.New(use)})
	if err != nil {
		return 0, nil, nil, failure(err)
	}
	next = func() (message, error) {
		if !stream.Receive() {
			err := stream.Err()
			if err == nil {
				err = errors.New("end of the watch")
			}
			return message{}, failure(err)
		}
		return messageOf(stream.Msg()), nil
	}
	stop = func() { _ = stream.Close() } // what it would say has been heard
	first, err := next()
	if err != nil {
		stop()
		return 0, nil, nil, err
	}
	return first.watch, next, stop, nil
}

// late is failure for orders: one of a watch that is over has not been answered.
func late(err error) error {
	if connect.IsWireError(err) && connect.CodeOf(err) == connect.CodeFailedPrecondition {
		return fmt.Errorf("%w: %w", ErrSilent, err)
	}
	return failure(err)
}

// failure tells an answer from none, and from what was not sent.
func failure(err error) error {
	var dial *net.OpError
	switch {
	case errors.As(err, &dial) && dial.Op == "dial":
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	case connect.IsWireError(err) && connect.CodeOf(err) != connect.CodeUnavailable &&
		connect.CodeOf(err) != connect.CodeCanceled && connect.CodeOf(err) != connect.CodeDeadlineExceeded:
		return err
	case foreign(err):
		return fmt.Errorf("%w, something else does at its address: %w", ErrSilent, err)
	}
	return fmt.Errorf("%w: %w", ErrSilent, err)
}

// foreign says whether what has answered is no daemon of a node, but another server of
// HTTP, which need not speak its second version.
func foreign(err error) bool {
	switch connect.CodeOf(err) {
	case connect.CodeUnavailable, connect.CodeCanceled, connect.CodeDeadlineExceeded:
		return strings.Contains(err.Error(), "http2: frame too large")
	}
	return !connect.IsWireError(err)
}
