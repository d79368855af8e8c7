package agent

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func moveName(m *droverv1.Move) string { return fmt.Sprintf("%s/%d", m.GetJobId(), m.GetEpoch()) }

// aMove returns a move that was ordered at a second.
func aMove(job string, epoch uint32, from, to string, ordered int64, state droverv1.MoveState) *droverv1.Move {
	return &droverv1.Move{
		JobId: job, Epoch: epoch, From: from, To: to, State: state,
		OrderedAt: &timestamppb.Timestamp{Seconds: ordered},
	}
}

// allMoves reads all pages.
func allMoves(
	t *testing.T, g *grid, req *droverv1.AgentServiceListMovesRequest, between func(),
) (got []string, missing int) {
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

func TestListMovesListsEachMoveOncePageByPage(t *testing.T) {
	pending, moved, aborted := droverv1.MoveState_MOVE_STATE_PENDING, droverv1.MoveState_MOVE_STATE_MOVED,
		droverv1.MoveState_MOVE_STATE_ABORTED
	a, b := &fakeServer{name: "a"}, &fakeServer{name: "b"}
	var want []string
	for i := range 700 { // both sites report every third one; the target's clock is two seconds ahead
		from, to := a, b
		if i%2 == 1 {
			from, to = b, a
		}
		m := aMove(fmt.Sprintf("j%03d", i), 1, from.name, to.name, int64(100*i), moved)
		from.life.moves = slices.Insert(from.life.moves, 0, m)
		if i%3 == 0 {
			m = aMove(m.GetJobId(), 1, m.GetFrom(), m.GetTo(), int64(100*i+2), pending)
			to.life.moves = slices.Insert(to.life.moves, 0, m)
		}
		want = slices.Insert(want, 0, moveName(m))
	}
	a.life.moves = slices.Insert(a.life.moves, 0, aMove("last", 1, "a", "b", 1e6, aborted))
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
		"job=j004": 1, "site=a": len(want), "site=dead": 0, "state=aborted": 1, "state=pending": 0,
		"state=moved job=last": 0,
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
		b.life.moves = slices.Insert(b.life.moves, 0, aMove(fmt.Sprint("new", later), 1, "b", "a", later, pending))
	})
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("while moves are added: %s", d)
	}
}

func TestListMovesRefusesUnknownNames(t *testing.T) {
	a := &fakeServer{name: "a"}
	a.life.moves = []*droverv1.Move{aMove("gone", 1, "a", "left", 1e6, droverv1.MoveState_MOVE_STATE_MOVED)}
	dead := (&fakeServer{name: "dead"}).start(t)
	g := newGrid(t, nil, a.start(t), dead)
	for filter, reason := range map[string]string{
		"site=nowhere": "unknown-site", "job=none": "unknown-job", "site=a job=none": "unknown-job",
		"site=nowhere job=none": "unknown-site",
		"site=left":             "", "job=gone": "",
	} {
		res, err := g.client.ListMoves(context.Background(), &droverv1.AgentServiceListMovesRequest{Filter: filter})
		if reason == "" {
			if err != nil || len(res.GetMoves()) != 1 {
				t.Errorf("%s: %v, %v", filter, res, err)
			}
			continue
		}
		if code, d := detail(t, err); code != connect.CodeNotFound || d.GetReason() != reason {
			t.Errorf("%s: %v", filter, err)
		}
	}
	dead.stop()
	res, err := g.client.ListMoves(context.Background(), &droverv1.AgentServiceListMovesRequest{Filter: "site=nowhere"})
	if err != nil || len(res.GetMissing()) != 1 {
		t.Errorf("while a silent site may know: %v, %v", res, err)
	}
}

func TestAPageOfMovesReadsEachSiteFarEnough(t *testing.T) {
	pending, moved := droverv1.MoveState_MOVE_STATE_PENDING, droverv1.MoveState_MOVE_STATE_MOVED
	a, b := &fakeServer{name: "a"}, &fakeServer{name: "b"}
	for i := range 40 { // a's list covers less time than b's; b's clock is half a minute behind
		at := int64(1e6 - 100*i)
		a.life.moves = append(a.life.moves, aMove(fmt.Sprint("x", i), 1, "a", "b", at, pending))
		if i%2 == 0 {
			b.life.moves = append(b.life.moves, aMove(fmt.Sprint("y", i), 1, "b", "c", at-5, moved),
				aMove(fmt.Sprint("z", i), 1, "b", "c", at-6, moved))
		}
		if i%4 != 3 {
			b.life.moves = append(b.life.moves, aMove(fmt.Sprint("x", i), 1, "a", "b", at-30, moved))
		}
	}
	b.life.moves = slices.DeleteFunc(b.life.moves, func(m *droverv1.Move) bool {
		return m.GetOrderedAt().GetSeconds() < 1e6-1000 && m.GetFrom() == "b"
	})
	g := newGrid(t, nil, a.start(t), b.start(t))
	search := func(n int, ask int) (out []string) {
		s := newMoveSearch(g.agent, n, nil, filter{})
		s.ask = ask
		for s.more() {
			if err := s.turn(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		for _, m := range s.found[:n] {
			out = append(out, fmt.Sprint(m.Job, " ", m.Epoch, " ", m.From, " ", m.Place.Ordered, " ",
				s.moves[m.Index].State()))
		}
		return out
	}
	all := search(40, 1000)
	for n := 1; n <= 40; n += 3 {
		for _, ask := range []int{1, 2, 5} {
			if d := cmp.Diff(all[:n], search(n, ask)); d != "" {
				t.Errorf("%d moves, %d at once: %s", n, ask, d)
			}
		}
	}
}

func TestListMovesShowsTheBestReportOfAMove(t *testing.T) {
	pending, moved := droverv1.MoveState_MOVE_STATE_PENDING, droverv1.MoveState_MOVE_STATE_MOVED
	a, b := &fakeServer{name: "a"}, &fakeServer{name: "b"}
	a.life.moves = []*droverv1.Move{aMove("x", 1, "a", "b", 10, moved)}
	b.life.moves = []*droverv1.Move{aMove("x", 1, "a", "b", 13, pending)}
	b.life.moves[0].RealizedGain = durationpb.New(time.Minute)
	g := newGrid(t, nil, a.start(t), b.start(t))
	res, err := g.client.ListMoves(context.Background(), &droverv1.AgentServiceListMovesRequest{})
	if err != nil || len(res.GetMoves()) != 1 {
		t.Fatalf("%v, %v", res, err)
	}
	if m := res.GetMoves()[0]; m.GetRealizedGain() == nil || m.GetOrderedAt().GetSeconds() != 10 {
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
