package agent

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// waiting makes a job that waits.
func waiting(site, id string) *droverv1.Job {
	return &droverv1.Job{
		Id: id, Site: site, State: droverv1.JobState_JOB_STATE_WAITING,
		Request:     &droverv1.Request{Service: "lu", Owner: "ann", InputBytes: 1000},
		Shape:       &droverv1.Shape{Width: 2, Walltime: durationpb.New(time.Minute)},
		SubmittedAt: &timestamppb.Timestamp{Seconds: 1e9},
	}
}

// connected lets jobs go between servers.
func connected(servers ...*fakeServer) []*fakeServer {
	others := make(map[string]*fakeServer)
	for _, s := range servers {
		others[s.name] = s
		s.life.others = others
	}
	return servers
}

func lists(names ...string) []string { return names }

func TestMoveJobMovesToTheNamedOrTheBestOtherSite(t *testing.T) {
	home := &fakeServer{
		name: "home", services: lists("lu"), estimate: answers(quote(0, 1, 1)),
		jobs: []*droverv1.Job{waiting("home", "a"), waiting("home", "b")},
	}
	home.jobs[0].Epoch = 4
	slow := &fakeServer{name: "slow", services: lists("lu"), estimate: answers(quote(900, 1, 1))}
	fast := &fakeServer{name: "fast", services: lists("lu"), estimate: answers(quote(100, 1, 1))}
	full := &fakeServer{
		name: "full", services: lists("lu"), estimate: answers(quote(0, 1, 1)), life: fakeLife{draining: true},
	}
	other := &fakeServer{name: "other", services: lists("sleep"), estimate: answers(quote(0, 1, 1))}
	gone := &fakeServer{name: "gone", services: lists("lu")}
	all := connected(home, slow, fast, full, other, gone)
	for _, s := range all {
		s.start(t)
	}
	g := newGrid(t, func(c *Config) { c.Network = Network{Bandwidth: 100} }, all...)
	g.lose(t, all, "gone")

	for _, c := range []struct {
		name   string
		req    *droverv1.AgentServiceMoveJobRequest
		reason string
		field  string
		accept string
	}{
		{"no job", &droverv1.AgentServiceMoveJobRequest{}, "bad-value", "job_id", "the ID of a job"},
		{"unknown job", &droverv1.AgentServiceMoveJobRequest{JobId: "x"}, "unreachable", "", ""},
		{
			"unknown site", &droverv1.AgentServiceMoveJobRequest{JobId: "a", To: "x"}, "unknown-site", "to",
			"one of fast, slow",
		},
		{
			"its own site", &droverv1.AgentServiceMoveJobRequest{JobId: "a", To: "home"}, "bad-value", "to",
			"one of fast, slow",
		},
		{"a draining site", &droverv1.AgentServiceMoveJobRequest{JobId: "a", To: "full"}, "draining", "", ""},
		{"a lost site", &droverv1.AgentServiceMoveJobRequest{JobId: "a", To: "gone"}, "unreachable", "", ""},
		{
			"a site without the service", &droverv1.AgentServiceMoveJobRequest{JobId: "a", To: "other"},
			"unknown-service", "to", "one of fast, slow",
		},
		{"a gain that is none", &droverv1.AgentServiceMoveJobRequest{
			JobId: "a", MinGain: &durationpb.Duration{Nanos: -1, Seconds: 1},
		}, "out-of-range", "min_gain", "a duration, or none for a move at any price"},
	} {
		_, err := g.client.MoveJob(context.Background(), c.req)
		_, d := detail(t, err)
		if d.GetReason() != c.reason || d.GetField() != c.field || d.GetAccepted() != c.accept {
			t.Errorf("%s: %v", c.name, d)
		}
	}
	if n := len(home.life.orders); n != 0 {
		t.Fatalf("%d orders were given", n)
	}

	res, err := g.client.MoveJob(context.Background(), &droverv1.AgentServiceMoveJobRequest{JobId: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if res.GetTo().GetSite() != "fast" || res.GetTo().GetAddress() != fast.url ||
		res.GetJob().GetState() != droverv1.JobState_JOB_STATE_MOVING {
		t.Errorf("%v", res)
	}
	if d := fast.asked[0].GetNotBefore().AsDuration(); d != 10*time.Second {
		t.Errorf("the input of 1000 bytes is counted as %v, want 10s", d)
	}
	res, err = g.client.MoveJob(context.Background(), &droverv1.AgentServiceMoveJobRequest{
		JobId: "b", To: "slow", MinGain: durationpb.New(-time.Second), Reason: "to see",
	})
	if err != nil || res.GetTo().GetSite() != "slow" {
		t.Fatalf("%v, %v", res, err)
	}
	home.mu.Lock()
	defer home.mu.Unlock()
	first, second := home.life.orders[0], home.life.orders[1]
	if first.GetSeenEpoch() != 4 || first.GetReason() != "by hand" || first.GetAgent() != "agent" ||
		first.GetMinGain().AsDuration() > -50*365*24*time.Hour {
		t.Errorf("%v", first)
	}
	if second.GetReason() != "to see" || second.GetMinGain().AsDuration() != -time.Second || second.GetTo() != "slow" {
		t.Errorf("%v", second)
	}
	if len(full.asked) != 0 || len(home.asked) != 0 {
		t.Error("a site that cannot take the job was asked for an estimate")
	}
}

func TestMoveJobReturnsTheServersRefusal(t *testing.T) {
	home := &fakeServer{name: "home", services: lists("lu"), jobs: []*droverv1.Job{waiting("home", "a")}}
	home.jobs[0].State = droverv1.JobState_JOB_STATE_RUNNING
	there := &fakeServer{name: "there", services: lists("lu")}
	g := newGrid(t, nil, home.start(t), there.start(t))
	_, err := g.client.MoveJob(context.Background(), &droverv1.AgentServiceMoveJobRequest{JobId: "a", To: "there"})
	if code, d := detail(t, err); code != connect.CodeFailedPrecondition || d.GetReason() != "not-waiting" {
		t.Errorf("%v %v", code, d)
	}
	alone := &fakeServer{name: "alone", services: lists("lu"), jobs: []*droverv1.Job{waiting("alone", "b")}}
	g = newGrid(t, nil, alone.start(t))
	_, err = g.client.MoveJob(context.Background(), &droverv1.AgentServiceMoveJobRequest{JobId: "b"})
	if _, d := detail(t, err); d.GetReason() != "no-candidate" ||
		!strings.Contains(d.GetMessage(), "no site but alone offers lu") {
		t.Errorf("%v", d)
	}
}

// lose has the group lose one of the servers.
func (g *grid) lose(t *testing.T, servers []*fakeServer, name string) {
	t.Helper()
	members := g.group.Members()
	i := slices.IndexFunc(servers, func(s *fakeServer) bool { return s.name == name })
	members[i].Lost = true
	g.group.set(members...)
	g.log.await(t, "site stopped answering: site="+name, 1)
	g.group.set(members...) // received when the first one has been taken in
}

func TestSettleJobReachesTheSite(t *testing.T) {
	a := (&fakeServer{name: "a", services: lists("lu"), estimate: answers(quote(0, 1, 1))}).start(t)
	b := (&fakeServer{name: "b", services: lists("lu"), estimate: answers(quote(50, 1, 1))}).start(t)
	g := newGrid(t, nil, a, b)
	ctx := context.Background()
	_, err := g.client.SetDraining(ctx, &droverv1.AgentServiceSetDrainingRequest{Site: "x"})
	if code, d := detail(t, err); code != connect.CodeNotFound || d.GetReason() != "unknown-site" ||
		d.GetAccepted() != "one of a, b" {
		t.Errorf("%v %v", code, d)
	}
	for _, c := range []struct {
		draining bool
		first    string
		summary  []string
	}{
		{true, "b", []string{"b wait 50s transfer 0s done 51s margin 0s", "a refused draining"}},
		{false, "a", []string{"a wait 0s transfer 0s done 1s margin 0s", "b wait 50s transfer 0s done 51s margin 50s"}},
	} {
		res, err := g.client.SetDraining(ctx, &droverv1.AgentServiceSetDrainingRequest{Site: "a", Draining: c.draining})
		if err != nil || res.GetStatus().GetDraining() != c.draining {
			t.Fatalf("%v, %v", res, err)
		}
		m, err := g.client.Map(ctx, lu())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.summary, summary(m.GetDecision())); d != "" || m.GetTargets()[0].GetSite() != c.first {
			t.Errorf("draining %v: %s", c.draining, d)
		}
	}
	settle := &droverv1.SettleJobRequest{
		JobId: "j", Epoch: 3, Settlement: droverv1.Settlement_SETTLEMENT_ABORTED, Reason: "b burnt down",
	}
	res, err := g.client.SettleJob(ctx, &droverv1.AgentServiceSettleJobRequest{Site: "a", Settle: settle})
	if err != nil || res.GetJob().GetSite() != "a" || a.life.settled[0].String() != settle.String() {
		t.Errorf("%v, %v; a got %v", res, err, a.life.settled)
	}
	_, err = g.client.SettleJob(ctx, &droverv1.AgentServiceSettleJobRequest{Site: "a"})
	if _, d := detail(t, err); d.GetField() != "settle.job_id" {
		t.Errorf("%v", d)
	}
}
