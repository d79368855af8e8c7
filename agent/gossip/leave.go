package gossip

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// leaving is how long Leave waits for the news to spread when ctx says nothing.
const leaving = time.Second

// Leave tells the others and stops. They forget this member at once.
func (g *Group) Leave(ctx context.Context) error { return g.finish(ctx, true) }

// Close stops without a word. The others will find this member lost.
func (g *Group) Close() error { return g.finish(context.Background(), false) }

func (g *Group) finish(ctx context.Context, polite bool) error {
	g.end.Do(func() {
		g.stop()
		g.stopped.Wait()
		var leave error
		if polite {
			wait := leaving
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

// sayGoodbye sends a farewell to everybody, straight and over TCP: memberlist
// itself does not tell its listeners a member that left from one that died.
// It returns when all have it or ctx ends.
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
				g.log.Debug("no goodbye", "to", to.Name, "error", err)
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

// farewell is the one message that members send to each other.
type farewell struct {
	name     string // memberlist's name of who leaves
	instance uint64 // the life that ends; a later one of the same name stays
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
