package agent

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/internal/freeport"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
)

// running is an agent with real gossip.
type running struct {
	*Agent
	log    *journal
	client droverv1connect.AgentServiceClient
	kill   func() // without a word to anybody
}

func runAgent(t *testing.T, name, listen, bind string, seeds ...string) *running {
	t.Helper()
	cfg := Default()
	quick(&cfg)
	cfg.Name, cfg.Listen, cfg.Gossip.Bind, cfg.Gossip.Seeds = name, listen, bind, seeds
	r := &running{log: newJournal()}
	cfg.Logger = r.log.logger()
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	var transport http.Transport
	r.Agent, r.client = a, droverv1connect.NewAgentServiceClient(&http.Client{Transport: &transport}, a.URL())
	dead := false
	r.kill = func() {
		if dead {
			return
		}
		dead = true
		_ = a.group.Close() // so that stopping cannot say goodbye
		transport.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Cleanup(r.kill)
	return r
}

func TestARestartedAgentLearnsTheGridAndItsJobsAgain(t *testing.T) {
	for name, seeds := range map[string]func(living string) []string{
		"without seeds":      func(string) []string { return nil },
		"with a living seed": func(living string) []string { return []string{living} },
	} {
		t.Run(name, func(t *testing.T) {
			first := runAgent(t, "first", freeport.Address(t), freeport.Address(t))
			second := runAgent(t, "second", "127.0.0.1:0", "127.0.0.1:0", first.Seed())
			var living string
			for _, site := range []string{"lyon", "metz", "nancy"} {
				s := (&fakeServer{
					name: site, services: lists("lu"), estimate: answers(quote(0, 1, 1)),
					jobs: []*droverv1.Job{waiting(site, site+"1")},
				}).start(t)
				g, err := gossip.Join(gossip.Config{
					Name: site, Role: gossip.Server, Bind: "127.0.0.1:0", URL: s.url, API: 1,
					Seeds: []string{second.Seed()},
				})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = g.Close() })
				living = g.Addr()
			}
			for _, a := range []*running{first, second} {
				for _, site := range []string{"lyon", "metz", "nancy"} {
					(&grid{agent: a.Agent}).knows(t, site, site+"1", droverv1.JobState_JOB_STATE_WAITING)
				}
			}
			first.kill()
			began := time.Now()
			again := runAgent(t, "first", strings.TrimPrefix(first.URL(), "http://"), first.Seed(), seeds(living)...)
			for _, site := range []string{"lyon", "metz", "nancy"} {
				again.log.await(t, "site joined: site="+site, 1)
				(&grid{agent: again.Agent}).knows(t, site, site+"1", droverv1.JobState_JOB_STATE_WAITING)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %v", took)
			} else {
				t.Logf("it took %v", took)
			}
			res, err := again.client.FindJob(context.Background(), &droverv1.FindJobRequest{JobId: "metz1"})
			if err != nil || res.GetTarget().GetSite() != "metz" {
				t.Errorf("%v, %v", res, err)
			}
		})
	}
}
