package rpc

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
	"github.com/seed-9b8f70bb/drover/batch/exec/rpc"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	protorpc "github.com/seed-9b8f70bb/drover/proto/rpc"
)

// dialTimeout bounds the time for a connection.
const dialTimeout = 2 * time.Second

// Client calls the daemon at an address. Errors wrap node.ErrUnreachable when nothing
// was sent, and node.ErrSilent when no answer came.
type Client struct {
	calls    droverv1connect.NodeServiceClient
	caller   *protorpc.Caller
	claimant node.Claimant
}

// NewClient returns a client. It does not connect yet.
func NewClient(address string, c node.Claimant) *Client {
	caller := protorpc.NewCaller(protorpc.CallerConfig{DialTimeout: dialTimeout})
	return &Client{
		calls: protorpc.Client(caller, droverv1connect.NewNodeServiceClient, address), caller: caller, claimant: c,
	}
}

// Close closes idle connections.
func (c *Client) Close() { c.caller.Close() }

// Describe asks the node for its description.
func (c *Client) Describe(ctx context.Context) (node.Description, error) {
	res, err := c.calls.DescribeNode(ctx, &droverv1.DescribeNodeRequest{})
	if err != nil {
		return node.Description{}, failure(err)
	}
	d := node.Description{
		Name: res.GetName(), Processors: int(res.GetProcessors()), Memory: res.GetMemoryBytes(), Site: res.GetSite(),
		Tasks: int(res.GetTasks()), Version: res.GetVersion(),
	}
	for _, o := range res.GetOffers() {
		d.Offers = append(d.Offers, node.Offer{Ability: o.GetAbility(), Way: o.GetWay(), Why: o.GetWhy()})
	}
	return d, nil
}

// Renew is Service.Renew.
func (c *Client) Renew(ctx context.Context, t attempt.Token, d time.Duration) (node.Renewal, error) {
	res, err := c.calls.RenewNode(ctx, &droverv1.RenewNodeRequest{
		Claimant: claimantMessage(c.claimant), Token: t, Duration: durationpb.New(d),
	})
	if err != nil {
		return node.Renewal{}, failure(err)
	}
	return node.Renewal{Next: res.GetToken(), Held: res.GetHeld(), Unfit: res.GetUnfit()}, nil
}

// Launch is Service.Launch.
func (c *Client) Launch(ctx context.Context, t node.TaskSpec) (attempt.Status, error) {
	res, err := c.calls.LaunchTask(ctx, taskMessage(c.claimant, t))
	if connect.IsWireError(err) && connect.CodeOf(err) == connect.CodeFailedPrecondition {
		return attempt.Status{}, attempt.ErrNoLease
	}
	if err != nil {
		return attempt.Status{}, failure(err)
	}
	return rpc.StatusOf(res.GetStatus()), nil
}

// Attach is Service.Attach.
func (c *Client) Attach(ctx context.Context, id node.ID) (attempt.Status, error) {
	res, err := c.calls.AttachTask(ctx, &droverv1.AttachTaskRequest{
		Claimant: claimantMessage(c.claimant), Name: idMessage(id),
	})
	if err != nil {
		return attempt.Status{}, failure(err)
	}
	return rpc.StatusOf(res.GetStatus()), nil
}

// Bar is Service.Bar.
func (c *Client) Bar(ctx context.Context, id node.ID) (won bool, err error) {
	res, err := c.calls.BarTask(ctx, &droverv1.BarTaskRequest{
		Claimant: claimantMessage(c.claimant), Name: idMessage(id),
	})
	if err != nil {
		return false, failure(err)
	}
	return res.GetWon(), nil
}

// Signal returns os.ErrProcessDone when the task has ended.
func (c *Client) Signal(ctx context.Context, id node.ID, sig syscall.Signal, n node.Sequence) error {
	res, err := c.calls.SignalTask(ctx, &droverv1.SignalTaskRequest{
		Claimant: claimantMessage(c.claimant), Name: idMessage(id), Signal: int32(sig), Order: sequenceMessage(n),
	})
	switch {
	case err != nil:
		return staleFailure(err)
	case res.GetEnded():
		return os.ErrProcessDone
	}
	return nil
}

// SetShares returns an error that names every share that was refused.
func (c *Client) SetShares(ctx context.Context, all []node.Share, n node.Sequence) error {
	req := &droverv1.SetSharesRequest{Claimant: claimantMessage(c.claimant), Order: sequenceMessage(n)}
	for _, s := range all {
		req.Shares = append(req.Shares, &droverv1.TaskShare{Name: idMessage(s.ID), Cpu: int64(s.CPU)})
	}
	res, err := c.calls.SetShares(ctx, req)
	if err != nil {
		return staleFailure(err)
	}
	var errs []error
	for _, r := range res.GetRefused() {
		errs = append(errs, fmt.Errorf("share of task %s: %s", idOf(r.GetName()), r.GetReason()))
	}
	return errors.Join(errs...)
}

// Watch begins a watch and returns its number. Next waits for the next update; stop
// ends the watch.
func (c *Client) Watch(
	ctx context.Context, use time.Duration,
) (number uint64, next func() (node.Update, error), stop func(), err error) {
	stream, err := c.calls.WatchNode(ctx, &droverv1.WatchNodeRequest{
		Claimant: claimantMessage(c.claimant), UseInterval: durationpb.New(use),
	})
	if err != nil {
		return 0, nil, nil, failure(err)
	}
	next = func() (node.Update, error) {
		if !stream.Receive() {
			err := stream.Err()
			if err == nil {
				err = errors.New("end of the watch")
			}
			return node.Update{}, failure(err)
		}
		return updateOf(stream.Msg()), nil
	}
	stop = func() { _ = stream.Close() } // its error adds nothing to that of next
	first, err := next()
	if err != nil {
		stop()
		return 0, nil, nil, err
	}
	return first.Watch, next, stop, nil
}

// staleFailure is failure for numbered calls: one of a watch that has ended counts as
// not answered.
func staleFailure(err error) error {
	if connect.IsWireError(err) && connect.CodeOf(err) == connect.CodeFailedPrecondition {
		return fmt.Errorf("%w: %w", node.ErrSilent, err)
	}
	return failure(err)
}

// failure tells an answer from silence, and silence from a call that was not sent.
func failure(err error) error {
	var dial *net.OpError
	switch {
	case errors.As(err, &dial) && dial.Op == "dial":
		return fmt.Errorf("%w: %w", node.ErrUnreachable, err)
	case connect.IsWireError(err) && connect.CodeOf(err) != connect.CodeUnavailable &&
		connect.CodeOf(err) != connect.CodeCanceled && connect.CodeOf(err) != connect.CodeDeadlineExceeded:
		return err
	case otherServer(err):
		return fmt.Errorf("%w, but another server at its address does: %w", node.ErrSilent, err)
	}
	return fmt.Errorf("%w: %w", node.ErrSilent, err)
}

// otherServer reports whether the answer came from an HTTP server that is not a node's
// daemon. It need not support HTTP/2.
func otherServer(err error) bool {
	switch connect.CodeOf(err) {
	case connect.CodeUnavailable, connect.CodeCanceled, connect.CodeDeadlineExceeded:
		return strings.Contains(err.Error(), "http2: frame too large")
	}
	return !connect.IsWireError(err)
}
