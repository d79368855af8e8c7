package pool

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// part is what one member gets of an attempt's places.
type part struct {
	peer   *peer
	places []batch.Location
}

// Divide returns what each process of an attempt gets of its places, by rank.
func (p *Pool) Divide(how batch.Launch, places []batch.Location) ([][]batch.Location, error) {
	parts, err := p.split(how, places)
	if err != nil {
		return nil, err
	}
	all := make([][]batch.Location, len(parts))
	for rank := range parts {
		all[rank] = parts[rank].places
	}
	return all, nil
}

// split divides an attempt's places among its members, by rank: in the order of the
// nodes.
func (p *Pool) split(how batch.Launch, places []batch.Location) ([]part, error) {
	for i, l := range places {
		if l.Node < 0 || int(l.Node) >= len(p.peers) || l.Processors < 1 {
			return nil, fmt.Errorf("places[%d]: %d processors of node %d, the pool has %d nodes", i, l.Processors, l.Node, len(p.peers))
		}
	}
	if len(places) == 0 {
		return nil, fmt.Errorf("places: none")
	}
	places = slices.Clone(places)
	slices.SortStableFunc(places, func(a, b batch.Location) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Group, b.Group))
	})
	var parts []part
	switch how {
	case batch.LaunchPerNode:
		for i, l := range places {
			if i > 0 && places[i-1].Node == l.Node {
				last := &parts[len(parts)-1]
				last.places = append(last.places, l)
			} else {
				parts = append(parts, part{p.peers[l.Node], []batch.Location{l}})
			}
		}
	case batch.LaunchPerTask:
		for _, l := range places {
			for range l.Processors {
				one := l
				one.Processors = 1
				parts = append(parts, part{p.peers[l.Node], []batch.Location{one}})
			}
		}
	default:
		parts = []part{p.most(places)}
	}
	return parts, nil
}

// most returns the part of the host where there are most processors, of equals the
// first.
func (p *Pool) most(places []batch.Location) part {
	var best part
	most := int32(0)
	for _, l := range places {
		one := part{peer: p.peers[l.Node]}
		n := int32(0)
		for _, m := range places {
			if p.peers[m.Node] == one.peer {
				one.places = append(one.places, m)
				n += m.Processors
			}
		}
		if n > most {
			best, most = one, n
		}
	}
	return best
}

func processors(places []batch.Location) (n int32) {
	for _, l := range places {
		n += l.Processors
	}
	return n
}
