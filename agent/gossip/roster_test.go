package gossip

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// lost requires exactly one other server, which is lost.
func lost(name string) func([]Member) bool {
	return func(all []Member) bool {
		var servers []Member
		for _, m := range all {
			if m.Role == Server && m.Lost {
				servers = append(servers, m)
			}
		}
		return len(servers) == 1 && servers[0].Name == name && servers[0].URL == "http://"+name+".example:1"
	}
}

func shut(t *testing.T, g *Group) {
	t.Helper()
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestANewMemberLearnsOfLostServersFromOthers(t *testing.T) {
	nancy := join(t, Server, "nancy")
	lyon := join(t, Server, "lyon", nancy.Addr())
	eventually(t, nancy, "lyon", count(1))
	shut(t, lyon)
	eventually(t, nancy, "lyon is lost", lost("lyon"))
	a := join(t, Agent, "one", nancy.Addr())
	eventually(t, a, "nancy, and lyon as lost", func(all []Member) bool { return len(all) == 2 && lost("lyon")(all) })
	// The server comes back at another address.
	join(t, Server, "lyon", nancy.Addr())
	eventually(t, a, "lyon answers", func(all []Member) bool { return len(all) == 2 && !all[0].Lost && !all[1].Lost })
}

func TestAMemberKeepsTheServersThatItHasKnown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "members.json")
	start := func(seeds ...string) *Group {
		t.Helper()
		g, err := Join(Config{
			Name: "one", Role: Agent, Bind: "127.0.0.1:0", URL: "http://one", API: 1, Seeds: seeds, Roster: file,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = g.Close() })
		return g
	}
	lyon := join(t, Server, "lyon")
	a := start(lyon.Addr())
	eventually(t, a, "lyon", count(1))
	awaitFile(t, file, `"lyon"`)
	shut(t, a)
	shut(t, lyon)
	a = start()
	eventually(t, a, "lyon as lost", lost("lyon"))
	if !a.Forget("lyon") || a.Forget("metz") {
		t.Error("lyon was not forgotten, or metz was")
	}
	awaitFile(t, file, `"left":1`)
	shut(t, a)
	if a = start(); len(a.Members()) > 0 {
		t.Errorf("after lyon was forgotten: %+v", a.Members())
	}
	shut(t, a)
	if err := os.WriteFile(file, []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if a = start(); len(a.Members()) > 0 {
		t.Errorf("with a damaged roster: %+v", a.Members())
	}
}

// awaitFile waits until a file contains a text.
func awaitFile(t *testing.T, file, text string) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for late := time.After(30 * time.Second); ; {
		if got, _ := os.ReadFile(file); strings.Contains(string(got), text) {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("%s never contained %s", file, text)
		}
	}
}

func TestAServerThatLeftIsForgottenByAllAndListedAsDeparted(t *testing.T) {
	nancy := join(t, Server, "nancy")
	lyon := join(t, Server, "lyon", nancy.Addr())
	eventually(t, nancy, "lyon", count(1))
	if err := lyon.Leave(context.Background()); err != nil {
		t.Fatal(err)
	}
	eventually(t, nancy, "nobody", count(0))
	a := join(t, Agent, "one", nancy.Addr())
	eventually(t, a, "nancy alone", count(1))
	for len(a.Departed(time.Hour)) == 0 {
		eventually(t, a, "nancy alone", count(1))
	}
	if d := cmp.Diff([]string{"lyon"}, a.Departed(time.Hour)); d != "" {
		t.Error(d)
	}
	if got := a.Departed(-time.Hour); got != nil {
		t.Errorf("departed in the future: %v", got)
	}
	if !a.Forget("lyon") || a.Departed(time.Hour) != nil {
		t.Error("a forgotten server is still listed")
	}
}

// A member that has missed a goodbye must not bring the server back.
func TestAnOldRosterDoesNotBringAServerBack(t *testing.T) {
	g := join(t, Agent, "one")
	here := Known{Name: "lyon", URL: "http://lyon", Address: "127.0.0.1:9", API: 1, Instance: 5}
	g.merge(roster{{Name: "lyon", Instance: 5, Left: 100}})
	g.merge(roster{here})
	if got := g.Members(); len(got) > 0 {
		t.Errorf("after a goodbye: %+v", got)
	}
	here.Instance = 6
	g.merge(roster{here})
	if got := g.Members(); len(got) != 1 || !got[0].Lost {
		t.Errorf("a later instance: %+v", got)
	}
	g.merge(roster{{Name: "lyon", Instance: 6, Left: 200}})
	if got := g.Members(); len(got) > 0 {
		t.Errorf("after the goodbye of the later instance: %+v", got)
	}
}

func FuzzRoster(f *testing.F) {
	f.Add([]byte(`[{"name":"lyon","url":"http://lyon","address":"127.0.0.1:1","instance":7}]`))
	f.Add([]byte(`[{"name":"lyon","instance":7,"left":1}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := decodeRoster(text)
		if err != nil {
			return
		}
		for i := range r {
			if !r[i].valid() {
				t.Errorf("invalid entry: %+v", r[i])
			}
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := decodeRoster(again); err != nil || !cmp.Equal(back, r) {
			t.Errorf("%+v became %+v: %v", r, back, err)
		}
	})
}

// The host's clock was set back since the last life: the others must still take this one for the later.
func TestAServerIsLaterThanItsLastLife(t *testing.T) {
	file := filepath.Join(t.TempDir(), "members.json")
	last := uint64(time.Now().Add(time.Hour).UnixNano())
	text, err := json.Marshal(roster{{Name: "lyon", URL: "http://lyon", Address: "127.0.0.1:1", Instance: last}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := Join(Config{
		Name: "lyon", Role: Server, Bind: "127.0.0.1:0", URL: "http://lyon", API: 1, Roster: file,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if k := g.Known(); len(k) != 1 || k[0].Name != "lyon" || k[0].Instance != last+1 || k[0].Address != g.Addr() {
		t.Errorf("known: %+v", k)
	}
	other := join(t, Agent, "one", g.Addr())
	for _, m := range eventually(t, other, "lyon", count(1)) {
		if m.instance != last+1 {
			t.Errorf("the agent sees instance %d", m.instance)
		}
	}
}
