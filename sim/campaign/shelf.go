package campaign

import (
	"context"
	"sync"
)

// shelf holds the scenarios that experiments are being run on: each is prepared
// once, and put away with the last group of it.
type shelf struct {
	runner   runner
	campaign *Campaign
	items    []item
}

// item is a scenario of a shelf.
type item struct {
	mu       sync.Mutex
	groups   int // to come or under way
	prepared prepared
}

func newShelf(r runner, c *Campaign, all []*group) *shelf {
	s := &shelf{runner: r, campaign: c, items: make([]item, len(c.Scenarios))}
	for _, g := range all {
		s.items[g.scenario].groups++
	}
	return s
}

// get returns a scenario. Who asks while it is being prepared waits.
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

// release says that a group has ended.
func (s *shelf) release(scenario int) {
	i := &s.items[scenario]
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.groups--; i.groups == 0 {
		i.prepared = nil
	}
}
