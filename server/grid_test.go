package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/internal/freeport"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// grid is two sites with servers in processes. They talk through taps, which see every
// message and can kill a process between two messages.
//
//	        ┌─ tap ──▶ source
//	test ───┤            │ ▲
//	        └─ tap ──▶ target
type grid struct {
	t              testing.TB
	ground         *ground
	source, target *processSite
	seed           string            // of their gossip
	urls           map[string]string // of the taps

	mu    sync.Mutex
	hooks []hook // guarded by mu
}

// hook runs at the first message of a kind.
type hook struct {
	site     *processSite
	step     string
	moment   moment
	do       func()
	happened chan struct{}
}

// moment is when a hook runs.
type moment bool

const (
	before moment = false // the message has not reached its site
	after  moment = true  // the site has answered; the answer is on its way
)

func newGrid(t testing.TB, lines string) *grid {
	t.Helper()
	return newMixedGrid(t, map[string]string{"lyon": lines, "nice": lines})
}

// newMixedGrid is newGrid with separate configuration lines for each site.
func newMixedGrid(t testing.TB, lines map[string]string) *grid {
	t.Helper()
	seed, err := gossip.Join(gossip.Config{Name: "agent", Role: gossip.Agent, Bind: "127.0.0.1:0", API: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { seed.Close() })
	g := &grid{t: t, ground: newGround(t), seed: seed.Addr(), urls: make(map[string]string)}
	for name, p := range map[string]**processSite{"lyon": &g.source, "nice": &g.target} {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		g.urls[name] = "http://" + l.Addr().String()
		more := fmt.Sprintf("url: http://%s\ngossip: {bind: %q, seeds: [%q]}", l.Addr(), freeport.Address(t),
			seed.Addr())
		*p = newProcessSite(t, name, lines[name]+"\n"+more)
		g.tap(*p, l)
		(*p).run()
	}
	for len(seed.Members()) < 2 {
		<-seed.Changed()
	}
	return g
}

// tap forwards messages for a site to its current process. If a hook kills that process,
// the message or its answer is lost.
func (g *grid) tap(p *processSite, l net.Listener) {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &protocols}
	forward := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", p.address() },
		ModifyResponse: func(r *http.Response) error {
			g.tell(p, path.Base(r.Request.URL.Path), after)
			return nil
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	server := &http.Server{
		Protocols: &protocols, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			g.tell(p, path.Base(r.URL.Path), before)
			forward.ServeHTTP(w, r)
		}),
	}
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(l) })
	g.t.Cleanup(func() {
		_ = server.Close()
		served.Wait()
		transport.CloseIdleConnections()
	})
}

func (g *grid) tell(p *processSite, step string, m moment) {
	g.mu.Lock()
	at := slices.IndexFunc(g.hooks, func(h hook) bool { return h.site == p && h.step == step && h.moment == m })
	if at < 0 {
		g.mu.Unlock()
		return
	}
	h := g.hooks[at]
	g.hooks = slices.Delete(g.hooks, at, at+1)
	g.mu.Unlock()
	h.do()
	close(h.happened)
}

// when runs f at the first such message before the tap passes it on. It then closes the
// channel.
func (g *grid) when(site *processSite, step string, m moment, f func()) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := hook{site: site, step: step, moment: m, do: f, happened: make(chan struct{})}
	g.hooks = append(g.hooks, h)
	return h.happened
}

// move moves a job as soon as its server knows the other site.
func (g *grid) move(req *droverv1.MoveJobRequest) (*droverv1.Job, error) {
	g.t.Helper()
	ctx := within(g.t)
	for {
		res, err := g.source.client.MoveJob(ctx, req)
		if ce := new(connect.Error); errors.As(err, &ce) && len(ce.Details()) == 1 {
			if _, d := detail(g.t, err); d.GetReason() == "unknown-site" && req.GetTo() == g.target.name {
				continue // gossip has not arrived yet
			}
		}
		return res.GetJob(), err
	}
}

// queue makes the source busy and returns a job with a file of this content that waits
// there.
func (g *grid) queue(content []byte) string {
	g.t.Helper()
	busy := g.source.submit(newID(g.t), g.ground.request("once", 4, true, 0))
	g.source.ready(busy.GetId())
	s := &testSite{client: g.source.client, base: "http://" + g.source.address()}
	f, err := s.upload(within(g.t), content)
	if err != nil {
		g.t.Fatal(err)
	}
	r := g.ground.request("fed", 4, false, 0)
	delete(r.Arguments, "code")
	f.Name = "a file.txt"
	r.Arguments["input"] = file(f)
	return g.source.submit(newID(g.t), r).GetId()
}

// settled opens the gate, waits for a job's end at either site, and returns the site and
// the job. It fails the test unless the job ran once, with its file.
func (g *grid) settled(id string, content []byte) (at *processSite, j *droverv1.Job) {
	g.t.Helper()
	g.ground.open()
	at = g.source
	if j = untilJob(g.t, at.client, id, final); j.GetState() == gone {
		if j.GetMovedTo() != g.target.name {
			g.t.Errorf("the job moved to %q", j.GetMovedTo())
		}
		at = g.target
		j = untilJob(g.t, at.client, id, final)
	}
	lines, _, _ := g.ground.lines(g.t)
	if j.GetState() != done || lines[id] != 1 {
		g.t.Errorf("%d runs, %v at %s: %v", lines[id], j.GetState(), at.name, j)
	}
	s := &testSite{client: at.client, base: "http://" + at.address()}
	if got, err := s.download(within(g.t), id, "out", 0); err != nil || string(got) != string(content) {
		g.t.Errorf("output of %d bytes, want %d: %v", len(got), len(content), err)
	}
	return at, j
}

// gathered waits until no job is in transit.
func (g *grid) gathered() {
	g.t.Helper()
	ctx := within(g.t)
	for _, p := range []*processSite{g.source, g.target} {
		for _, state := range []string{"incoming", "moving", "yielding"} {
			for {
				res, err := p.client.ListJobs(ctx, &droverv1.ServerServiceListJobsRequest{Filter: "state=" + state})
				if err != nil {
					g.t.Fatalf("%s jobs at %s: %v", state, p.name, err)
				}
				if len(res.GetJobs()) == 0 {
					break
				}
				// The move's next message comes within this time.
				pause(ctx, 20*time.Millisecond)
			}
		}
	}
}

// pause waits before the next poll.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
