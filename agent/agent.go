package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/agent/rounds"
	"github.com/seed-9b8f70bb/drover/agent/rpc"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// apiVersion is the version of drover.v1 that this agent speaks.
const apiVersion = 1

// grace is how long calls under way may take when the agent stops.
const grace = 5 * time.Second

// The agent remembers jobs that have left a site, so that it can redirect a caller even if
// that site does not answer.
const (
	goneRemembered = 100_000
	goneFor        = batch.Hour
)

// longestRetry is the longest pause until a job that found no site is tried again.
const longestRetry = 5 * batch.Minute

// membership is the part of gossip that the agent uses.
type membership interface {
	Members() []gossip.Member
	Changed() <-chan struct{}
	Learn(known []gossip.Known)
	Departed(within time.Duration) []string
	Forget(server string) bool
	Forgotten(server string) bool
	Leave(ctx context.Context) error
	Close() error
}

// Agent is a running agent. Its methods may be called from several goroutines.
type Agent struct {
	cfg      Config
	log      hclog.Logger
	links    mapping.Links
	began    time.Time // when now was 0
	group    membership
	seed     string // address of the gossip
	listener net.Listener
	url      string
	servers  rpc.Servers
	tasks    sync.WaitGroup // goroutines of the agent

	draining chan struct{} // holds a value if there may be something to drain

	turn chan struct{} // holds a value while a round of reallocation is under way
	// The fields below belong to the holder of the turn.
	later   *rounds.Memory
	leftOut map[string]problem.Reason // by site: why it took no part in the last round

	mu     sync.Mutex
	view   mapping.View
	peers  map[string]*rpc.Peer // by site
	joined int                  // servers in the group, described or not
	jobs   *mapping.Jobs
	drain  *mapping.Drain
}

// New opens the agent's sockets, which fixes its addresses, and joins the gossip. The
// caller must call Run or Close.
func New(cfg Config) (*Agent, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("agent configuration: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("agent %s: listen: %w", cfg.Name, err)
	}
	url := cfg.URL
	if url == "" {
		url = "http://" + listener.Addr().String()
	}
	log := cfg.Logger
	if log == nil {
		log = hclog.NewNullLogger()
	}
	group, err := gossip.Join(gossip.Config{
		Name: cfg.Name, Role: gossip.Agent, Bind: cfg.Gossip.Bind, URL: url, API: apiVersion,
		Seeds: cfg.Gossip.Seeds, Rejoin: cfg.Gossip.Rejoin, Roster: cfg.rosterFile(), Logger: log.Named("gossip"),
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("agent %s: %w", cfg.Name, err), listener.Close())
	}
	a := newAgent(cfg, log, group)
	a.listener, a.url, a.seed = listener, url, group.Addr()
	return a, nil
}

// newAgent returns an agent without a listener.
func newAgent(cfg Config, log hclog.Logger, group membership) *Agent {
	return &Agent{
		cfg: cfg, log: log, links: cfg.Network.links(), began: time.Now(), group: group,
		servers:  rpc.NewServers(cfg.Patience),
		draining: make(chan struct{}, 1),
		turn:     make(chan struct{}, 1), later: rounds.NewMemory(),
		peers: make(map[string]*rpc.Peer),
		jobs: mapping.NewJobs(mapping.JobsLimits{
			Active: cfg.Remember, Gone: goneRemembered, GoneFor: goneFor,
		}),
		drain: mapping.NewDrain(mapping.DrainLimits{
			AtOnce: cfg.Drain.AtOnce, Retry: micros(cfg.Drain.Retry), Longest: longestRetry,
		}),
	}
}

// Name returns the agent's name.
func (a *Agent) Name() string { return a.cfg.Name }

// URL returns where the agent's service is reached.
func (a *Agent) URL() string { return a.url }

// Seed returns the host:port of the agent's gossip, for servers to join.
func (a *Agent) Seed() string { return a.seed }

// Run serves until ctx ends. Then it leaves the gossip, gives calls under way a moment to
// finish, and returns nil. It must be called once.
func (a *Agent) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.tasks.Go(func() { a.follow(ctx) })
	a.tasks.Go(func() { a.drainSites(ctx) })
	a.tasks.Go(func() { a.reallocateRegularly(ctx) })
	server, health := rpc.Serve(a, a.log)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(a.listener) }()
	a.log.Info("agent started", "url", a.url, "gossip", a.seed)
	var err error
	select {
	case err = <-failed:
		err = fmt.Errorf("agent %s: serve: %w", a.cfg.Name, err)
	case <-ctx.Done():
		a.log.Info("agent stopping", "reason", context.Cause(ctx))
	}
	cancel()
	health.Stopping()
	ending, done := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer done()
	if e := a.group.Leave(ending); e != nil {
		a.log.Warn("leaving the gossip failed", "error", e)
	}
	if e := server.Shutdown(ending); e != nil {
		a.log.Warn("shutdown cut off calls", "error", e)
		_ = server.Close()
	}
	a.tasks.Wait()
	a.servers.Close()
	return err
}

// Close frees the sockets of an agent that is not run.
func (a *Agent) Close() error {
	return errors.Join(a.listener.Close(), a.group.Close())
}

// now returns the time since the agent began, on a monotonic clock.
func (a *Agent) now() batch.Time { return batch.Time(time.Since(a.began) / time.Microsecond) }

// known returns all sites, by name, with their peers.
func (a *Agent) known() ([]*mapping.Site, []*rpc.Peer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	sites := a.view.Sites(nil)
	return sites, a.peersOf(sites)
}

// peersOf returns the peers of sites. a.mu is held.
func (a *Agent) peersOf(sites []*mapping.Site) []*rpc.Peer {
	peers := make([]*rpc.Peer, len(sites))
	for i, s := range sites {
		peers[i] = a.peers[s.Name]
	}
	return peers
}

// serviceNames returns the names of the services of all sites that are not lost. a.mu is
// held.
func (a *Agent) serviceNames() []string {
	var names []string
	for _, s := range a.view.Sites(nil) {
		if !s.Lost {
			names = append(names, s.Services...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
