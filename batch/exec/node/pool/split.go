package pool

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
)

// part is one member's part of an attempt's allocation.
type part struct {
	peer       *peer
	allocation []batch.NodeAllocation
}

// Divide returns the part of each process of an attempt, by rank.
func (p *Pool) Divide(how batch.Launch, allocation []batch.NodeAllocation) ([][]batch.NodeAllocation, error) {
	parts, err := p.split(how, allocation)
	if err != nil {
		return nil, err
	}
	all := make([][]batch.NodeAllocation, len(parts))
	for rank := range parts {
		all[rank] = parts[rank].allocation
	}
	return all, nil
}

// split divides an attempt's allocation among its members, by rank: in the order of the
// nodes.
func (p *Pool) split(how batch.Launch, allocation []batch.NodeAllocation) ([]part, error) {
	for i, l := range allocation {
		if l.Node < 0 || int(l.Node) >= len(p.peers) || l.Processors < 1 {
			return nil, fmt.Errorf("allocation[%d]: %d processors of node %d, the pool has %d nodes", i, l.Processors,
				l.Node, len(p.peers))
		}
	}
	if len(allocation) == 0 {
		return nil, fmt.Errorf("allocation: none")
	}
	allocation = slices.Clone(allocation)
	slices.SortStableFunc(allocation, func(a, b batch.NodeAllocation) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Group, b.Group))
	})
	var parts []part
	switch how {
	case batch.LaunchPerNode:
		for i, l := range allocation {
			if i > 0 && allocation[i-1].Node == l.Node {
				last := &parts[len(parts)-1]
				last.allocation = append(last.allocation, l)
			} else {
				parts = append(parts, part{p.peers[l.Node], []batch.NodeAllocation{l}})
			}
		}
	case batch.LaunchPerTask:
		for _, l := range allocation {
			for range l.Processors {
				one := l
				one.Processors = 1
				parts = append(parts, part{p.peers[l.Node], []batch.NodeAllocation{one}})
			}
		}
	default:
		parts = []part{p.most(allocation)}
	}
	return parts, nil
}

// most returns the part of the host with the most processors, the first of several.
func (p *Pool) most(allocation []batch.NodeAllocation) part {
	var best part
	most := int32(0)
	for _, l := range allocation {
		one := part{peer: p.peers[l.Node]}
		n := int32(0)
		for _, m := range allocation {
			if p.peers[m.Node] == one.peer {
				one.allocation = append(one.allocation, m)
				n += m.Processors
			}
		}
		if n > most {
			best, most = one, n
		}
	}
	return best
}

func processors(allocation []batch.NodeAllocation) (n int32) {
	for _, l := range allocation {
		n += l.Processors
	}
	return n
}

// taskOf converts a TaskSpec to that of a host.
func taskOf(t *TaskSpec, worth cgroup.CPU) node.TaskSpec {
	return node.TaskSpec{
		ID: node.ID(t.ID), Spec: t.Spec, CPU: amount(t.Spec.Allocation, worth), Memory: memory(&t.Spec),
	}
}

// amount is the processor time of an allocation on a host; never 0, because 0 means no limit.
func amount(allocation []batch.NodeAllocation, worth cgroup.CPU) cgroup.CPU {
	sum := int64(0)
	for _, l := range allocation {
		sum += int64(l.Processors) * int64(l.Share)
	}
	whole, rest := sum>>20, sum&(1<<20-1)
	return max(1, cgroup.CPU(whole)*worth+cgroup.CPU(rest)*worth>>20)
}

// memory is the memory limit of a process: the declared need of its tasks, or no limit if the
// need of one is unknown.
func memory(spec *exec.Spec) int64 {
	sum := int64(0)
	for _, l := range spec.Allocation {
		each := spec.Memory
		if int(l.Group) < len(spec.Groups) {
			each = spec.Groups[l.Group].Memory
		}
		if each == 0 {
			return 0
		}
		sum += int64(l.Processors) * each
	}
	return sum
}

// gather is how long shares wait for others to be sent in one call: a policy sets those of
// all jobs in one pass.
const gather = 5 * time.Millisecond

// give queues the shares of a member; later ones replace earlier ones.
func (e *peer) give(s Shares) {
	e.mu.Lock()
	e.shares[s.ID] = s
	e.mu.Unlock()
	e.send()
}

func (e *peer) send() {
	select {
	case e.unsent <- struct{}{}:
	default:
	}
}

// sendShares sends queued shares while the pool is open. Shares that a node does not accept
// wait until it is up again.
func (e *peer) sendShares() {
	for {
		select {
		case <-e.unsent:
		case <-e.pool.ctx.Done():
			return
		}
		timer := time.NewTimer(gather)
		select {
		case <-timer.C:
		case <-e.pool.ctx.Done():
			timer.Stop()
			return
		}
		e.sendAll()
	}
}

func (e *peer) sendAll() {
	e.mu.Lock()
	if !e.up || len(e.shares) == 0 {
		e.mu.Unlock()
		return
	}
	all := slices.SortedFunc(maps.Values(e.shares), func(a, b Shares) int { return compare(a.ID, b.ID) })
	clear(e.shares)
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(e.pool.ctx, e.pool.cfg.patience())
	defer cancel()
	err := e.node.SetShares(ctx, all)
	if err == nil || e.pool.ctx.Err() != nil {
		return
	}
	e.pool.log.Warn("set shares failed", "node", e.name, "processes", len(all), "error", err)
	e.mu.Lock()
	for _, s := range all {
		if _, newer := e.shares[s.ID]; !newer && e.members[s.ID] != nil {
			e.shares[s.ID] = s
		}
	}
	e.mu.Unlock()
	// They are sent again after the next renewal.
}
