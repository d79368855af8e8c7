package gossip

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/seed-9b8f70bb/drover/internal/freeport"
)

// memberlist does not wait for a probe under way when it shuts down.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/hashicorp/memberlist.(*Memberlist).probeNode"))
}

// join starts a member on a free port of the loopback.
func join(t *testing.T, role Role, name string, seeds ...string) *Group {
	t.Helper()
	return joinAt(t, "127.0.0.1:0", role, name, seeds...)
}

func joinAt(t *testing.T, bind string, role Role, name string, seeds ...string) *Group {
	t.Helper()
	g, err := Join(Config{
		Name: name, Role: role, Bind: bind, URL: "http://" + name + ".example:1",
		API: 1, Capabilities: []string{"promises"}, Seeds: seeds,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

// eventually reads Changed until the members are as wanted.
func eventually(t *testing.T, g *Group, what string, ok func([]Member) bool) []Member {
	t.Helper()
	return within(t, g, 30*time.Second, what, ok)
}

func within(t *testing.T, g *Group, d time.Duration, what string, ok func([]Member) bool) []Member {
	t.Helper()
	late := time.After(d)
	for {
		if all := g.Members(); ok(all) {
			return all
		}
		select {
		case <-g.Changed():
		case <-late:
			t.Fatalf("%s: never seen; members: %+v", what, g.Members())
		}
	}
}

// waitFor is a log that reports when a seed did not answer.
type waitFor chan struct{}

func (w waitFor) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("seeds do not answer")) {
		select {
		case w <- struct{}{}:
		default:
		}
	}
	return len(line), nil
}

func count(n int) func([]Member) bool { return func(all []Member) bool { return len(all) == n } }

func TestMembersFindEachOtherThroughOneSeed(t *testing.T) {
	a := join(t, Agent, "one")
	lyon := join(t, Server, "lyon", a.Addr())
	nancy := join(t, Server, "nancy", a.Addr())
	eventually(t, a, "both servers", count(2))
	eventually(t, nancy, "agent and lyon", count(2))
	got := eventually(t, lyon, "agent and nancy", count(2))
	want := []Member{
		{Name: "one", Role: Agent, URL: "http://one.example:1", API: 1, Capabilities: []string{"promises"}},
		{Name: "nancy", Role: Server, URL: "http://nancy.example:1", API: 1, Capabilities: []string{"promises"}},
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Member{}),
		cmpopts.IgnoreFields(Member{}, "Generation")); d != "" {
		t.Error(d)
	}
}

func TestMembersOfDifferentRolesCanShareAName(t *testing.T) {
	a := join(t, Agent, "lyon")
	s := join(t, Server, "lyon", a.Addr())
	eventually(t, a, "the server", count(1))
	eventually(t, s, "the agent", count(1))
}

func TestASeedCanStartLater(t *testing.T) {
	addr := freeport.Address(t)
	first := joinAt(t, addr, Agent, "one")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	tried := make(waitFor, 1)
	s, err := Join(Config{
		Name: "lyon", Role: Server, Bind: "127.0.0.1:0", API: 1, Seeds: []string{addr},
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Debug, Output: tried}),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	<-tried
	again, err := Join(Config{Name: "one", Role: Agent, Bind: addr, API: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	eventually(t, s, "the agent", count(1))
}

func TestALeavingMemberIsForgottenAndADeadOneIsLost(t *testing.T) {
	a := join(t, Agent, "one")
	left := join(t, Server, "left", a.Addr())
	dies := join(t, Server, "dies", a.Addr())
	eventually(t, a, "both servers", count(2))
	if err := left.Leave(context.Background()); err != nil {
		t.Fatal(err)
	}
	got := eventually(t, a, "one server", count(1))
	if got[0].Name != "dies" || got[0].Lost {
		t.Fatalf("after a goodbye: %+v", got)
	}
	before := got[0].Generation
	if err := dies.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, a, "a lost server", func(all []Member) bool { return len(all) == 1 && all[0].Lost })
	join(t, Server, "dies", a.Addr())
	// The name is free at once: memberlist by itself would take half a minute.
	within(t, a, 10*time.Second, "the server back", func(all []Member) bool {
		return len(all) == 1 && !all[0].Lost && all[0].Generation > before
	})
}

func TestSeedsAreTriedWhileAMemberIsLost(t *testing.T) {
	a := join(t, Agent, "one")
	asks := func(seed string) bool { return len(a.wanting(t.Context(), []string{seed})) > 0 }
	if !asks(a.Addr()) {
		t.Error("content alone")
	}
	lyon := join(t, Server, "lyon", a.Addr())
	eventually(t, a, "the server", count(1))
	if asks(lyon.Addr()) {
		t.Error("not content though all are there")
	}
	a.drop("server/lyon")
	if !asks(lyon.Addr()) {
		t.Error("content though lyon is lost")
	}
}

func TestARestartedSeedIsFound(t *testing.T) {
	address := freeport.Address(t)
	seed := joinAt(t, address, Agent, "seed")
	lyon, nancy := join(t, Server, "lyon", address), join(t, Server, "nancy", address)
	eventually(t, lyon, "all", count(2))
	eventually(t, nancy, "all", count(2))
	if err := seed.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, lyon, "nancy alone", count(1))
	// Under another name: the rumour that the first has left, which may still go
	// round, says nothing to it.
	again, err := Join(Config{Name: "new", Role: Agent, Bind: address, API: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = again.Close() })
	eventually(t, again, "both servers", count(2))
}

func TestSeedsThatAreMembersAreNotTried(t *testing.T) {
	seed := join(t, Agent, "seed")
	_, port, err := net.SplitHostPort(seed.Addr())
	if err != nil {
		t.Fatal(err)
	}
	lyon := join(t, Server, "lyon", seed.Addr())
	eventually(t, lyon, "the seed", count(1))
	got := lyon.wanting(t.Context(), []string{seed.Addr(), "localhost:" + port, lyon.Addr(), "127.0.0.1:1"})
	if diff := cmp.Diff([]string{"127.0.0.1:1"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestALateGoodbyeOfAnEarlierInstanceIsIgnored(t *testing.T) {
	g := &Group{changed: make(chan struct{}, 1), members: map[string]Member{
		"server/lyon": {Name: "lyon", Role: Server, instance: 2, Lost: true},
	}, departed: make(map[string]departure)}
	g.part(farewell{name: "server/lyon", instance: 1})
	if len(g.Members()) != 1 {
		t.Error("forgotten by the goodbye of an earlier life")
	}
	g.part(farewell{name: "server/lyon", instance: 2})
	if len(g.Members()) != 0 {
		t.Error("still there after its own goodbye")
	}
}

func TestJoinNamesEveryBadField(t *testing.T) {
	_, err := Join(Config{Name: "a/b", Bind: "nowhere", Seeds: []string{"x"}})
	for _, field := range []string{"name:", "role:", "api:", "bind:", "seeds[0]:"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s is not in %v", field, err)
		}
	}
}

func TestJoinRefusesMetadataThatIsTooLong(t *testing.T) {
	_, err := Join(Config{Name: "a", Role: Agent, API: 1, Bind: "127.0.0.1:0", URL: strings.Repeat("x", 520)})
	if err == nil || !strings.Contains(err.Error(), "at most 512") {
		t.Errorf("got %v", err)
	}
}

func TestMetaRoundTripsAndIgnoresLaterFields(t *testing.T) {
	want := meta{role: Server, api: 3, instance: 1 << 63, url: "http://x", capabilities: []string{"a", ""}}
	b, err := want.encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeMeta(append(b, "something new"...))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(meta{})); d != "" {
		t.Error(d)
	}
	for n := range len(b) {
		if _, err := decodeMeta(b[:n]); !errors.Is(err, errMeta) {
			t.Errorf("the first %d of %d bytes: %v", n, len(b), err)
		}
	}
	b[0]++
	if _, err := decodeMeta(b); !errors.Is(err, errMeta) {
		t.Error("another version was read")
	}
}

func FuzzMeta(f *testing.F) {
	b, _ := meta{role: Agent, api: 1, url: "http://x", capabilities: []string{"a"}}.encode()
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeMeta(b)
		if err != nil {
			return
		}
		again, err := m.encode()
		if err != nil {
			return // longer than what memberlist would carry
		}
		if n, err := decodeMeta(again); err != nil || !cmp.Equal(m, n, cmp.AllowUnexported(meta{})) {
			t.Errorf("%+v became %+v, %v", m, n, err)
		}
	})
}
