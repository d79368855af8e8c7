package client

import (
	"sync"

	"github.com/seed-9b8f70bb/drover/client/submission"
)

// mostPlaces bounds how many jobs a client remembers the servers of. It forgets
// the older ones: the agents know.
const mostPlaces = 4096

// place is where a job was last.
type place struct {
	target submission.Target
	epoch  uint32
}

// places remembers which server had which job. The zero value is empty.
type places struct {
	mu     sync.Mutex
	newest map[string]place
	older  map[string]place
}

func (p *places) get(job string) place {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, ok := p.newest[job]; ok {
		return at
	}
	return p.older[job]
}

func (p *places) put(job string, at place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.newest) >= mostPlaces/2 {
		p.older, p.newest = p.newest, nil
	}
	if p.newest == nil {
		p.newest = make(map[string]place)
	}
	p.newest[job] = at
}
