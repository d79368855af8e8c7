package exec

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// nodeTurn is a node that has joined or left.
type nodeTurn struct {
	node int32
	up   bool
}

// SetNode reports that a node, by its index in the platform, has joined or left. At first all
// nodes are present. No job starts on a node that has left. A job that runs there holds its
// allocation until its Launched reports the end; then the policy receives it. SetNode returns
// after the scheduling pass that follows. It is idempotent.
func (s *System) SetNode(ctx context.Context, node int32, up bool) error {
	if node < 0 || int(node) >= len(s.names) {
		return fmt.Errorf("node: %d, accepted: 0..%d", node, len(s.names)-1)
	}
	c := &call{node: &nodeTurn{node, up}, done: make(chan struct{})}
	select {
	case s.calls <- c:
		<-c.done
		return nil
	case <-s.done:
		return fmt.Errorf("node %s: %w", s.names[node], ErrClosed)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// turnNodes informs the policy of nodes that have joined or left.
func (s *System) turnNodes(now batch.Time) {
	for _, c := range s.ready.calls {
		if c.node == nil || s.down[c.node.node] == !c.node.up {
			continue
		}
		n := c.node
		s.down[n.node] = !n.up
		s.alloc.SetDown(n.node, !n.up)
		kind := batch.NodeUp
		if !n.up {
			kind = batch.NodeDown
		}
		s.log.Info(kind.String(), "node", s.names[n.node])
		s.apply(now, batch.Event{Kind: kind, Node: n.node})
		if !n.up {
			s.cancelMoves(n.node)
		}
	}
}

// cancelMoves cancels moves to a node that has left: for the policy those jobs stay at their
// source, and it waits until they have stopped or ended, or the node is back.
func (s *System) cancelMoves(node int32) {
	for _, a := range s.handles {
		if a == nil || a.run == nil || !slices.ContainsFunc(a.run.next, func(l batch.NodeAllocation) bool {
			return l.Node == node
		}) {
			continue
		}
		r := a.run
		s.alloc.Release(r.allocation)
		r.allocation, r.next = r.next, nil
		r.stopping = r.proc == nil
	}
	for _, p := range s.parked {
		if slices.ContainsFunc(p.next, func(l batch.NodeAllocation) bool { return l.Node == node }) {
			s.alloc.Release(p.allocation)
			p.allocation, p.next = p.next, nil
		}
	}
}

// anyDown reports whether a node of the allocation has left.
func (s *System) anyDown(allocation []batch.NodeAllocation) bool {
	return slices.ContainsFunc(allocation, func(l batch.NodeAllocation) bool {
		return l.Node >= 0 && int(l.Node) < len(s.down) && s.down[l.Node]
	})
}

// Measurement is the measured need of each task of a group of a job, as far as it is known.
type Measurement struct {
	Key    batch.Key
	Group  int32       // index in Job.Groups; 0 without groups
	CPU    batch.Share // 1..One
	Memory int64       // bytes; 0 is unknown and ignored
}

// Measurements is a source of measured needs.
type Measurements interface {
	// Next waits for measurements and returns them. It returns an error when ctx has ended, or
	// when no more will come. One goroutine calls it.
	Next(ctx context.Context) ([]Measurement, error)
}

// measure is the goroutine that passes measurements on to the loop.
func (s *System) measure(ctx context.Context, from Measurements) {
	defer close(s.measuring)
	for {
		all, err := from.Next(ctx)
		if err != nil {
			if ctx.Err() == nil {
				s.log.Info("measurement of needs ended", "reason", err)
			}
			return
		}
		select {
		case s.measured <- all:
		case <-ctx.Done():
			return
		}
	}
}

// takeMeasured applies measurements to the policy. It ignores those of attempts that are
// over, and impossible values.
func (s *System) takeMeasured(now batch.Time) {
	for _, m := range s.ready.measured {
		a := s.attempts[m.Key]
		switch {
		case a == nil || !a.live() || a.pending:
			continue
		case m.CPU < 1 || m.CPU > batch.One || m.Memory < 0 || m.Group < 0 || int(m.Group) >= max(1, len(a.job.Groups)):
			s.log.Warn("measurement out of range", "job", m.Key.Job, "group", m.Group, "cpu", m.CPU, "memory", m.Memory)
			continue
		}
		s.apply(now, batch.Event{Kind: batch.Measured, Job: a.job.Handle, Group: m.Group, CPU: m.CPU, Memory: m.Memory})
	}
	clear(s.ready.measured)
	s.ready.measured = s.ready.measured[:0]
}
