package roster

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

// site holds the properties of a farm that do not change.
type site struct {
	licenses []farm.License
	license  map[string]int32 // by name
	machine  map[string]int32 // by name
	scored   bool             // machines have scores
}

// siteOf reads a platform and creates a machine for each node.
func siteOf(p batch.Platform) (*site, []farm.Machine, error) {
	s := &site{license: map[string]int32{}, machine: map[string]int32{}}
	if len(p.Nodes) > farm.MaxMachines {
		return nil, nil, fmt.Errorf("policy convergent: nodes: %d, accepted: at most %d",
			len(p.Nodes), farm.MaxMachines)
	}
	for i := range p.Nodes {
		s.scored = s.scored || p.Nodes[i].Score != 0
	}
	for i, pool := range p.Licenses {
		if _, twice := s.license[pool.Name]; twice || pool.Name == "" || pool.Copies < 0 {
			return nil, nil, fmt.Errorf("policy convergent: licenses[%d]: %q, %d copies, "+
				"accepted: each name once, 0 copies or more", i, pool.Name, pool.Copies)
		}
		s.add(farm.License{Name: pool.Name, Copies: pool.Copies})
	}
	named := make([]bool, len(s.licenses)) // floating licenses that not every machine can run
	for i := range p.Nodes {
		for _, name := range p.Nodes[i].Licenses {
			l, found := s.license[name]
			if !found {
				s.add(farm.License{Name: name, Copies: math.MaxInt32, Bound: true})
			} else if int(l) < len(named) {
				named[l] = true
			}
		}
	}
	if len(s.licenses) > farm.MaxLicenses {
		return nil, nil, fmt.Errorf("policy convergent: licenses: %d, accepted: at most %d",
			len(s.licenses), farm.MaxLicenses)
	}
	machines := make([]farm.Machine, len(p.Nodes))
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Score < 0 || s.scored && n.Score == 0 {
			return nil, nil, fmt.Errorf("policy convergent: nodes[%d].score: %d, "+
				"accepted: at least 1, as other nodes have scores", i, n.Score)
		}
		m := farm.Machine{Score: max(n.Score, 1), CPUs: n.Processors, Memory: n.Memory}
		for l := range named {
			if !named[l] || slices.Contains(n.Licenses, s.licenses[l].Name) {
				m.Licenses = m.Licenses.With(int32(l))
			}
		}
		for _, name := range n.Licenses {
			m.Licenses = m.Licenses.With(s.license[name])
		}
		if _, twice := s.machine[n.Name]; !twice {
			s.machine[n.Name] = int32(i)
		}
		machines[i] = m
	}
	return s, machines, nil
}

func (s *site) add(l farm.License) {
	s.license[l.Name] = int32(len(s.licenses))
	s.licenses = append(s.licenses, l)
}

// place returns the place of a site's data: a machine, or another place.
func (s *site) place(name string) int32 {
	if m, found := s.machine[name]; found && name != "" {
		return m
	}
	return math.MaxInt32
}
