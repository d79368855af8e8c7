package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// The defaults of Config.
const (
	DefaultLease = 30 * time.Second
	DefaultGrace = 10 * time.Second
)

// ErrClosed is returned by a pool that was closed.
var ErrClosed = errors.New("node pool closed")

// Config configures New.
type Config struct {
	// Names and Nodes are those of the platform, by index. Virtual nodes of one host have the
	// same Node.
	Names []string
	Nodes []Node
	// Lease is how long the tasks of a node live without a renewal; 0: DefaultLease. The pool
	// renews six times per lease, and ten times as often while the node does not answer within
	// a sixth of it.
	Lease time.Duration
	// Margin is added to the lease before members count as lost, for clock drift; 0: a tenth
	// of the lease, and at least a second.
	Margin time.Duration
	// Grace is the time between SIGTERM and SIGKILL for the other members when one has failed;
	// 0: DefaultGrace.
	Grace  time.Duration
	Logger hclog.Logger // may be nil
}

func (c *Config) setDefaults() error {
	if len(c.Names) != len(c.Nodes) || len(c.Nodes) == 0 {
		return fmt.Errorf("nodes: %d with %d names, accepted: as many, at least 1", len(c.Nodes), len(c.Names))
	}
	for i, n := range c.Nodes {
		if n == nil {
			return fmt.Errorf("nodes[%d]: missing", i)
		}
	}
	if c.Lease < 0 || c.Margin < 0 || c.Grace < 0 {
		return fmt.Errorf("lease %v, margin %v, grace %v: accepted: 0 (the default) or more", c.Lease, c.Margin,
			c.Grace)
	}
	if c.Lease == 0 {
		c.Lease = DefaultLease
	}
	if c.Margin == 0 {
		c.Margin = max(c.Lease/10, time.Second)
	}
	if c.Grace == 0 {
		c.Grace = DefaultGrace
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	return nil
}

// beat is the interval of renewals.
func (c *Config) beat() time.Duration { return c.Lease / 6 }

// again is the interval for a node that does not answer.
func (c *Config) again() time.Duration { return c.Lease / 60 }

// patience bounds the wait for a node's answer.
func (c *Config) patience() time.Duration { return c.Lease / 6 }

// Pool is an exec.Launcher over nodes. Its methods may be called from several
// goroutines.
type Pool struct {
	cfg    Config
	log    hclog.Logger
	peers  []*peer // by index in the platform
	all    []*peer // each once
	ctx    context.Context
	cancel context.CancelCauseFunc
	tasks  sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	changed func(node int32, up bool)
}

// New makes a pool and begins to renew the leases of its nodes. Close ends it.
func New(cfg Config) (*Pool, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, fmt.Errorf("node pool: %w", err)
	}
	p := &Pool{cfg: cfg, log: cfg.Logger}
	p.ctx, p.cancel = context.WithCancelCause(context.Background())
	of := make(map[Node]*peer)
	for i, node := range cfg.Nodes {
		if of[node] == nil {
			of[node] = newPeer(p, cfg.Names[i], node)
			p.all = append(p.all, of[node])
		}
		of[node].indices = append(of[node].indices, int32(i))
		p.peers = append(p.peers, of[node])
	}
	for _, e := range p.all {
		p.spawn(e.keep)
		p.spawn(e.sendShares)
	}
	return p, nil
}

// spawn runs f in a goroutine that Close waits for, unless Close has begun.
func (p *Pool) spawn(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		go f() // it ends by itself, because ctx has ended
		return
	}
	p.tasks.Go(f)
}

// Follow sets the follower: changed is called when a node has joined or left, for each of its
// indices, one call at a time for each node; at first, before Follow returns, for those known
// to be down. The last call for a node is its state. A launch on a node that has left fails
// only after the follower was called.
func (p *Pool) Follow(changed func(node int32, up bool)) {
	p.mu.Lock()
	p.changed = changed
	p.mu.Unlock()
	for _, e := range p.all {
		e.tell()
	}
}

// Asked returns when each node has been queried once and the follower knows its state: after
// at most the time that a node has for an answer, or at the end of ctx.
func (p *Pool) Asked(ctx context.Context) {
	for _, e := range p.all {
		e.until(ctx, func() bool { return e.asked && e.isUp() == e.reported })
	}
}

// Why returns why a node is down; "" for one that is up, or was not queried yet.
func (p *Pool) Why(node int32) string {
	e := p.peers[node]
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.why
}

func (p *Pool) follower() func(int32, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changed
}

// Close ends all renewals and leaves tasks running on their lease: attempts are detached.
func (p *Pool) Close() {
	p.cancel(ErrClosed)
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	for _, e := range p.all {
		for _, m := range e.list() {
			m.of.Detach()
		}
	}
	p.tasks.Wait()
}
