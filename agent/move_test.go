package agent

import (
	"context"
	"fmt"
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

func TestAJobIsMovedToTheSiteNamedOrToTheBestOtherOne(t *testing.T) {
	home := &fakeServer{name: "home", services: lists("lu"), estimate: answers(quote(0, 1, 1)), jobs: []*droverv1.Job{waiting("home", "a"), waiting("home", "b")}}
	home.jobs[0].Epoch = 4
	slow := &fakeServer{name: "slow", services: lists("lu"), estimate: answers(quote(900, 1, 1))}
	fast := &fakeServer{name: "fast", services: lists("lu"), estimate: answers(quote(100, 1, 1))}
	full := &fakeServer{name: "full", services: lists("lu"), estimate: answers(quote(0, 1, 1)), life: fakeLife{draining: true}}
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
		{"unknown site", &droverv1.AgentServiceMoveJobRequest{JobId: "a", To: "x"}, "unknown-site", "to", "one of fast, slow"},
		{"its own site", &droverv1.AgentServiceMoveJobRequest{JobId: "a", To: "home"}, "bad-value", "to", "one of fast, slow"},
		{"a draining site", &droverv1.AgentServiceMoveJobRequest{JobId: "a", To: "full"}, "draining", "", ""},
		{"a lost site", &droverv1.AgentServiceMoveJobRequest{JobId: "a", To: "gone"}, "unreachable", "", ""},
		{"a site without the service", &droverv1.AgentServiceMoveJobRequest{JobId: "a", To: "other"}, "unknown-service", "to", "one of fast, slow"},
		{"a gain that is none", &droverv1.AgentServiceMoveJobRequest{JobId: "a", MinGain: &durationpb.Duration{Nanos: -1, Seconds: 1}}, "out-of-range", "min_gain", "a duration, or none for a move at any price"},
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
	if res.GetTo().GetSite() != "fast" || res.GetTo().GetAddress() != fast.url || res.GetJob().GetState() != droverv1.JobState_JOB_STATE_MOVING {
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
	if first.GetSeenEpoch() != 4 || first.GetReason() != "by hand" || first.GetAgent() != "agent" || first.GetMinGain().AsDuration() > -50*365*24*time.Hour {
		t.Errorf("%v", first)
	}
	if second.GetReason() != "to see" || second.GetMinGain().AsDuration() != -time.Second || second.GetTo() != "slow" {
		t.Errorf("%v", second)
	}
	if len(full.asked) != 0 || len(home.asked) != 0 {
		t.Error("a site that cannot take the job was asked for an estimate")
	}
}

func TestWhatTheServerSaysOfAnOrderIsPassedOn(t *testing.T) {
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
	if _, d := detail(t, err); d.GetReason() != "no-candidate" || !strings.Contains(d.GetMessage(), "no site but alone offers lu") {
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
	g.log.await(t, "site has fallen silent: site="+name, 1)
	g.group.set(members...) // received when the first one has been taken in
}

func moveName(m *droverv1.Move) string { return fmt.Sprintf("%s/%d", m.GetJobId(), m.GetEpoch()) }

// told makes a move that was ordered at a second.
func told(job string, epoch uint32, from, to string, ordered int64, state droverv1.MoveState) *droverv1.Move {
	return &droverv1.Move{
		JobId: job, Epoch: epoch, From: from, To: to, State: state,
		OrderedAt: &timestamppb.Timestamp{Seconds: ordered},
	}
}

// allMoves reads all pages.
func allMoves(t *testing.T, g *grid, req *droverv1.AgentServiceListMovesRequest, between func()) (got []string, missing int) {
	t.Helper()
	for {
		res, err := g.client.ListMoves(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		if req.GetPageSize() > 0 && len(res.GetMoves()) > int(req.GetPageSize()) {
			t.Fatalf("%d moves on a page of %d", len(res.GetMoves()), req.GetPageSize())
		}
		for _, m := range res.GetMoves() {
			got = append(got, moveName(m))
		}
		missing = len(res.GetMissing())
		if between != nil {
			between()
		}
		if req.PageToken = res.GetNextPageToken(); req.PageToken == "" {
			return got, missing
		}
	}
}

func TestMovesOfAllSitesAreListedOncePageByPage(t *testing.T) {
	pending, moved, aborted := droverv1.MoveState_MOVE_STATE_PENDING, droverv1.MoveState_MOVE_STATE_MOVED, droverv1.MoveState_MOVE_STATE_ABORTED
	a, b := &fakeServer{name: "a"}, &fakeServer{name: "b"}
	var want []string
	for i := range 700 { // every third one is told by both, the target's clock being two seconds ahead
		from, to := a, b
		if i%2 == 1 {
			from, to = b, a
		}
		m := told(fmt.Sprintf("j%03d", i), 1, from.name, to.name, int64(100*i), moved)
		from.life.moves = slices.Insert(from.life.moves, 0, m)
		if i%3 == 0 {
			m = told(m.GetJobId(), 1, m.GetFrom(), m.GetTo(), int64(100*i+2), pending)
			to.life.moves = slices.Insert(to.life.moves, 0, m)
		}
		want = slices.Insert(want, 0, moveName(m))
	}
	a.life.moves = slices.Insert(a.life.moves, 0, told("last", 1, "a", "b", 1e6, aborted))
	want = slices.Insert(want, 0, "last/1")
	dead := (&fakeServer{name: "dead"}).start(t)
	g := newGrid(t, nil, a.start(t), b.start(t), dead)
	dead.stop()
	for _, size := range []int32{0, 250, 1000} {
		got, missing := allMoves(t, g, &droverv1.AgentServiceListMovesRequest{PageSize: size}, nil)
		if d := cmp.Diff(want, got); d != "" || missing != 1 {
			t.Errorf("page size %d, %d sites missing: %s", size, missing, d)
		}
	}
	for filter, n := range map[string]int{
		"job=j004": 1, "site=a": len(want), "site=c": 0, "state=aborted": 1, "state=pending": 0, "state=moved job=last": 0,
	} {
		got, _ := allMoves(t, g, &droverv1.AgentServiceListMovesRequest{Filter: filter, PageSize: 200}, nil)
		if len(got) != n {
			t.Errorf("%s: %d moves, want %d", filter, len(got), n)
		}
	}
	later := int64(2e6)
	got, _ := allMoves(t, g, &droverv1.AgentServiceListMovesRequest{PageSize: 200}, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		later++
		b.life.moves = slices.Insert(b.life.moves, 0, told(fmt.Sprint("new", later), 1, "b", "a", later, pending))
	})
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("while moves are added: %s", d)
	}
}

func TestAPageOfMovesReadsOnWhereASiteMayHaveMoreForIt(t *testing.T) {
	pending, moved := droverv1.MoveState_MOVE_STATE_PENDING, droverv1.MoveState_MOVE_STATE_MOVED
	a, b := &fakeServer{name: "a"}, &fakeServer{name: "b"}
	for i := range 40 { // a's list covers less time than b's, whose clock is half a minute behind
		at := int64(1e6 - 100*i)
		a.life.moves = append(a.life.moves, told(fmt.Sprint("x", i), 1, "a", "b", at, pending))
		if i%2 == 0 {
			b.life.moves = append(b.life.moves, told(fmt.Sprint("y", i), 1, "b", "c", at-5, moved),
				told(fmt.Sprint("z", i), 1, "b", "c", at-6, moved))
		}
		if i%4 != 3 {
			b.life.moves = append(b.life.moves, told(fmt.Sprint("x", i), 1, "a", "b", at-30, moved))
		}
	}
	b.life.moves = slices.DeleteFunc(b.life.moves, func(m *droverv1.Move) bool { return m.GetOrderedAt().GetSeconds() < 1e6-1000 && m.GetFrom() == "b" })
	g := newGrid(t, nil, a.start(t), b.start(t))
	search := func(n int, ask int32) (out []string) {
		s := newMoveSearch(g.agent, n, nil, filter{})
		s.ask = ask
		for s.more() {
			if err := s.turn(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		for _, m := range s.found[:n] {
			out = append(out, moveName(s.message(m))+" "+moveStates[s.message(m).GetState()])
		}
		return out
	}
	all := search(40, 1000)
	for n := 1; n <= 40; n += 3 {
		for _, ask := range []int32{1, 2, 5} {
			if d := cmp.Diff(all[:n], search(n, ask)); d != "" {
				t.Errorf("%d moves, %d at once: %s", n, ask, d)
			}
		}
	}
}

func TestTheMostThatIsKnownOfAMoveIsShown(t *testing.T) {
	pending, moved := droverv1.MoveState_MOVE_STATE_PENDING, droverv1.MoveState_MOVE_STATE_MOVED
	a, b := &fakeServer{name: "a"}, &fakeServer{name: "b"}
	a.life.moves = []*droverv1.Move{told("x", 1, "a", "b", 10, moved)}
	b.life.moves = []*droverv1.Move{told("x", 1, "a", "b", 13, pending)}
	b.life.moves[0].RealisedGain = durationpb.New(time.Minute)
	g := newGrid(t, nil, a.start(t), b.start(t))
	res, err := g.client.ListMoves(context.Background(), &droverv1.AgentServiceListMovesRequest{})
	if err != nil || len(res.GetMoves()) != 1 {
		t.Fatalf("%v, %v", res, err)
	}
	if m := res.GetMoves()[0]; m.GetRealisedGain() == nil || m.GetOrderedAt().GetSeconds() != 10 {
		t.Errorf("%v", m)
	}
	for _, req := range []*droverv1.AgentServiceListMovesRequest{
		{PageSize: -1}, {PageToken: "%"}, {Filter: "state=nonsense"}, {Filter: "owner=ann"},
	} {
		_, err := g.client.ListMoves(context.Background(), req)
		if code, d := detail(t, err); code != connect.CodeInvalidArgument || d.GetField() == "" {
			t.Errorf("%v: %v %v", req, code, d)
		}
	}
}

func TestOperatorsWordsArePassedOnToTheSite(t *testing.T) {
	a := (&fakeServer{name: "a", services: lists("lu"), estimate: answers(quote(0, 1, 1))}).start(t)
	b := (&fakeServer{name: "b", services: lists("lu"), estimate: answers(quote(50, 1, 1))}).start(t)
	g := newGrid(t, nil, a, b)
	ctx := context.Background()
	_, err := g.client.SetDraining(ctx, &droverv1.AgentServiceSetDrainingRequest{Site: "x"})
	if code, d := detail(t, err); code != connect.CodeNotFound || d.GetReason() != "unknown-site" || d.GetAccepted() != "one of a, b" {
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
	settle := &droverv1.SettleJobRequest{JobId: "j", Epoch: 3, Settlement: droverv1.Settlement_SETTLEMENT_ABORTED, Reason: "b burnt down"}
	res, err := g.client.SettleJob(ctx, &droverv1.AgentServiceSettleJobRequest{Site: "a", Settle: settle})
	if err != nil || res.GetJob().GetSite() != "a" || a.life.settled[0].String() != settle.String() {
		t.Errorf("%v, %v; a was told %v", res, err, a.life.settled)
	}
	_, err = g.client.SettleJob(ctx, &droverv1.AgentServiceSettleJobRequest{Site: "a"})
	if _, d := detail(t, err); d.GetField() != "settle.job_id" {
		t.Errorf("%v", d)
	}
}
