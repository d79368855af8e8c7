package gossip

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/memberlist"
)

// Member is another member of the group.
type Member struct {
	Name         string
	Role         Role
	URL          string // of its service
	API          int    // version of drover.v1
	Capabilities []string
	// Lost means that it stopped answering without leaveTimeout.
	Lost bool
	// Generation increases whenever the member can have changed: it joined, came back, or
	// restarted.
	Generation uint64

	instance  uint64
	address   string // of its gossip
	departing bool   // it said goodbye
}

// Group is one process's membership. Its methods may be called from several
// goroutines.
type Group struct {
	log       hclog.Logger
	self      string // memberlist's name of this member
	address   string // host:port of this member's gossip
	goodbye   []byte // message for when this member leaves
	list      *memberlist.Memberlist
	changed   chan struct{}
	restarted chan string   // addresses of restarted members
	rejoin    time.Duration // interval of looking for missing members
	file      string        // of the roster; "" for none
	dirty     chan struct{} // the roster may have changed

	mu         sync.Mutex
	members    map[string]Member    // by memberlist's name
	departed   map[string]departure // by the name of the server
	own        Known                // this server; no name for an agent
	generation uint64

	stop    context.CancelFunc
	stopped sync.WaitGroup
	end     sync.Once
	ended   error
}

// Join joins the group. It returns once the socket is open. Seeds are tried repeatedly in
// the background, so members can start in any order.
func Join(cfg Config) (*Group, error) {
	host, port, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	self := cfg.Role.String() + "/" + cfg.Name
	log := cfg.Logger
	if log == nil {
		log = hclog.NewNullLogger()
	}
	g := &Group{
		log:       log,
		self:      self,
		changed:   make(chan struct{}, 1),
		restarted: make(chan string, 16),
		rejoin:    cfg.Rejoin,
		file:      cfg.Roster,
		dirty:     make(chan struct{}, 1),
		members:   make(map[string]Member),
		departed:  make(map[string]departure),
	}
	if cfg.Role == Server {
		g.own = Known{Name: cfg.Name, URL: cfg.URL, API: cfg.API}
	}
	g.own.Instance = uint64(time.Now().UnixNano())
	if err := g.load(); err != nil {
		return nil, err
	}
	instance := g.own.Instance
	g.goodbye = farewell{name: self, instance: instance}.encode()
	encoded, err := meta{
		role: cfg.Role, api: cfg.API, url: cfg.URL, capabilities: cfg.Capabilities, instance: instance,
	}.encode()
	if err != nil {
		return nil, err
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
	g.mu.Lock()
	g.own.Address = g.address
	g.mu.Unlock()
	ctx, stop := context.WithCancel(context.Background())
	g.stop = stop
	g.stopped.Go(func() { g.keepJoined(ctx, cfg.Seeds) })
	g.stopped.Go(func() { g.seekLost(ctx) })
	if g.file != "" {
		g.stopped.Go(func() { g.keepRoster(ctx) })
	}
	return g, nil
}

// Addr returns the host:port of this member's gossip, which others can use as a seed.
func (g *Group) Addr() string { return g.address }

// Changed receives a value after Members has changed, one for any number of changes. It is
// for a single reader.
func (g *Group) Changed() <-chan struct{} { return g.changed }

// Members returns all other members with readable metadata, agents first, then by name.
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

// leaveTimeout is how long Leave waits for the news to spread if ctx has no deadline.
const leaveTimeout = time.Second

// Leave says goodbye and stops. The others forget this member at once.
func (g *Group) Leave(ctx context.Context) error { return g.finish(ctx, true) }

// Close stops without a goodbye. The others will mark this member as lost.
func (g *Group) Close() error { return g.finish(context.Background(), false) }

func (g *Group) finish(ctx context.Context, polite bool) error {
	g.end.Do(func() {
		g.stop()
		g.stopped.Wait()
		var leave error
		if polite {
			wait := leaveTimeout
			if d, ok := ctx.Deadline(); ok {
				wait = min(wait, max(time.Until(d), time.Millisecond))
			}
			ctx, cancel := context.WithTimeout(ctx, wait)
			g.sayGoodbye(ctx)
			cancel()
			leave = g.list.Leave(wait)
		}
		g.ended = errors.Join(leave, g.list.Shutdown())
		if g.ended != nil {
			g.ended = fmt.Errorf("gossip: leave: %w", g.ended)
		}
	})
	return g.ended
}

// sayGoodbye sends a farewell to all members over TCP, because memberlist's events do not
// distinguish a member that left from one that died. It returns when all have it or ctx
// ends.
func (g *Group) sayGoodbye(ctx context.Context) {
	var sent sync.WaitGroup
	for _, m := range g.Members() {
		at, err := netip.ParseAddrPort(m.address)
		if err != nil || m.Lost {
			continue
		}
		sent.Go(func() {
			to := memberlist.Node{Name: m.Role.String() + "/" + m.Name, Addr: at.Addr().AsSlice(), Port: at.Port()}
			if err := g.list.SendReliable(&to, g.goodbye); err != nil {
				g.log.Debug("leave message failed", "to", to.Name, "error", err)
			}
		})
	}
	all := make(chan struct{})
	go func() { sent.Wait(); close(all) }()
	select {
	case <-all:
	case <-ctx.Done():
	}
}

// farewell is the only message that members send to each other.
type farewell struct {
	name     string // memberlist's name of the leaveTimeout member
	instance uint64 // the instance that ends; a later one of the same name stays
}

func (f farewell) encode() []byte {
	return appendString(binary.AppendUvarint([]byte{metaVersion}, f.instance), f.name)
}

// decodeFarewell returns false for messages of another format.
func decodeFarewell(b []byte) (farewell, bool) {
	if len(b) == 0 || b[0] != metaVersion {
		return farewell{}, false
	}
	d := decoder{rest: b[1:]}
	f := farewell{instance: d.uint(^uint64(0))}
	f.name = d.string()
	return f, !d.bad
}

// put adds or updates a member.
func (g *Group) put(n *memberlist.Node) {
	if n.Name == g.self {
		return
	}
	_, name, _ := strings.Cut(n.Name, "/")
	m, err := decodeMeta(n.Meta)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil || n.Name != m.role.String()+"/"+name {
		g.log.Warn("member ignored", "name", n.Name, "error", errMeta)
		g.forget(n.Name)
		return
	}
	if m.role == Server && m.instance > g.departed[name].instance {
		delete(g.departed, name)
	}
	g.generation++
	g.members[n.Name] = Member{
		Name: name, Role: m.role, URL: m.url, API: m.api, Capabilities: m.capabilities,
		Generation: g.generation, instance: m.instance, address: n.Address(),
	}
	g.signal()
}

// drop handles a member that is gone: it forgets the member after a goodbye, and marks it
// as lost otherwise.
func (g *Group) drop(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	m, known := g.members[name]
	switch {
	case !known:
	case m.departing:
		g.leave(name)
	default:
		m.Lost = true
		g.members[name] = m
		g.signal()
	}
}

// part handles a goodbye, which can arrive before or after memberlist's own event.
func (g *Group) part(f farewell) {
	g.mu.Lock()
	defer g.mu.Unlock()
	m, known := g.members[f.name]
	switch {
	case !known || m.instance != f.instance:
	case m.Lost:
		g.leave(f.name)
	default:
		m.departing = true
		g.members[f.name] = m
	}
}

// leave forgets a member that said goodbye. g.mu is held.
func (g *Group) leave(name string) {
	if m := g.members[name]; m.Role == Server {
		g.depart(m.Name, departure{m.instance, time.Now().Unix()})
		return
	}
	g.forget(name)
}

// forget removes a member, if it is there. g.mu is held.
func (g *Group) forget(name string) {
	if _, known := g.members[name]; known {
		delete(g.members, name)
		g.signal()
	}
}

// signal leaves at most one value in each channel, and never blocks.
func (g *Group) signal() {
	for _, c := range []chan struct{}{g.changed, g.dirty} {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// events receives memberlist's events. Its methods must not block: memberlist holds its
// lock while it calls them.
type events struct{ g *Group }

func (e events) NotifyJoin(n *memberlist.Node)   { e.g.put(n) }
func (e events) NotifyUpdate(n *memberlist.Node) { e.g.put(n) }
func (e events) NotifyLeave(n *memberlist.Node)  { e.g.drop(n.Name) }

// delegate gives memberlist this member's metadata, and receives farewells.
type delegate struct {
	g    *Group
	meta []byte
}

func (d delegate) NodeMeta(int) []byte             { return d.meta }
func (d delegate) GetBroadcasts(_, _ int) [][]byte { return nil }

// LocalState returns the roster for another member.
func (d delegate) LocalState(bool) []byte {
	d.g.mu.Lock()
	defer d.g.mu.Unlock()
	text, err := json.Marshal(d.g.roster(false))
	if err != nil {
		d.g.log.Error("encode roster failed", "error", err)
	}
	return text
}

// MergeRemoteState reads the roster of another member.
func (d delegate) MergeRemoteState(text []byte, _ bool) {
	if len(text) == 0 {
		return // an older member
	}
	r, err := decodeRoster(text)
	if err != nil {
		d.g.log.Warn("roster of a member ignored", "error", err)
		return
	}
	d.g.merge(r)
}

// NotifyMsg reads memberlist's buffer before it returns.
func (d delegate) NotifyMsg(b []byte) {
	if f, ok := decodeFarewell(b); ok {
		d.g.part(f)
	}
}
