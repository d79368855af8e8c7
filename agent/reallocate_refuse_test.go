package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/durationpb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestARoundNamesSitesThatCannotTakePart(t *testing.T) {
	full, idle := queueOf("full", 3, 0), queueOf("idle", 0, 0)
	silent, lost, old, forgetful := queueOf("silent", 1, 0), queueOf("lost", 1, 0), queueOf("old", 1, 0),
		queueOf("forgetful", 1, 5)
	hung := make(chan struct{})
	t.Cleanup(func() { close(hung) })
	silent.hung = hung
	old.rounds.before = func(context.Context, *droverv1.DraftRequest) error {
		return wireError(&problem.Problem{Reason: problem.NoDrafts, Message: "its plan cannot be copied"})
	}
	forgetful.rounds.before = func(_ context.Context, req *droverv1.DraftRequest) error {
		if !req.GetBegin() {
			return wireError(&problem.Problem{Reason: problem.UnknownRound, Message: "no such round"})
		}
		return nil
	}
	servers := connected(full, idle, silent, lost, old, forgetful)
	for _, s := range servers {
		s.start(t)
	}
	g := newGrid(t, func(c *Config) { c.Patience = 300 * time.Millisecond }, servers...)
	g.lose(t, servers, "lost")
	res := g.reallocate(t, &droverv1.ReallocateRequest{})
	var missing []string
	for _, m := range res.GetMissing() {
		missing = append(missing,
			m.GetSite()+" "+m.GetMissing().GetReason().String()+" "+m.GetMissing().GetDetail().GetReason())
	}
	want := []string{
		"forgetful MISSING_REASON_REFUSED unknown-round", "lost MISSING_REASON_UNREACHABLE unreachable",
		"old MISSING_REASON_REFUSED no-drafts", "silent MISSING_REASON_TIMEOUT timeout",
	}
	if d := cmp.Diff(want, missing); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"full1 full>idle 2m0s>1m0s gain 1m0s"}, chosen(res)); d != "" ||
		res.GetRecord().GetSites() != 2 {
		t.Errorf("%s%v", d, res.GetRecord())
	}
}

func TestASiteThatEachRoundLeavesOutIsLoggedOnce(t *testing.T) {
	full, old := queueOf("full", 1, 0), queueOf("old", 1, 0)
	reason := problem.NoDrafts
	old.rounds.before = func(context.Context, *droverv1.DraftRequest) error {
		if reason == "" {
			return nil
		}
		return wireError(&problem.Problem{Reason: reason, Message: "no copy"})
	}
	g := newGrid(t, nil, full.start(t), old.start(t))
	for i, c := range []struct {
		reason problem.Reason
		want   int
	}{
		{problem.NoDrafts, 1},
		{problem.NoDrafts, 1},
		{problem.TooManyDrafts, 2},
		{problem.TooManyDrafts, 2},
		{"", 2},
		{problem.TooManyDrafts, 3},
	} {
		reason = c.reason
		if res := g.reallocate(t, &droverv1.ReallocateRequest{}); len(res.GetMissing()) == 0 != (reason == "") {
			t.Errorf("round %d: %v", i, res)
		}
		g.log.mu.Lock()
		if n := strings.Count(g.log.text.String(), "site left out of the round"); n != c.want {
			t.Errorf("round %d: %d warnings, want %d", i, n, c.want)
		}
		g.log.mu.Unlock()
	}
}

func TestARoundWithoutSitesIsAnError(t *testing.T) {
	g := newGrid(t, nil)
	_, err := g.client.Reallocate(context.Background(), &droverv1.ReallocateRequest{})
	if code, d := detail(t, err); code != connect.CodeUnavailable || d.GetReason() != "no-site" {
		t.Errorf("%v %v", code, d)
	}
	old := queueOf("old", 1, 0)
	old.rounds.before = func(context.Context, *droverv1.DraftRequest) error {
		return wireError(&problem.Problem{Reason: problem.NoDrafts, Message: "its plan cannot be copied"})
	}
	g = newGrid(t, nil, old.start(t))
	_, err = g.client.Reallocate(context.Background(), &droverv1.ReallocateRequest{})
	if code, d := detail(t, err); code != connect.CodeUnavailable ||
		d.GetMessage() != "no site takes part in the round: old: its plan cannot be copied" {
		t.Errorf("%v %v", code, d)
	}
}

func TestReallocateRefusesBadOptions(t *testing.T) {
	full := queueOf("full", 1, 0)
	g := newGrid(t, nil, full.start(t))
	minus, odd := int32(-1), &durationpb.Duration{Seconds: 1, Nanos: -1}
	for field, c := range map[string]struct {
		req      *droverv1.ReallocateRequest
		accepted string
	}{
		"algorithm": {&droverv1.ReallocateRequest{Algorithm: "best"}, "regular, all-cancellation"},
		"heuristic": {
			&droverv1.ReallocateRequest{Heuristic: "best"}, "mct, minmin, maxmin, sufferage, maxgain, maxrelgain",
		},
		"window":           {&droverv1.ReallocateRequest{Window: "0"}, "at least 1, or all"},
		"threshold":        {&droverv1.ReallocateRequest{Threshold: durationpb.New(-1)}, "0s or more"},
		"least_gain":       {&droverv1.ReallocateRequest{LeastGain: odd}, "a duration"},
		"most_moves":       {&droverv1.ReallocateRequest{MostMoves: &minus}, "0 (no bound) or more"},
		"most_moves_round": {&droverv1.ReallocateRequest{MostMovesRound: &minus}, "0 (no bound) or more"},
	} {
		_, err := g.client.Reallocate(context.Background(), c.req)
		if code, d := detail(t, err); code != connect.CodeInvalidArgument || d.GetField() != field ||
			d.GetAccepted() != c.accepted {
			t.Errorf("%s: %v %v", field, code, d)
		}
	}
	g.reallocate(t, &droverv1.ReallocateRequest{Patience: &minus}) // off
	least := int32(-2)
	_, err := g.client.Reallocate(context.Background(), &droverv1.ReallocateRequest{Patience: &least})
	if _, d := detail(t, err); d.GetField() != "patience" {
		t.Errorf("%v", d)
	}
	full.mu.Lock()
	defer full.mu.Unlock()
	if full.rounds.listed != 1 {
		t.Errorf("%d rounds have begun", full.rounds.listed)
	}
}

var errGone = errors.New("the caller has gone")

func TestACancelledRoundOrdersNothingAndLeavesNoDraft(t *testing.T) {
	full, idle := queueOf("full", 3, 0), queueOf("idle", 0, 0)
	connected(full, idle)
	g := newGrid(t, nil, full.start(t), idle.start(t))
	ctx, cancel := context.WithCancelCause(context.Background())
	asked := 0
	idle.rounds.before = func(context.Context, *droverv1.DraftRequest) error {
		if asked++; asked == 2 {
			cancel(errGone)
		}
		return nil
	}
	config, _, _ := g.agent.cfg.Reallocation.rounds()
	if _, err := g.agent.round(ctx, config, false); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	for _, s := range []*fakeServer{full, idle} {
		s.mu.Lock()
		if len(s.rounds.drafts) > 0 {
			t.Errorf("%s has drafts left: %v", s.name, s.rounds.drafts)
		}
		s.mu.Unlock()
	}
	full.mu.Lock()
	defer full.mu.Unlock()
	if len(full.life.orders) > 0 {
		t.Errorf("%v", full.life.orders)
	}
}

func TestHeldJobsArePlacedAlthoughTheCallerIsGone(t *testing.T) {
	full, idle := queueOf("full", 3, 0), queueOf("idle", 0, 0)
	g := newGrid(t, nil, full.start(t), idle.start(t))
	ctx, cancel := context.WithCancelCause(context.Background())
	full.rounds.onHold = func(inside context.Context) error {
		cancel(errGone) // the answer is lost with it
		<-inside.Done()
		return inside.Err()
	}
	config, _, _ := (&Reallocation{Algorithm: "all-cancellation", Window: "all", Patience: "0"}).rounds()
	if r, err := g.agent.round(ctx, config, false); err != nil || r.Jobs[0].Ordered || r.Jobs[0].Problem == nil {
		t.Errorf("%+v, %v", r, err)
	}
	full.mu.Lock()
	defer full.mu.Unlock()
	if len(full.rounds.places) != 1 || full.rounds.places[0].GetRound() != full.rounds.holds[0].GetRound() ||
		len(full.rounds.places[0].GetPlacements()) != 0 {
		t.Errorf("%v", full.rounds.places)
	}
}

func TestASilentSiteIsAskedToHoldOnlyOnce(t *testing.T) {
	full := queueOf("full", 2*mostHeld+1, 0)
	g := newGrid(t, func(c *Config) { c.Patience = 500 * time.Millisecond }, full.start(t))
	full.rounds.onHold = func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	config, _, _ := (&Reallocation{Algorithm: "all-cancellation", Window: "all", Patience: "0"}).rounds()
	r, err := g.agent.round(context.Background(), config, false)
	if err != nil || len(r.Jobs) != 2*mostHeld+1 {
		t.Fatalf("%+v, %v", r, err)
	}
	for i := range r.Jobs {
		if r.Jobs[i].Ordered || r.Jobs[i].Problem == nil || r.Jobs[i].Problem.Reason != problem.Timeout {
			t.Fatalf("job %d: %v", i, r.Jobs[i].Problem)
		}
	}
	full.mu.Lock()
	defer full.mu.Unlock()
	if len(full.rounds.holds) != 1 || len(full.rounds.places) != 1 {
		t.Errorf("%d holds, %d places", len(full.rounds.holds), len(full.rounds.places))
	}
}

func TestAJobThatReachedMostMovesStays(t *testing.T) {
	full, idle := queueOf("full", 3, 0), queueOf("idle", 0, 0)
	moved := droverv1.MoveState_MOVE_STATE_MOVED
	full.jobs[1].Moves = []*droverv1.Move{
		{State: moved}, {State: droverv1.MoveState_MOVE_STATE_ABORTED}, {State: moved},
	}
	g := newGrid(t, nil, full.start(t), idle.start(t))
	for most, want := range map[int32]string{
		0: "full1 full>idle 2m0s>1m0s gain 1m0s", 2: "full2 full>idle 3m0s>1m0s gain 2m0s",
		3: "full1 full>idle 2m0s>1m0s gain 1m0s",
	} {
		res := g.reallocate(t, &droverv1.ReallocateRequest{DryRun: true, MostMoves: &most})
		if d := cmp.Diff([]string{want}, chosen(res)); d != "" {
			t.Errorf("at most %d moves: %s", most, d)
		}
	}
}
