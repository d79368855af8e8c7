package gossip

import (
	"strings"

	"github.com/hashicorp/memberlist"
)

// put notes that a member is there.
func (g *Group) put(n *memberlist.Node) {
	if n.Name == g.self {
		return
	}
	_, name, _ := strings.Cut(n.Name, "/")
	m, err := decodeMeta(n.Meta)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil || n.Name != m.role.String()+"/"+name {
		g.log.Warn("ignoring a member", "name", n.Name, "error", errMeta)
		g.forget(n.Name)
		return
	}
	g.generation++
	g.members[n.Name] = Member{
		Name: name, Role: m.role, URL: m.url, API: m.api, Capabilities: m.capabilities,
		Generation: g.generation, instance: m.instance, address: n.Address(),
	}
	g.signal()
}

// drop notes that a member is not there: forgotten when it has said goodbye,
// lost when not.
func (g *Group) drop(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	m, known := g.members[name]
	switch {
	case !known:
	case m.departing:
		g.forget(name)
	default:
		m.Lost = true
		g.members[name] = m
		g.signal()
	}
}

// part notes a goodbye. It may come before memberlist's own news or after.
func (g *Group) part(f farewell) {
	g.mu.Lock()
	defer g.mu.Unlock()
	m, known := g.members[f.name]
	switch {
	case !known || m.instance != f.instance:
	case m.Lost:
		g.forget(f.name)
	default:
		m.departing = true
		g.members[f.name] = m
	}
}

// forget removes a member if there is one; g.mu is held.
func (g *Group) forget(name string) {
	if _, known := g.members[name]; known {
		delete(g.members, name)
		g.signal()
	}
}

// signal leaves at most one value in the channel, and never waits.
func (g *Group) signal() {
	select {
	case g.changed <- struct{}{}:
	default:
	}
}

// events passes memberlist's news on. Its methods must not block: memberlist
// holds its lock while it calls them.
type events struct{ g *Group }

func (e events) NotifyJoin(n *memberlist.Node)   { e.g.put(n) }
func (e events) NotifyUpdate(n *memberlist.Node) { e.g.put(n) }
func (e events) NotifyLeave(n *memberlist.Node)  { e.g.drop(n.Name) }

// delegate gives memberlist this member's metadata, and takes farewells.
type delegate struct {
	g    *Group
	meta []byte
}

func (d delegate) NodeMeta(int) []byte             { return d.meta }
func (d delegate) GetBroadcasts(_, _ int) [][]byte { return nil }
func (d delegate) LocalState(bool) []byte          { return nil }
func (d delegate) MergeRemoteState([]byte, bool)   {}

// NotifyMsg is called with memberlist's buffer, which is read before it returns.
func (d delegate) NotifyMsg(b []byte) {
	if f, ok := decodeFarewell(b); ok {
		d.g.part(f)
	}
}
