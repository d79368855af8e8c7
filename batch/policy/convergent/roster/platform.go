package roster

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

// site is what does not change of a farm.
type site struct {
	licences []farm.Licence
	licence  map[string]int32 // by name
	machine  map[string]int32 // by name
	scored   bool             // machines have scores
}

// siteOf reads a platform, and makes a machine of each node.
func siteOf(p batch.Platform) (*site, []farm.Machine, error) {
	s := &site{licence: map[string]int32{}, machine: map[string]int32{}}
	if len(p.Nodes) > farm.MaxMachines {
		return nil, nil, fmt.Errorf("policy convergent: nodes: %d, accepted: at most %d", len(p.Nodes), farm.MaxMachines)
	}
	for i := range p.Nodes {
		s.scored = s.scored || p.Nodes[i].Score != 0
	}
	for i, pool := range p.Licences {
		if _, twice := s.licence[pool.Name]; twice || pool.Name == "" || pool.Copies < 0 {
			return nil, nil, fmt.Errorf("policy convergent: licences[%d]: %q, %d copies, accepted: each name once, 0 copies or more", i, pool.Name, pool.Copies)
		}
		s.add(farm.Licence{Name: pool.Name, Copies: pool.Copies})
	}
	named := make([]bool, len(s.licences)) // floating ones that not every machine can run
	for i := range p.Nodes {
		for _, name := range p.Nodes[i].Licences {
			l, found := s.licence[name]
			if !found {
				s.add(farm.Licence{Name: name, Copies: math.MaxInt32, Bound: true})
			} else if int(l) < len(named) {
				named[l] = true
			}
		}
	}
	if len(s.licences) > farm.MaxLicences {
		return nil, nil, fmt.Errorf("policy convergent: licences: %d, accepted: at most %d", len(s.licences), farm.MaxLicences)
	}
	machines := make([]farm.Machine, len(p.Nodes))
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Score < 0 || s.scored && n.Score == 0 {
			return nil, nil, fmt.Errorf("policy convergent: nodes[%d].score: %d, accepted: at least 1, as other nodes have scores", i, n.Score)
		}
		m := farm.Machine{Score: max(n.Score, 1), CPUs: n.Processors, Memory: n.Memory}
		for l := range named {
			if !named[l] || slices.Contains(n.Licences, s.licences[l].Name) {
				m.Licences = m.Licences.With(int32(l))
			}
		}
		for _, name := range n.Licences {
			m.Licences = m.Licences.With(s.licence[name])
		}
		if _, twice := s.machine[n.Name]; !twice {
			s.machine[n.Name] = int32(i)
		}
		machines[i] = m
	}
	return s, machines, nil
}

func (s *site) add(l farm.Licence) {
	s.licence[l.Name] = int32(len(s.licences))
	s.licences = append(s.licences, l)
}

// place returns where the data of a site lie: on a machine, or elsewhere.
func (s *site) place(name string) int32 {
	if m, found := s.machine[name]; found && name != "" {
		return m
	}
	return math.MaxInt32
}
