package gossip

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/memberlist"
)

// Member is somebody else in the group.
type Member struct {
	Name         string
	Role         Role
	URL          string // of its RPC face
	API          int    // version of drover.v1
	Capabilities []string
	// Lost says that it stopped answering without having left.
	Lost bool
	// Generation is a higher number whenever the member may have changed:
	// joined, came back, or was started anew.
	Generation uint64

	instance  uint64
	departing bool // has said goodbye
}

// Group is one process's membership. Its methods may be called from several
// goroutines.
type Group struct {
	log     hclog.Logger
	self    string // memberlist's name of this member
	goodbye []byte // what it says when it leaves
	list    *memberlist.Memberlist
	changed chan struct{}

	mu         sync.Mutex
	members    map[string]Member // by memberlist's name
	generation uint64

	stop    context.CancelFunc
	stopped sync.WaitGroup
	end     sync.Once
	ended   error
}

// Join starts to gossip. It returns once the socket is open; seeds are asked in
// the background, again and again, so that members may start in any order.
func Join(cfg Config) (*Group, error) {
	host, port, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	self := cfg.Role.String() + "/" + cfg.Name
	instance := uint64(time.Now().UnixNano())
	encoded, err := meta{
		role: cfg.Role, api: cfg.API, url: cfg.URL, capabilities: cfg.Capabilities, instance: instance,
	}.encode()
	if err != nil {
		return nil, err
	}
	log := cfg.Logger
	if log == nil {
		log = hclog.NewNullLogger()
	}
	g := &Group{
		log:     log,
		self:    self,
		goodbye: farewell{name: self, instance: instance}.encode(),
		changed: make(chan struct{}, 1),
		members: make(map[string]Member),
	}
	mc := timing(host)
	mc.Name = g.self
	mc.BindAddr, mc.BindPort = host, port
	if host == "localhost" {
		mc.BindAddr = "127.0.0.1"
	}
	mc.AdvertisePort = port
	mc.Delegate = delegate{g: g, meta: encoded}
	mc.Events = events{g}
	mc.Logger = log.StandardLogger(&hclog.StandardLoggerOptions{InferLevels: true})
	list, err := memberlist.Create(mc)
	if err != nil {
		return nil, fmt.Errorf("gossip: bind %s: %w", cfg.Bind, err)
	}
	g.list = list
	ctx, stop := context.WithCancel(context.Background())
	g.stop = stop
	if len(cfg.Seeds) > 0 {
		g.stopped.Go(func() { g.keepJoined(ctx, cfg.Seeds) })
	}
	return g, nil
}

// Addr returns the host:port of this member's gossip, to serve as a seed.
func (g *Group) Addr() string {
	n := g.list.LocalNode()
	return net.JoinHostPort(n.Addr.String(), strconv.Itoa(int(n.Port)))
}

// Changed receives a value after Members has changed, one for any number of
// changes. It is for one reader.
func (g *Group) Changed() <-chan struct{} { return g.changed }

// Members returns everybody else whose metadata could be read, agents first,
// then by name.
func (g *Group) Members() []Member {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := make([]Member, 0, len(g.members))
	for _, m := range g.members {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), strings.Compare(a.Name, b.Name))
	})
	return all
}

// keepJoined asks those seeds that wanting names.
func (g *Group) keepJoined(ctx context.Context, seeds []string) {
	tick := time.NewTicker(rejoin)
	defer tick.Stop()
	for {
		if wanted := g.wanting(ctx, seeds); len(wanted) > 0 {
			if _, err := g.list.Join(wanted); err != nil {
				g.log.Debug("no seed answers", "seeds", wanted, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// wanting returns the seeds to ask: all while this member is alone or misses
// somebody, and otherwise those that are no members. One of them may have left
// and been started anew, and if it has no seeds itself nobody else would find it.
func (g *Group) wanting(ctx context.Context, seeds []string) []string {
	members := g.list.Members()
	if len(members) < 2 || g.missing() {
		return seeds
	}
	here := make(map[string]bool, len(members))
	for _, n := range members {
		here[n.Address()] = true
	}
	var wanted []string
	for _, s := range seeds {
		if !here[s] && !resolves(ctx, s, here) {
			wanted = append(wanted, s)
		}
	}
	return wanted
}

// missing says whether somebody has been lost.
func (g *Group) missing() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range g.members {
		if m.Lost {
			return true
		}
	}
	return false
}

// resolves says whether one of the addresses of a host:port is among those here.
func resolves(ctx context.Context, address string, here map[string]bool) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, rejoin)
	defer cancel()
	ips, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return false
	}
	for _, ip := range ips {
		if here[net.JoinHostPort(ip, port)] {
			return true
		}
	}
	return false
}
