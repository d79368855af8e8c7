package gossip

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
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
	address   string // of its gossip
	departing bool   // has said goodbye
}

// Group is one process's membership. Its methods may be called from several
// goroutines.
type Group struct {
	log     hclog.Logger
	self    string // memberlist's name of this member
	address string // host:port of this member's gossip
	goodbye []byte // what it says when it leaves
	list    *memberlist.Memberlist
	changed chan struct{}
	anew    chan string   // addresses of members that were started anew
	rejoin  time.Duration // between two looks at who is missing

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
		anew:    make(chan string, 16),
		rejoin:  cfg.Rejoin,
		members: make(map[string]Member),
	}
	if g.rejoin == 0 {
		g.rejoin = defaultRejoin
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
	mc.Ping = pings{g: g, payload: binary.AppendUvarint(nil, instance)}
	mc.Logger = log.StandardLogger(&hclog.StandardLoggerOptions{InferLevels: true})
	list, err := memberlist.Create(mc)
	if err != nil {
		return nil, fmt.Errorf("gossip: bind %s: %w", cfg.Bind, err)
	}
	g.list = list
	g.address = list.LocalNode().Address()
	ctx, stop := context.WithCancel(context.Background())
	g.stop = stop
	g.stopped.Go(func() { g.keepJoined(ctx, cfg.Seeds) })
	g.stopped.Go(func() { g.seekLost(ctx) })
	return g, nil
}

// Addr returns the host:port of this member's gossip, to serve as a seed.
func (g *Group) Addr() string { return g.address }

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
