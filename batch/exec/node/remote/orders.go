package remote

import (
	"context"
	"errors"

	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
)

// order is the place of a signal, or of shares, among all that the node is told: late
// ones are passed over there. The zero order is for daemons that number no watches.
type order struct {
	watch, number uint64
}

// watched says whether a watch is open, and as which the daemon knows it.
func (n *Node) watched(is bool, watch uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.watches, n.last = is, order{watch: watch}
}

// order returns the next one; none while no watch is open.
func (n *Node) order() (o order, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.watches && n.last.watch != 0 {
		n.last.number++
	}
	return n.last, n.watches
}

// Share is what a task is to get of the processors; 0 is no limit.
type Share struct {
	ID  node.ID
	CPU cgroup.CPU
}

// SetShares sets the shares of many. Those that have ended are passed over. What it says
// is said again whenever the node has been out of reach; when it is, nothing is sent.
func (n *Node) SetShares(ctx context.Context, all []Share) error {
	o, ok := n.share(all)
	if !ok {
		return nil // the next watch begins with it
	}
	err := n.remote.setShares(ctx, all, o)
	if errors.Is(err, ErrSilent) || errors.Is(err, ErrUnreachable) {
		n.drop() // so that there is one
	}
	return err
}

// share remembers what tasks are to get, and returns the number of the order that says
// so.
func (n *Node) share(all []Share) (order, bool) {
	n.sharing.Lock()
	defer n.sharing.Unlock()
	n.mu.Lock()
	for _, s := range all {
		if p := n.processes[s.ID]; p != nil {
			p.shared, p.cpu = true, s.CPU
		}
	}
	n.mu.Unlock()
	return n.order()
}

// shares returns what all are to get, and the number of the order that says so.
func (n *Node) shares() (all []Share, o order) {
	n.sharing.Lock()
	defer n.sharing.Unlock()
	for _, p := range n.following() {
		if p.shared {
			all = append(all, Share{p.id, p.cpu})
		}
	}
	o, _ = n.order() // the caller has a watch
	return all, o
}
