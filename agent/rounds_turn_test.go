package agent

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/agent/rounds"
	"github.com/seed-9b8f70bb/drover/agent/rpc"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// TestTheAgentWithTheFirstNameRunsPeriodicRounds runs in virtual time.
func TestTheAgentWithTheFirstNameRunsPeriodicRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		group := &fakeGroup{changed: make(chan struct{}, 2)} // no receiver
		log := newJournal()
		cfg := Default()
		cfg.Name, cfg.Reallocation.Period = "b", "10m"
		a := newAgent(cfg, log.logger(), group)
		a.log.SetLevel(hclog.Debug) // nothing waits
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() { defer close(ended); a.reallocateRegularly(ctx) }()
		rounds := func() int {
			synctest.Wait()
			log.mu.Lock()
			defer log.mu.Unlock()
			return strings.Count(log.text.String(), "round completed")
		}
		pass := func(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // virtual time
		pass(9*time.Minute + 59*time.Second)
		if n := rounds(); n != 0 {
			t.Fatalf("%d rounds before the first period is over", n)
		}
		pass(time.Hour)
		if n := rounds(); n != 6 {
			t.Errorf("%d rounds after an hour, want 6", n)
		}
		group.set(gossip.Member{Name: "a", Role: gossip.Agent}, gossip.Member{Name: "a-site", Role: gossip.Server})
		pass(time.Hour)
		if n := rounds(); n != 6 {
			t.Errorf("%d rounds while another agent is to make them, want 6", n)
		}
		group.set(gossip.Member{Name: "a", Role: gossip.Agent, Lost: true},
			gossip.Member{Name: "c", Role: gossip.Agent})
		pass(10 * time.Minute)
		if n := rounds(); n != 7 {
			t.Errorf("%d rounds after the other agent was lost, want 7", n)
		}
		a.turn <- struct{}{} // one is under way, and takes long
		pass(25 * time.Minute)
		if n := rounds(); n != 7 {
			t.Errorf("%d rounds while one is under way, want 7", n)
		}
		<-a.turn
		if n := rounds(); n != 8 {
			t.Errorf("%d rounds after it, want 8: those that were missed are not made up for", n)
		}
		cancel()
		<-ended
	})
}

func TestDisabledRoundsDoNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Default()
		cfg.Reallocation.Period = "off"
		a := newAgent(cfg, newJournal().logger(), &fakeGroup{})
		a.reallocateRegularly(context.Background()) // returns at once
	})
}

func TestRoundsOfOneAgentRunOneAtATime(t *testing.T) {
	full, idle := queueOf("full", 3, 0), queueOf("idle", 0, 0)
	connected(full, idle)
	g := newGrid(t, nil, full.start(t), idle.start(t))
	began, goOn := make(chan struct{}, 1), make(chan struct{})
	full.rounds.before = func(_ context.Context, req *droverv1.DraftRequest) error {
		if req.GetBegin() {
			began <- struct{}{}
			<-goOn
		}
		return nil
	}
	first, second := make(chan []string, 1), make(chan []string, 1)
	run := func(out chan []string) {
		res, err := g.client.Reallocate(context.Background(), &droverv1.ReallocateRequest{DryRun: true})
		if err != nil {
			t.Error(err)
		}
		out <- chosen(res)
	}
	go run(first)
	<-began
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	config, _, _ := g.agent.cfg.Reallocation.rounds()
	if _, err := g.agent.round(ctx, config, true); err == nil ||
		err.Error() != "another round of this agent is still under way" {
		t.Errorf("a round beside another one: %v", err)
	}
	go run(second)
	close(goOn)
	<-began
	if d := cmp.Diff(<-first, <-second); d != "" {
		t.Error(d)
	}
}

// TestAJobDelayedTooOftenKeepsItsSlot: the site has its two jobs in another order than
// that of their submission, and keeps it.
func TestAJobDelayedTooOftenKeepsItsSlot(t *testing.T) {
	lyon := queueOf("lyon", 2, 0)
	slices.Reverse(lyon.jobs)
	g := newGrid(t, quick, lyon.start(t))
	g.knows(t, "lyon", "lyon1", droverv1.JobState_JOB_STATE_WAITING)
	patience := int32(1)
	req := &droverv1.ReallocateRequest{Algorithm: "all-cancellation", Patience: &patience}
	dry := &droverv1.ReallocateRequest{Algorithm: "all-cancellation", Patience: &patience, DryRun: true}
	for i, want := range []struct {
		req         *droverv1.ReallocateRequest
		later, kept int32
	}{{dry, 1, 0}, {req, 1, 0}, {dry, 1, 0}, {req, 1, 0}, {req, 0, 1}, {dry, 0, 1}} {
		if r := g.reallocate(t, want.req).GetRecord(); r.GetLater() != want.later || r.GetKept() != want.kept {
			t.Errorf("round %d: later %d, kept %d, want %+v", i, r.GetLater(), r.GetKept(), want)
		}
	}
}

func TestALongRoundRenewsDraftsThatItDoesNotAsk(t *testing.T) {
	a, b := queueOf("a", 1, 0), queueOf("b", 0, 0)
	g := newGrid(t, nil, a.start(t), b.start(t))
	sites, peers := g.agent.known()
	d := &drafts{agent: g.agent, ctx: context.Background(), round: "r", part: &participants{sites: sites, peers: peers}}
	call := func(c ...*rounds.Call) {
		d.Call(c)
		for _, c := range c {
			if c.Failed {
				t.Fatalf("site %d: %v", c.Site, d.failures[c.Site].problem)
			}
		}
	}
	call(&rounds.Call{Site: 0, Begin: true}, &rounds.Call{Site: 1, Begin: true})
	call(&rounds.Call{Site: 0})
	d.called[1] = d.called[1].Add(-draftRenewal - time.Second)
	call(&rounds.Call{Site: 0})
	call(&rounds.Call{Site: 0, End: true})
	d.called[1] = d.called[1].Add(-draftRenewal - time.Second)
	call(&rounds.Call{Site: 1, End: true}) // a has no draft any more
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(a.rounds.calls) != 4 || len(b.rounds.calls) != 3 || b.rounds.calls[1].GetBegin() ||
		b.rounds.calls[1].GetLease().AsDuration() != draftLease {
		t.Errorf("a: %v\nb: %v", a.rounds.calls, b.rounds.calls)
	}
}

func TestRememberRoundForgetsJobsThatNoLongerWait(t *testing.T) {
	a := newAgent(Default(), newJournal().logger(), &fakeGroup{})
	a.jobs.Begin("lyon")
	a.jobs.Put(0, "lyon", mapping.Digest{ID: "moving", State: mapping.Moving})
	a.jobs.Put(0, "lyon", mapping.Digest{ID: "runs", State: mapping.Running, Started: 1})
	for _, id := range []string{"waits", "moving", "runs", "ended"} {
		a.later.Keep(id, 2)
	}
	placed := rpc.RoundJob{ID: "waits", Ordered: true}
	placed.Past.Later = 3
	failed := rpc.RoundJob{ID: "moving"}
	failed.Past.Later = 3
	a.rememberRound(&rpc.Round{Jobs: []rpc.RoundJob{placed, failed}}, []waitingJob{{id: "waits"}})
	for id, want := range map[string]int{"waits": 3, "moving": 2, "runs": 0, "ended": 0} {
		if got := a.later.Later(id); got != want {
			t.Errorf("%s: %d, want %d", id, got, want)
		}
	}
}

func TestARoundIsLoggedIfJobsWait(t *testing.T) {
	for jobs, want := range []int{0, 1} {
		g := newGrid(t, nil, queueOf("a", jobs, 0).start(t))
		g.reallocate(t, &droverv1.ReallocateRequest{})
		g.log.mu.Lock()
		if n := strings.Count(g.log.text.String(), "round completed"); n != want {
			t.Errorf("%d jobs: logged %d times, want %d", jobs, n, want)
		}
		g.log.mu.Unlock()
	}
}
