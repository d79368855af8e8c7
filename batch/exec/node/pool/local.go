package pool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
)

// Local makes a Node of this host, for all the virtual nodes that it is. It is always
// there, and what runs on it needs no lease. Worth is as of Remote. Pins are the
// processors that each virtual node has for itself, by its index in the platform; where
// there are none, tasks run anywhere.
func Local(h *node.Host, worth cgroup.CPU, pins [][]int) Node {
	if worth == 0 {
		worth = cgroup.Processor
	}
	return &near{h, worth, pins}
}

type near struct {
	host  *node.Host
	worth cgroup.CPU
	pins  [][]int
}

// cpus returns the processors of those virtual nodes; none means all.
func (n *near) cpus(allocation []batch.NodeAllocation) (all []int) {
	for _, l := range allocation {
		if l.Node < 0 || int(l.Node) >= len(n.pins) || len(n.pins[l.Node]) == 0 {
			return nil
		}
		all = append(all, n.pins[l.Node]...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Renew is Node's.
func (n *near) Renew(context.Context, time.Duration) error { return nil }

// Launch is Node's.
func (n *near) Launch(ctx context.Context, t TaskSpec) (exec.Launched, error) {
	task := taskOf(&t, n.worth)
	task.CPUs = n.cpus(t.Spec.Allocation)
	p, err := n.host.Launch(ctx, task)
	if err != nil {
		return nil, err // not a nil *node.Process
	}
	return p, nil
}

// Attach is Node's.
func (n *near) Attach(ctx context.Context, id ID) (attempt.Status, exec.Launched, error) {
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
		p := n.host.Find(node.ID(s.ID))
		if p == nil {
			continue
		}
		_, err := p.Share(amount(s.Allocation, n.worth))
		if err == nil && len(n.pins) > 0 {
			err = p.SetCPUs(n.cpus(s.Allocation))
		}
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			errs = append(errs, fmt.Errorf("task %s: %w", p.ID(), err))
		}
	}
	return errors.Join(errs...)
}
