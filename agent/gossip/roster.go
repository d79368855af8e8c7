package gossip

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"
)

// The roster is what members know of servers that do not answer. They tell each other with every
// full comparison, and keep it in a file: a member that starts while a server is down learns of it,
// and its jobs are not mistaken for unknown ones.
//
//	agent (restarted)  ◀── roster: lyon, lost ── server nancy
//
// A server that said goodbye has an entry too, so that members that missed the goodbye forget it.
type roster []Known

// Known is a server in a roster.
type Known struct {
	Name     string `json:"name"`
	URL      string `json:"url,omitempty"`
	Address  string `json:"address,omitempty"` // of its gossip
	API      int    `json:"api,omitempty"`
	Instance uint64 `json:"instance"`
	Left     int64  `json:"left,omitempty"` // when it said goodbye, Unix time; 1 if an operator forgot it
}

// departure is the goodbye of a server.
type departure struct {
	instance uint64
	at       int64 // Unix time; 1 if an operator forgot it
}

// The limits of rosters, which come from other members.
const (
	mostEntries = 4096
	longestName = 256
	longestURL  = 2048
	mostRoster  = 8 << 20 // bytes
)

// forgotten is the departure.at of a server that an operator forgot.
const forgotten = 1

// decodeRoster decodes the JSON of a roster. It leaves out entries that no server can have.
func decodeRoster(b []byte) (roster, error) {
	if len(b) > mostRoster {
		return nil, fmt.Errorf("roster of %d bytes, accepted: at most %d", len(b), mostRoster)
	}
	var r roster
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("roster: %w", err)
	}
	r = slices.DeleteFunc(r, func(e Known) bool { return !e.valid() })
	return r[:min(len(r), mostEntries)], nil
}

func (e *Known) valid() bool {
	if e.Name == "" || len(e.Name) > longestName || strings.Contains(e.Name, "/") || len(e.URL) > longestURL {
		return false
	}
	_, _, err := net.SplitHostPort(e.Address)
	return e.Left > 0 || e.Left == 0 && err == nil && e.URL != ""
}

// roster returns the lost and the departed servers, and with all also those that answer. g.mu is
// held.
func (g *Group) roster(all bool) roster {
	var r roster
	for _, m := range g.members {
		if m.Role == Server && (m.Lost || all) {
			r = append(r, Known{Name: m.Name, URL: m.URL, Address: m.address, API: m.API, Instance: m.instance})
		}
	}
	for name, d := range g.departed {
		r = append(r, Known{Name: name, Instance: d.instance, Left: d.at})
	}
	if all && g.own.Name != "" {
		r = append(r, g.own)
	}
	slices.SortFunc(r, func(a, b Known) int { return strings.Compare(a.Name, b.Name) })
	return r[:min(len(r), mostEntries)]
}

// Known returns all servers that this member knows of, also those that have left, by name.
func (g *Group) Known() []Known {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.roster(true)
}

// Learn learns of servers that another member knows.
func (g *Group) Learn(known []Known) {
	g.merge(slices.DeleteFunc(slices.Clone(known), func(k Known) bool { return !k.valid() }))
}

// merge learns of servers that this member has not heard of itself.
func (g *Group) merge(r roster) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range r {
		e := &r[i]
		name := Server.String() + "/" + e.Name
		m, known := g.members[name]
		switch {
		case name == g.self:
		case e.Left > 0:
			if !known || m.Lost && m.instance <= e.Instance {
				g.depart(e.Name, departure{e.Instance, e.Left})
			}
		case known && !(m.Lost && m.instance < e.Instance), e.Instance <= g.departed[e.Name].instance,
			!known && len(g.members) >= mostEntries:
		default:
			g.generation++
			g.members[name] = Member{
				Name: e.Name, Role: Server, URL: e.URL, API: e.API, Lost: true, Generation: g.generation,
				instance: e.Instance, address: e.Address,
			}
			g.signal()
		}
	}
}

// depart notes the goodbye of a server, and forgets the server. g.mu is held.
func (g *Group) depart(name string, d departure) {
	was, known := g.departed[name]
	// Of two goodbyes of one instance, the operator's counts.
	if later := d.instance > was.instance || d.instance == was.instance && d.at < was.at; !known || later {
		g.departed[name] = d
		g.signal()
	}
	if len(g.departed) > mostEntries {
		g.dropOldestDeparture()
	}
	g.forget(Server.String() + "/" + name)
}

// dropOldestDeparture makes room for another one. g.mu is held.
func (g *Group) dropOldestDeparture() {
	names := slices.Sorted(maps.Keys(g.departed))
	delete(g.departed, slices.MinFunc(names, func(a, b string) int {
		return cmp.Compare(g.departed[a].at, g.departed[b].at)
	}))
}

// Forgotten reports whether an operator forgot a server.
func (g *Group) Forgotten(name string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.departed[name].at == forgotten
}

// Departed returns the servers that said goodbye within a time and have not come back, by name.
func (g *Group) Departed(within time.Duration) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	since := time.Now().Add(-within).Unix()
	var names []string
	for name, d := range g.departed {
		if d.at >= since {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Forget drops a server that is lost or has left, here and at the other members. It reports whether
// there was one.
func (g *Group) Forget(name string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	m, known := g.members[Server.String()+"/"+name]
	left, departed := g.departed[name]
	switch {
	case known && m.Lost:
		g.depart(name, departure{m.instance, forgotten})
	case !known && departed:
		g.depart(name, departure{left.instance, forgotten})
	default:
		return false
	}
	return true
}

// load creates the roster's directory, and reads the roster of the last life. A damaged file is not
// fatal: the others know the servers.
func (g *Group) load() error {
	if g.file == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(g.file), 0o700); err != nil {
		return fmt.Errorf("gossip: directory of the roster: %w", err)
	}
	text, err := os.ReadFile(g.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var r roster
	if err == nil {
		r, err = decodeRoster(text)
	}
	if err != nil {
		g.log.Warn("roster ignored", "file", g.file, "error", err)
		return nil
	}
	for i := range r {
		if r[i].Name == g.own.Name { // the host's clock may have been set back since
			g.own.Instance = max(g.own.Instance, r[i].Instance+1)
		}
	}
	g.merge(r)
	return nil
}

// rewriteAfter is the pause after a failed write of the roster.
const rewriteAfter = 10 * time.Second

// keepRoster writes the roster after each change until ctx ends, and once more then.
func (g *Group) keepRoster(ctx context.Context) {
	var last []byte
	for ended := false; ; {
		g.mu.Lock()
		text, err := json.Marshal(g.roster(true))
		g.mu.Unlock()
		if err == nil && string(text) != string(last) {
			if err = renameio.WriteFile(g.file, text, 0o600); err == nil {
				last = text
			}
		}
		if err != nil {
			g.log.Warn("write roster failed", "file", g.file, "error", err)
		}
		if ended {
			return
		}
		var again <-chan time.Time
		if err != nil {
			again = time.After(rewriteAfter)
		}
		select {
		case <-ctx.Done():
			ended = true
		case <-g.dirty:
		case <-again:
		}
	}
}
