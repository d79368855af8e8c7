package agent

import (
	"context"
	"errors"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/durationpb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/rpcface"
)

// reallocate has the agent make a round.
func (g *grid) reallocate(t *testing.T, req *droverv1.ReallocateRequest) *droverv1.ReallocateResponse {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	res, err := g.client.Reallocate(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// chosen tells what a round does.
func chosen(res *droverv1.ReallocateResponse) []string {
	var list []string
	for _, j := range res.GetJobs() {
		list = append(list, reallocatedOf(j))
	}
	return list
}

func TestARegularRoundOrdersTheMovesThatADryRunShows(t *testing.T) {
	full, idle, other := queueOf("full", 5, 0), queueOf("idle", 0, 0), queueOf("other", 0, 0)
	full.jobs[1].Epoch = 3
	running := waiting("full", "running")
	running.State = droverv1.JobState_JOB_STATE_RUNNING
	full.jobs = append(full.jobs, running)
	other.services = lists("sleep")
	connected(full, idle, other)
	g := newGrid(t, nil, full.start(t), idle.start(t), other.start(t))

	// At full the jobs are completed after 1 to 5 minutes. The second would gain a
	// minute at idle. Then the third is the second, and idle is no better for it.
	want := []string{"full1 full>idle 2m0s>1m0s gain 1m0s", "full3 full>idle 3m0s>2m0s gain 1m0s"}
	dry := g.reallocate(t, &droverv1.ReallocateRequest{DryRun: true})
	if d := cmp.Diff(want, chosen(dry)); d != "" {
		t.Error(d)
	}
	if dry.GetJobs()[0].GetOrdered() || len(full.life.orders) > 0 || !dry.GetRecord().GetDryRun() {
		t.Errorf("a dry run has ordered something: %v", full.life.orders)
	}
	real := g.reallocate(t, &droverv1.ReallocateRequest{MostMovesRound: new(int32)})
	if d := cmp.Diff(want, chosen(real)); d != "" {
		t.Error(d)
	}
	r := real.GetRecord()
	if r.GetSites() != 3 || r.GetJobs() != 5 || r.GetMoves() != 2 || r.GetFailed() != 0 || r.GetGain().GetSeconds() != 120 ||
		r.GetAlgorithm() != "regular" || r.GetHeuristic() != "mct" || r.GetWindow() != "20" || r.GetAgent() != "agent" || r.GetRound() == dry.GetRecord().GetRound() {
		t.Errorf("%v", r)
	}
	j := real.GetJobs()[0]
	if !j.GetOrdered() || j.GetProblem() != nil || j.GetBefore().GetWidth() != 2 || j.GetAfter().GetWidth() != 3 || j.GetService() != "lu" {
		t.Errorf("%v", j)
	}
	full.mu.Lock()
	defer full.mu.Unlock()
	orders := make(map[string]bool)
	for _, o := range full.life.orders {
		orders[orderOf(o)] = o.GetAgent() == "agent"
	}
	if d := cmp.Diff(map[string]bool{
		"full1 to idle at 3 for 1m0s: reallocation (regular, mct): 2m0s at full, 1m0s at idle": true,
		"full3 to idle at 0 for 1m0s: reallocation (regular, mct): 3m0s at full, 2m0s at idle": true,
	}, orders); d != "" {
		t.Error(d)
	}
	other.mu.Lock()
	defer other.mu.Unlock()
	for _, s := range []*fakeServer{full, other} {
		if len(s.rounds.drafts) > 0 {
			t.Errorf("%s has drafts left: %v", s.name, s.rounds.drafts)
		}
		for _, c := range s.rounds.calls {
			if c.GetLease().AsDuration() != draftLease || s == other && len(c.GetQuestions()) > 0 {
				t.Errorf("%s was asked %v", s.name, c)
			}
		}
	}
}

func TestInputThatTravelsIsCountedAndTakesThePlaceOfTheThreshold(t *testing.T) {
	full, idle := queueOf("full", 2, 0), queueOf("idle", 0, 0)
	connected(full, idle)
	g := newGrid(t, func(c *Config) { c.Network = Network{Bandwidth: 20} }, full.start(t), idle.start(t)) // 1000 bytes: 50s
	res := g.reallocate(t, &droverv1.ReallocateRequest{Threshold: durationpb.New(time.Hour), LeastGain: durationpb.New(10 * time.Second)})
	if d := cmp.Diff([]string{"full1 full>idle 2m0s>1m0s gain 1m0s"}, chosen(res)); d != "" {
		t.Error(d) // the fake does not wait for input
	}
	full.mu.Lock()
	defer full.mu.Unlock()
	if o := full.life.orders; len(o) != 1 || o[0].GetMinGain().AsDuration() != 10*time.Second {
		t.Errorf("%v", o)
	}
	idle.mu.Lock()
	defer idle.mu.Unlock()
	told := 0
	for _, c := range idle.rounds.calls {
		for _, q := range c.GetQuestions() {
			if q.GetRequest().GetService() != "lu" || q.GetNotBefore().AsDuration() != 50*time.Second {
				t.Errorf("asked %v", q)
			}
		}
		for _, e := range c.GetEdits() {
			if told++; e.GetNotBefore().AsDuration() != 50*time.Second || e.GetRequest().GetInputBytes() != 1000 {
				t.Errorf("put %v", e)
			}
		}
	}
	if told != 1 {
		t.Errorf("%d edits", told)
	}
}

func TestAllCancellationHoldsEverywhereThenPlacesInItsOrder(t *testing.T) {
	full, idle := queueOf("full", 3, 0), queueOf("idle", 1, 1)
	idle.rounds.onHold = func(context.Context) error {
		full.mu.Lock()
		defer full.mu.Unlock()
		if len(full.rounds.places) > 0 {
			t.Error("jobs are placed before all are held")
		}
		return nil
	}
	g := newGrid(t, nil, full.start(t), idle.start(t))
	res := g.reallocate(t, &droverv1.ReallocateRequest{Algorithm: "all-cancellation", LeastGain: durationpb.New(time.Second)})
	want := []string{
		"full0 full>full 1m0s>1m0s gain 0s", // tuned anew, it is wider
		"full1 full>idle 2m0s>1m0s gain 1m0s",
		"idle0 idle>idle 1m0s>2m0s gain -1m0s",
		"full2 full>full 3m0s>2m0s gain 1m0s",
	}
	if d := cmp.Diff(want, chosen(res)); d != "" {
		t.Error(d)
	}
	if r := res.GetRecord(); r.GetHeld() != 4 || r.GetMoves() != 1 || r.GetLater() != 1 || r.GetFailed() != 0 {
		t.Errorf("%v", r)
	}
	for _, j := range res.GetJobs() {
		if !j.GetOrdered() || j.GetProblem() != nil {
			t.Errorf("%v", j)
		}
	}
	full.mu.Lock()
	defer full.mu.Unlock()
	if len(full.rounds.holds) != 1 || len(full.rounds.places) != 1 || len(idle.rounds.places) != 1 {
		t.Fatalf("holds %v, places %v and %v", full.rounds.holds, full.rounds.places, idle.rounds.places)
	}
	h, p := full.rounds.holds[0], full.rounds.places[0]
	if h.GetLease().AsDuration() != holdLease || h.GetRound() != p.GetRound() || p.GetAgent() != "agent" {
		t.Errorf("hold %v, place %v", h, p)
	}
	if d := cmp.Diff([]string{"full0", "full1", "full2"}, h.GetJobIds()); d != "" {
		t.Error(d)
	}
	var placed []string
	for _, m := range p.GetPlacements() {
		placed = append(placed, m.GetJobId()+" "+m.GetTo()+" "+m.GetReason())
		if stays := m.GetTo() == ""; stays != (m.GetShape().GetWidth() == 3) || !stays && m.GetMinGain().AsDuration() != time.Second {
			t.Errorf("%v", m)
		}
	}
	if d := cmp.Diff([]string{"full0  ", "full1 idle reallocation (all-cancellation, mct): 2m0s at full, 1m0s at idle", "full2  "}, placed); d != "" {
		t.Error(d)
	}
}

func TestAJobThatStartsMeanwhileIsLeftAloneAndNamed(t *testing.T) {
	full, idle := queueOf("full", 3, 0), queueOf("idle", 0, 0)
	connected(full, idle)
	g := newGrid(t, nil, full.start(t), idle.start(t))
	start := func(id string) {
		j := waiting("full", id)
		j.State = droverv1.JobState_JOB_STATE_RUNNING
		full.change(j)
	}
	full.rounds.before = func(_ context.Context, req *droverv1.DraftRequest) error {
		if req.GetEnd() {
			start("full1")
		}
		return nil
	}
	res := g.reallocate(t, &droverv1.ReallocateRequest{})
	if d := cmp.Diff([]string{"full1 full>idle 2m0s>1m0s gain 1m0s"}, chosen(res)); d != "" {
		t.Error(d)
	}
	if j := res.GetJobs()[0]; j.GetOrdered() || j.GetProblem().GetReason() != "not-waiting" || res.GetRecord().GetFailed() != 1 {
		t.Errorf("%v of %v", j, res.GetRecord())
	}
	full.rounds.before = func(_ context.Context, req *droverv1.DraftRequest) error {
		if req.GetEnd() {
			start("full0")
		}
		return nil
	}
	res = g.reallocate(t, &droverv1.ReallocateRequest{Algorithm: "all-cancellation"})
	if j := res.GetJobs()[0]; j.GetJobId() != "full0" || j.GetOrdered() || j.GetProblem().GetReason() != "not-waiting" || !res.GetJobs()[1].GetOrdered() {
		t.Errorf("%v", res)
	}
}

func TestSitesThatCannotTakePartAreNamed(t *testing.T) {
	full, idle := queueOf("full", 3, 0), queueOf("idle", 0, 0)
	silent, lost, old, forgetful := queueOf("silent", 1, 0), queueOf("lost", 1, 0), queueOf("old", 1, 0), queueOf("forgetful", 1, 5)
	hung := make(chan struct{})
	t.Cleanup(func() { close(hung) })
	silent.hung = hung
	old.rounds.before = func(context.Context, *droverv1.DraftRequest) error {
		return connectError(&problem{Reason: rpcface.NoDrafts, Message: "its plan cannot be copied"})
	}
	forgetful.rounds.before = func(_ context.Context, req *droverv1.DraftRequest) error {
		if !req.GetBegin() {
			return connectError(&problem{Reason: rpcface.UnknownRound, Message: "no such round"})
		}
		return nil
	}
	servers := connected(full, idle, silent, lost, old, forgetful)
	for _, s := range servers {
		s.start(t)
	}
	g := newGrid(t, func(c *Config) { c.Patience = 100 * time.Millisecond }, servers...)
	g.lose(t, servers, "lost")
	res := g.reallocate(t, &droverv1.ReallocateRequest{})
	var missing []string
	for _, m := range res.GetMissing() {
		missing = append(missing, m.GetSite()+" "+m.GetMissing().GetReason().String()+" "+m.GetMissing().GetDetail().GetReason())
	}
	want := []string{
		"forgetful MISSING_REASON_REFUSED unknown-round", "lost MISSING_REASON_UNREACHABLE unreachable",
		"old MISSING_REASON_REFUSED no-drafts", "silent MISSING_REASON_TIMEOUT timeout",
	}
	if d := cmp.Diff(want, missing); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"full1 full>idle 2m0s>1m0s gain 1m0s"}, chosen(res)); d != "" || res.GetRecord().GetSites() != 2 {
		t.Errorf("%s%v", d, res.GetRecord())
	}
}

func TestARoundThatNobodyTakesPartInIsAnError(t *testing.T) {
	g := newGrid(t, nil)
	_, err := g.client.Reallocate(context.Background(), &droverv1.ReallocateRequest{})
	if code, d := detail(t, err); code != connect.CodeUnavailable || d.GetReason() != "no-site" {
		t.Errorf("%v %v", code, d)
	}
	old := queueOf("old", 1, 0)
	old.rounds.before = func(context.Context, *droverv1.DraftRequest) error {
		return connectError(&problem{Reason: rpcface.NoDrafts, Message: "its plan cannot be copied"})
	}
	g = newGrid(t, nil, old.start(t))
	_, err = g.client.Reallocate(context.Background(), &droverv1.ReallocateRequest{})
	if code, d := detail(t, err); code != connect.CodeUnavailable || d.GetMessage() != "no site takes part in a round: old: its plan cannot be copied" {
		t.Errorf("%v %v", code, d)
	}
}

func TestOrdersForARoundAreCheckedBeforeItBegins(t *testing.T) {
	full := queueOf("full", 1, 0)
	g := newGrid(t, nil, full.start(t))
	minus, odd := int32(-1), &durationpb.Duration{Seconds: 1, Nanos: -1}
	for field, c := range map[string]struct {
		req      *droverv1.ReallocateRequest
		accepted string
	}{
		"algorithm":        {&droverv1.ReallocateRequest{Algorithm: "best"}, "regular, all-cancellation"},
		"heuristic":        {&droverv1.ReallocateRequest{Heuristic: "best"}, "mct, minmin, maxmin, sufferage, maxgain, maxrelgain"},
		"window":           {&droverv1.ReallocateRequest{Window: "0"}, "at least 1, or all"},
		"threshold":        {&droverv1.ReallocateRequest{Threshold: durationpb.New(-1)}, "0s or more"},
		"least_gain":       {&droverv1.ReallocateRequest{LeastGain: odd}, "a duration"},
		"most_moves":       {&droverv1.ReallocateRequest{MostMoves: &minus}, "0 (no bound) or more"},
		"most_moves_round": {&droverv1.ReallocateRequest{MostMovesRound: &minus}, "0 (no bound) or more"},
	} {
		_, err := g.client.Reallocate(context.Background(), c.req)
		if code, d := detail(t, err); code != connect.CodeInvalidArgument || d.GetField() != field || d.GetAccepted() != c.accepted {
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

func TestARoundWhoseCallerGoesOrdersNothing(t *testing.T) {
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
	full.mu.Lock()
	defer full.mu.Unlock()
	if len(full.life.orders) > 0 {
		t.Errorf("%v", full.life.orders)
	}
}

func TestJobsThatAreHeldArePlacedThoughTheCallerHasGone(t *testing.T) {
	full, idle := queueOf("full", 3, 0), queueOf("idle", 0, 0)
	g := newGrid(t, nil, full.start(t), idle.start(t))
	ctx, cancel := context.WithCancelCause(context.Background())
	full.rounds.onHold = func(inside context.Context) error {
		cancel(errGone) // the answer is lost with it
		<-inside.Done()
		return inside.Err()
	}
	config, _, _ := (&Reallocation{Algorithm: "all-cancellation", Window: "all", Patience: "0"}).rounds()
	if r, err := g.agent.round(ctx, config, false); err != nil || r.jobs[0].ordered || r.jobs[0].problem == nil {
		t.Errorf("%+v, %v", r, err)
	}
	full.mu.Lock()
	defer full.mu.Unlock()
	if len(full.rounds.places) != 1 || full.rounds.places[0].GetRound() != full.rounds.holds[0].GetRound() || len(full.rounds.places[0].GetPlacements()) != 0 {
		t.Errorf("%v", full.rounds.places)
	}
}

func TestAJobThatHasMovedOftenEnoughStays(t *testing.T) {
	full, idle := queueOf("full", 3, 0), queueOf("idle", 0, 0)
	moved := droverv1.MoveState_MOVE_STATE_MOVED
	full.jobs[1].Moves = []*droverv1.Move{{State: moved}, {State: droverv1.MoveState_MOVE_STATE_ABORTED}, {State: moved}}
	g := newGrid(t, nil, full.start(t), idle.start(t))
	for most, want := range map[int32]string{
		0: "full1 full>idle 2m0s>1m0s gain 1m0s", 2: "full2 full>idle 3m0s>1m0s gain 2m0s", 3: "full1 full>idle 2m0s>1m0s gain 1m0s",
	} {
		res := g.reallocate(t, &droverv1.ReallocateRequest{DryRun: true, MostMoves: &most})
		if d := cmp.Diff([]string{want}, chosen(res)); d != "" {
			t.Errorf("at most %d moves: %s", most, d)
		}
	}
}
