package campaign

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"sync"
)

// traces checks before the first experiment that all traces of a campaign exist. It returns the
// name and digest of each trace of each scenario.
func (c *Campaign) traces(r runner) ([]named, error) {
	var all []named
	known := map[string]string{} // by path: scenarios can share traces
	for i := range c.Scenarios {
		s := &c.Scenarios[i]
		files, err := r.traces(s)
		if err != nil {
			return nil, fmt.Errorf("scenario %s: %w", s.Name, err)
		}
		var lines []string
		for _, f := range files {
			if known[f.Path] == "" {
				if known[f.Path], err = digest(f.Path); err != nil {
					return nil, fmt.Errorf("scenario %s: trace: %w", s.Name, err)
				}
			}
			lines = append(lines, f.Name+" "+known[f.Path])
		}
		if lines != nil {
			all = append(all, named{s.Name, lines})
		}
	}
	return all, nil
}

// digest returns the SHA-256 of a file.
func digest(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// shelf caches prepared scenarios. Each is prepared once and released with its last group.
type shelf struct {
	runner   runner
	campaign *Campaign
	items    []item
}

// item is a scenario of a shelf.
type item struct {
	mu       sync.Mutex
	groups   int // not finished
	prepared prepared
}

func newShelf(r runner, c *Campaign, all []*group) *shelf {
	s := &shelf{runner: r, campaign: c, items: make([]item, len(c.Scenarios))}
	for _, g := range all {
		s.items[g.scenario].groups++
	}
	return s
}

// get returns a scenario, and waits while it is being prepared.
func (s *shelf) get(ctx context.Context, scenario int) (prepared, error) {
	i := &s.items[scenario]
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.prepared == nil {
		p, err := s.runner.prepare(ctx, &s.campaign.Scenarios[scenario], s.campaign.Days)
		if err != nil {
			return nil, err
		}
		i.prepared = p
	}
	return i.prepared, nil
}

// release reports that a group has ended.
func (s *shelf) release(scenario int) {
	i := &s.items[scenario]
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.groups--; i.groups == 0 {
		i.prepared = nil
	}
}
