package pool

import (
	"context"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
	"github.com/seed-9b8f70bb/drover/batch/exec/node/remote"
)

// Remote makes a Node of one that is reached through its daemon. Worth is what one of
// the platform's processors is of the host's; 0 means all of one. It is less where the
// node is said to have more processors than it has.
func Remote(n *remote.Node, worth cgroup.CPU) Node {
	if worth == 0 {
		worth = cgroup.Processor
	}
	return &far{n, worth}
}

// far is a remote.Node.
type far struct {
	*remote.Node
	worth cgroup.CPU
}

// Renew is Node's.
func (f *far) Renew(ctx context.Context, lease time.Duration) error {
	if err := f.Node.Renew(ctx, lease); err != nil {
		return err
	}
	if why := f.Unfit(); why != "" {
		return &UnfitError{why}
	}
	return nil
}

// Launch is Node's.
func (f *far) Launch(ctx context.Context, t TaskSpec) (exec.Launched, error) {
	p, err := f.Node.Launch(ctx, taskOf(&t, f.worth))
	if err != nil {
		return nil, err // not a nil *remote.Process
	}
	return p, nil
}

// Attach is Node's.
func (f *far) Attach(ctx context.Context, id ID) (attempt.Status, exec.Launched, error) {
	st, p, err := f.Node.Attach(ctx, node.ID(id))
	if err != nil || p == nil {
		return st, nil, err // likewise
	}
	return st, p, nil
}

// Bar is Node's.
func (f *far) Bar(ctx context.Context, id ID) (bool, error) { return f.Node.Bar(ctx, node.ID(id)) }

// SetShares is Node's.
func (f *far) SetShares(ctx context.Context, all []Shares) error {
	list := make([]node.Share, len(all))
	for i, s := range all {
		list[i] = node.Share{ID: node.ID(s.ID), CPU: amount(s.Allocation, f.worth)}
	}
	return f.Node.SetShares(ctx, list)
}
