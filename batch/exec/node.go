package exec

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// nodeTurn is news of a node.
type nodeTurn struct {
	node int32
	up   bool
}

// SetNode says that a node, by its index in the platform, has joined or left. All are
// there when the system is made. Nothing starts on one that has left. What runs there
// holds its allocation until its Process has ended, which whoever follows the node knows;
// then the policy hears of it. It returns after the scheduling pass that follows;
// the same news again change nothing.
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

// turnNodes tells the policy which nodes have joined or left.
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
			s.turnBack(n.node)
		}
	}
}

// turnBack has those that are moving to a node which has left go nowhere: for the
// policy they have left where they were, and it waits to hear that they have stopped or
// ended, or that the node is back.
func (s *System) turnBack(node int32) {
	for _, a := range s.handles {
		if a == nil || a.run == nil || !slices.ContainsFunc(a.run.next, func(l batch.NodeAllocation) bool { return l.Node == node }) {
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

// anyDown says whether one of the allocation is on a node that has left.
func (s *System) anyDown(allocation []batch.NodeAllocation) bool {
	return slices.ContainsFunc(allocation, func(l batch.NodeAllocation) bool {
		return l.Node >= 0 && int(l.Node) < len(s.down) && s.down[l.Node]
	})
}

// Measurement is what each task of a group of a job needs, as far as that is known by
// now.
type Measurement struct {
	Key    batch.Key
	Group  int32       // index in Job.Groups; 0 without groups
	CPU    batch.Share // 1..One
	Memory int64       // bytes; 0 is not known and not counted
}

// Measurements is where measured needs come from.
type Measurements interface {
	// Next waits for some and returns them. It returns an error when ctx has ended, or
	// when there will be none any more. It is called by one goroutine.
	Next(ctx context.Context) ([]Measurement, error)
}

// measure is the goroutine that hands on what is measured.
func (s *System) measure(ctx context.Context, from Measurements) {
	defer close(s.measuring)
	for {
		all, err := from.Next(ctx)
		if err != nil {
			if ctx.Err() == nil {
				s.log.Info("needs are not measured any more", "reason", err)
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

// takeMeasured tells the policy what was measured. What is about attempts that are over,
// or could not be true, is left out.
func (s *System) takeMeasured(now batch.Time) {
	for _, m := range s.ready.measured {
		a := s.attempts[m.Key]
		switch {
		case a == nil || !a.live() || a.pending:
			continue
		case m.CPU < 1 || m.CPU > batch.One || m.Memory < 0 || m.Group < 0 || int(m.Group) >= max(1, len(a.job.Groups)):
			s.log.Warn("a measurement is out of range", "job", m.Key.Job, "group", m.Group, "cpu", m.CPU, "memory", m.Memory)
			continue
		}
		s.apply(now, batch.Event{Kind: batch.Measured, Job: a.job.Handle, Group: m.Group, CPU: m.CPU, Memory: m.Memory})
	}
	clear(s.ready.measured)
	s.ready.measured = s.ready.measured[:0]
}
