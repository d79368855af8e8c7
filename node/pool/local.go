package pool

import (
	"context"
	"errors"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/cgroup"
	"github.com/seed-9b8f70bb/drover/node"
	"github.com/seed-9b8f70bb/drover/supervisor"
)

// Local makes a Node of this host, for all the virtual nodes that it is. It is always
// there, and what runs on it needs no lease. Worth is as of Remote.
func Local(h *node.Host, worth cgroup.CPU) Node {
	if worth == 0 {
		worth = cgroup.Processor
	}
	return &near{h, worth}
}

type near struct {
	host  *node.Host
	worth cgroup.CPU
}

// Renew is Node's.
func (n *near) Renew(context.Context, time.Duration) error { return nil }

// Launch is Node's.
func (n *near) Launch(ctx context.Context, t Task) (exec.Process, error) {
	p, err := n.host.Launch(ctx, taskOf(&t, n.worth))
	if err != nil {
		return nil, err // not a nil *node.Process
	}
	return p, nil
}

// Attach is Node's.
func (n *near) Attach(ctx context.Context, id ID) (supervisor.Status, exec.Process, error) {
	st, p, err := n.host.Attach(ctx, node.ID(id))
	if err != nil || p == nil {
		return st, nil, err // not a nil *node.Process
	}
	return st, p, nil
}

// Bar is Node's.
func (n *near) Bar(_ context.Context, id ID) (bool, error) { return n.host.Bar(node.ID(id)) }

// SetShares is Node's.
func (n *near) SetShares(_ context.Context, all []Shares) error {
	var errs []error
	for _, s := range all {
		if p := n.host.Find(node.ID(s.ID)); p != nil {
			_, err := p.Share(amount(s.Places, n.worth))
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
