package sim

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/internal/config"
)

// Network is how fast input travels between sites. A job's input lies at the site
// whose trace it comes from.
type Network struct {
	Bandwidth config.Rate `yaml:"bandwidth"` // as 125MB/s; 0 is without limit
	Latency   string      `yaml:"latency"`
	Links     []Link      `yaml:"links"` // where the two above are wrong
}

// Link is the way from one site to another.
type Link struct {
	From      string      `yaml:"from"`
	To        string      `yaml:"to"`
	Bandwidth config.Rate `yaml:"bandwidth"`
	Latency   string      `yaml:"latency"`
}

// links returns the network in the mapper's words, or everything that is wrong
// with it.
func (n *Network) links(sites []GridSite) (*mapping.Links, []error) {
	if n == nil {
		return nil, nil
	}
	var errs []error
	known := map[string]bool{}
	for i := range sites {
		known[sites[i].Name] = true
	}
	read := func(key string, bandwidth config.Rate, latency string) mapping.Link {
		d, err := ParseLength(latency)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s.latency: %w", key, err))
		}
		return mapping.Link{Bandwidth: int64(bandwidth), Latency: d}
	}
	out := &mapping.Links{Default: read("network", n.Bandwidth, n.Latency), Pairs: map[mapping.Pair]mapping.Link{}}
	for i := range n.Links {
		l := &n.Links[i]
		key := fmt.Sprintf("network.links[%d]", i)
		pair := mapping.Pair{From: l.From, To: l.To}
		_, twice := out.Pairs[pair]
		if !known[l.From] || !known[l.To] || l.From == l.To || twice {
			errs = append(errs, fmt.Errorf("%s: from %q to %q, accepted: two sites of the scenario, each pair once", key, l.From, l.To))
		}
		out.Pairs[pair] = read(key, l.Bandwidth, l.Latency)
	}
	return out, errs
}
