package pool

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// part is what one member gets of an attempt's allocation.
type part struct {
	peer       *peer
	allocation []batch.NodeAllocation
}

// Divide returns what each process of an attempt gets of its allocation, by rank.
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
			return nil, fmt.Errorf("allocation[%d]: %d processors of node %d, the pool has %d nodes", i, l.Processors, l.Node, len(p.peers))
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

// most returns the part of the host where there are most processors, of equals the
// first.
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
