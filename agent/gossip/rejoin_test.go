package gossip

import (
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
)

// cluster is two agents and three servers that know each other. None has seeds that name
// the first agent.
type cluster struct {
	first   *Group
	address string // of the first agent
	others  []*Group
	alive   string // address of a server
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	second := join(t, Agent, "second")
	c := &cluster{first: join(t, Agent, "first", second.Addr()), others: []*Group{second}}
	c.address = c.first.Addr()
	for _, name := range []string{"lyon", "metz", "nancy"} {
		c.others = append(c.others, join(t, Server, name, second.Addr()))
	}
	c.alive = c.others[3].Addr()
	for _, g := range append(c.others, c.first) {
		eventually(t, g, "all others", count(4))
	}
	return c
}

// again restarts the first agent and returns when all members know each other.
func (c *cluster) again(t *testing.T, seeds ...string) {
	t.Helper()
	began := time.Now()
	g, err := Join(Config{
		Name: "first", Role: Agent, Bind: c.address, API: 1, URL: "http://new.example:1", Seeds: seeds,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	within(t, g, 15*time.Second, "the grid", count(4))
	t.Logf("the agent knew the grid after %v", time.Since(began))
	for _, o := range c.others {
		within(t, o, 15*time.Second, "the agent's new life", func(all []Member) bool {
			for _, m := range all {
				if m.Name == "first" {
					return !m.Lost && m.URL == "http://new.example:1"
				}
			}
			return false
		})
	}
	t.Logf("the grid knew the agent after %v", time.Since(began))
}

func TestARestartedMemberWithoutSeedsIsTakenBack(t *testing.T) {
	dead := join(t, Server, "dead")
	deadAddress := dead.Addr()
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	for _, lost := range []bool{false, true} {
		when := " before anybody misses it"
		if lost {
			when = " after it was lost"
		}
		for name, seeds := range map[string]func(*cluster) []string{
			"no seeds":      func(*cluster) []string { return nil },
			"a living seed": func(c *cluster) []string { return []string{c.alive} },
			"a dead seed":   func(*cluster) []string { return []string{deadAddress} },
		} {
			t.Run(name+when, func(t *testing.T) {
				t.Parallel()
				c := newCluster(t)
				if err := c.first.Close(); err != nil {
					t.Fatal(err)
				}
				for _, g := range c.others {
					if lost {
						eventually(t, g, "a lost agent", func(all []Member) bool {
							return len(all) == 4 && all[0].Lost
						})
					}
				}
				c.again(t, seeds(c)...)
			})
		}
	}
}

func TestLostMembersAreTriedInTurn(t *testing.T) {
	g := &Group{members: map[string]Member{
		"server/a": {Lost: true, address: "1"}, "server/b": {address: "2"}, "server/c": {Lost: true, address: "3"},
	}}
	last, got := "", ""
	for range 4 {
		var address string
		address, last = g.nextLost(last)
		got += address
	}
	if got != "1313" {
		t.Errorf("asked %s, want 1313", got)
	}
	if address, name := new(Group).nextLost("x"); address != "" || name != "" {
		t.Errorf("%q, %q, want none", address, name)
	}
}

func TestAnAnswerOfANewInstanceTriggersARejoin(t *testing.T) {
	g := &Group{restarted: make(chan string, 1), members: map[string]Member{"server/lyon": {instance: 7}}}
	for _, c := range []struct {
		name    string
		payload []byte
		asked   int
	}{
		{"server/lyon", []byte{7}, 0},
		{"server/lyon", nil, 0}, // does not tell
		{"server/metz", []byte{8}, 0},
		{"server/lyon", []byte{8}, 1},
		{"server/lyon", []byte{8}, 1}, // does not block
	} {
		pings{g: g}.NotifyPingComplete(&memberlist.Node{Name: c.name, Addr: []byte{127, 0, 0, 1}, Port: 1}, 0,
			c.payload)
		if len(g.restarted) != c.asked {
			t.Errorf("%s %v: %d to be asked, want %d", c.name, c.payload, len(g.restarted), c.asked)
		}
	}
}
