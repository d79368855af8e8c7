package agent

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestDrainedSitesLoseTheirWaitingJobsToTheBestOthers(t *testing.T) {
	commit := make(chan struct{})
	full := &fakeServer{name: "full", services: lists("lu"), life: fakeLife{commit: commit}}
	for i := range 12 {
		j := waiting("full", fmt.Sprintf("j%02d", i))
		j.SubmittedAt.Seconds += int64(i)
		full.jobs = append(full.jobs, j)
	}
	full.jobs[3].State = droverv1.JobState_JOB_STATE_RUNNING
	near := &fakeServer{name: "near", services: lists("lu"), estimate: answers(quote(10, 10, 2))}
	far := &fakeServer{name: "far", services: lists("lu"), estimate: answers(quote(900, 10, 2))}
	other := &fakeServer{name: "other", services: lists("sleep")}
	servers := connected(full, near, far, other)
	for _, s := range servers {
		s.start(t)
	}
	tune := func(c *Config) { quick(c); c.Drain.AtOnce, c.Drain.Retry = 3, 50*time.Millisecond }
	g := newGrid(t, tune, servers...)
	newGrid(t, func(c *Config) { tune(c); c.Name = "second" }, servers...) // which drains too
	if _, err := g.client.SetDraining(context.Background(), &droverv1.AgentServiceSetDrainingRequest{
		Site: "full", Draining: true,
	}); err != nil {
		t.Fatal(err)
	}
	g.until(t, "three moves under way", func() bool {
		full.mu.Lock()
		defer full.mu.Unlock()
		return full.life.most >= 3
	})
	for range 11 {
		select {
		case commit <- struct{}{}:
		case <-time.After(20 * time.Second):
			t.Fatal("the jobs do not leave")
		}
	}
	g.until(t, "all have left", func() bool {
		return g.agent.jobs.Active("full") == 1 && g.agent.jobs.Active("near") == 11
	})
	full.mu.Lock()
	defer full.mu.Unlock()
	// Each agent can order three before it learns of the other's orders.
	if full.life.most > 6 {
		t.Errorf("%d moves were under way at once, want at most 3 for each agent", full.life.most)
	}
	for _, o := range full.life.orders {
		if o.GetReason() != "drain" || o.GetTo() != "near" || o.GetMinGain().AsDuration() > -50*365*24*time.Hour {
			t.Errorf("%v", o)
		}
	}
	for _, j := range far.jobs {
		t.Errorf("%s went to far", j.GetId())
	}
}

func TestAJobThatCannotLeaveStaysAndIsRetried(t *testing.T) {
	full := &fakeServer{name: "full", services: lists("lu"), jobs: []*droverv1.Job{
		waiting("full", "a"), waiting("full", "fixed"),
	}}
	full.life.refuses = func(id string) *problem.Problem {
		if id == "fixed" {
			return &problem.Problem{Reason: problem.NotMovable, Message: "a reservation"}
		}
		return nil
	}
	near := &fakeServer{name: "near", services: lists("lu"), life: fakeLife{draining: true}}
	full.life.draining = true
	connected(full, near)
	g := newGrid(t, func(c *Config) { quick(c); c.Drain.Retry = 20 * time.Millisecond }, full.start(t), near.start(t))
	g.log.await(t, "drain move failed: job=a", 2)
	near.estimate = answers(quote(1, 1, 1))
	near.mu.Lock()
	near.life.draining = false
	near.mu.Unlock()
	g.log.await(t, "drain move began: job=a", 1)
	g.knows(t, "near", "a", droverv1.JobState_JOB_STATE_WAITING)
	g.knows(t, "full", "fixed", droverv1.JobState_JOB_STATE_WAITING)
}

func TestASiteThatStopsDrainingKeepsItsJobs(t *testing.T) {
	lyon := (&fakeServer{name: "lyon", services: lists("lu"), jobs: []*droverv1.Job{waiting("lyon", "a")}}).start(t)
	near := (&fakeServer{name: "near", services: lists("lu"), estimate: answers(quote(1, 1, 1))}).start(t)
	connected(lyon, near)
	g := newGrid(t, func(c *Config) { c.Poll = time.Hour }, lyon, near)
	g.knows(t, "lyon", "a", droverv1.JobState_JOB_STATE_WAITING)
	sites, peers := g.agent.known() // as of a time when it drained
	to, err := g.agent.moveAway(context.Background(), eviction{site: sites[0], peer: peers[0], job: "a"})
	if to != "" || outcomeOf(err) != mapping.Overtaken || len(lyon.life.orders) != 0 {
		t.Errorf("to %q, %v; orders %v", to, err, lyon.life.orders)
	}
}

func TestOutcomeOfDistinguishesFailedOrders(t *testing.T) {
	because := func(r problem.Reason) error { return fmt.Errorf("order: %w", &problem.Problem{Reason: r}) }
	for _, c := range []struct {
		err  error
		want mapping.Outcome
	}{
		{nil, mapping.Ordered},
		{because("stale-epoch"), mapping.Overtaken},
		{because("not-waiting"), mapping.Overtaken},
		{because("unknown-job"), mapping.Overtaken},
		{because("not-movable"), mapping.Immovable},
		{because("no-candidate"), mapping.NoSite},
		{because("timeout"), mapping.NoSite},
		{errors.New("an error without a problem"), mapping.NoSite},
	} {
		if got := outcomeOf(c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}
