package remote

import (
	"context"
	"errors"

	"github.com/seed-9b8f70bb/drover/batch/exec/node"
)

// watched says whether a watch is open, and as which the daemon knows it.
func (n *Node) watched(is bool, watch uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.watches, n.last = is, node.Sequence{Watch: watch}
}

// sequence returns the next one; none while no watch is open.
func (n *Node) sequence() (o node.Sequence, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.watches && n.last.Watch != 0 {
		n.last.Number++
	}
	return n.last, n.watches
}

// SetShares sets the shares of many. Those that have ended are passed over. What it says
// is said again whenever the node has been out of reach; when it is, nothing is sent.
func (n *Node) SetShares(ctx context.Context, all []node.Share) error {
	o, ok := n.share(all)
	if !ok {
		return nil // the next watch begins with it
	}
	err := n.client.SetShares(ctx, all, o)
	if errors.Is(err, node.ErrSilent) || errors.Is(err, node.ErrUnreachable) {
		n.drop() // so that there is one
	}
	return err
}

// share remembers what tasks are to get, and returns the number of the order that says
// so.
func (n *Node) share(all []node.Share) (node.Sequence, bool) {
	n.sharing.Lock()
	defer n.sharing.Unlock()
	n.mu.Lock()
	for _, s := range all {
		if p := n.processes[s.ID]; p != nil {
			p.shared, p.cpu = true, s.CPU
		}
	}
	n.mu.Unlock()
	return n.sequence()
}

// shares returns what all are to get, and the number of the order that says so.
func (n *Node) shares() (all []node.Share, o node.Sequence) {
	n.sharing.Lock()
	defer n.sharing.Unlock()
	for _, p := range n.following() {
		if p.shared {
			all = append(all, node.Share{ID: p.id, CPU: p.cpu})
		}
	}
	o, _ = n.sequence() // the caller has a watch
	return all, o
}
