package gossip

import (
	"cmp"
	"context"
	"encoding/binary"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/memberlist"
)

// keepJoined contacts the seeds that wanting returns at each tick, and restarted members
// at once.
func (g *Group) keepJoined(ctx context.Context, seeds []string) {
	tick := time.NewTicker(g.rejoin)
	defer tick.Stop()
	wanted := g.wanting(ctx, seeds)
	for {
		if len(wanted) > 0 {
			if _, err := g.list.Join(wanted); err != nil {
				g.log.Debug("seeds do not answer", "seeds", wanted, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case address := <-g.restarted:
			wanted = []string{address}
		case <-tick.C:
			wanted = g.wanting(ctx, seeds)
		}
	}
}

// seekLost contacts the lost members, one after the other. A restarted member may know no
// other member, and be no member's seed.
func (g *Group) seekLost(ctx context.Context) {
	tick := time.NewTicker(g.rejoin)
	defer tick.Stop()
	last := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		address, name := g.nextLost(last)
		if last = name; name == "" {
			continue
		}
		if _, err := g.list.Join([]string{address}); err != nil {
			g.log.Debug("rejoin failed", "member", name, "error", err)
		}
	}
}

// nextLost returns the first lost member after a name, or else the first one; "" if none
// is lost.
func (g *Group) nextLost(after string) (address, name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var lost []string
	for name, m := range g.members {
		if m.Lost {
			lost = append(lost, name)
		}
	}
	if len(lost) == 0 {
		return "", ""
	}
	slices.SortFunc(lost, func(a, b string) int { // names after the last one first
		return cmp.Or(
			cmp.Compare(min(strings.Compare(after, a), 0), min(strings.Compare(after, b), 0)),
			strings.Compare(a, b))
	})
	return g.members[lost[0]].address, lost[0]
}

// wanting returns the seeds to contact: all of them while this member is alone or a member
// is lost, and otherwise those that are not members. Such a seed may have left and
// restarted, and if it has no seeds itself, no other member would find it.
func (g *Group) wanting(ctx context.Context, seeds []string) []string {
	here, missing := g.addresses()
	if len(here) == 0 || missing {
		return seeds
	}
	here[g.address] = true
	var wanted []string
	for _, s := range seeds {
		if !here[s] && !resolves(ctx, s, here) {
			wanted = append(wanted, s)
		}
	}
	return wanted
}

// addresses returns the addresses of the others, and whether a member is lost.
func (g *Group) addresses() (here map[string]bool, missing bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	here = make(map[string]bool, len(g.members)+1)
	for _, m := range g.members {
		if m.Lost {
			missing = true
		} else {
			here[m.address] = true
		}
	}
	return here, missing
}

// resolves reports whether one of the addresses of a host:port is among those here.
func resolves(ctx context.Context, address string, here map[string]bool) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, defaultRejoin)
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

// pings puts the instance number into each answer to a probe. A member that restarts at
// its old address continues to answer probes, so it is never lost, but it knows no other
// member.
type pings struct {
	g       *Group
	payload []byte // this member's instance
}

func (p pings) AckPayload() []byte { return p.payload }

// NotifyPingComplete is called during a probe, and must not block.
func (p pings) NotifyPingComplete(n *memberlist.Node, _ time.Duration, payload []byte) {
	instance, read := binary.Uvarint(payload)
	p.g.mu.Lock()
	m, known := p.g.members[n.Name]
	p.g.mu.Unlock()
	if read <= 0 || !known || m.instance == instance {
		return // no news, or the member sent no instance
	}
	select {
	case p.g.restarted <- n.Address():
	default: // the next answer reports it again
	}
}
