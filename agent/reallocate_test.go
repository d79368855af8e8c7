package agent

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/durationpb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
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

// chosen describes what a round does.
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
	if r.GetSites() != 3 || r.GetJobs() != 5 || r.GetMoves() != 2 || r.GetFailed() != 0 ||
		r.GetGain().GetSeconds() != 120 ||
		r.GetAlgorithm() != "regular" || r.GetHeuristic() != "mct" || r.GetWindow() != "20" ||
		r.GetAgent() != "agent" || r.GetRound() == dry.GetRecord().GetRound() {
		t.Errorf("%v", r)
	}
	j := real.GetJobs()[0]
	if !j.GetOrdered() || j.GetProblem() != nil || j.GetBefore().GetWidth() != 2 || j.GetAfter().GetWidth() != 3 ||
		j.GetService() != "lu" {
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

func TestAKnownTransferTimeReplacesTheThreshold(t *testing.T) {
	full, idle := queueOf("full", 2, 0), queueOf("idle", 0, 0)
	connected(full, idle)
	// 1000 bytes: 50s
	g := newGrid(t, func(c *Config) { c.Network = Network{Bandwidth: 20} }, full.start(t), idle.start(t))
	res := g.reallocate(t, &droverv1.ReallocateRequest{
		Threshold: durationpb.New(time.Hour), LeastGain: durationpb.New(10 * time.Second),
	})
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
	edits := 0
	for _, c := range idle.rounds.calls {
		for _, q := range c.GetQuestions() {
			if q.GetRequest().GetService() != "lu" || q.GetNotBefore().AsDuration() != 50*time.Second {
				t.Errorf("asked %v", q)
			}
		}
		for _, e := range c.GetEdits() {
			if edits++; e.GetNotBefore().AsDuration() != 50*time.Second || e.GetRequest().GetInputBytes() != 1000 {
				t.Errorf("put %v", e)
			}
		}
	}
	if edits != 1 {
		t.Errorf("%d edits", edits)
	}
}

func TestAllCancellationHoldsAtAllSitesThenPlacesInOrder(t *testing.T) {
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
	res := g.reallocate(t, &droverv1.ReallocateRequest{
		Algorithm: "all-cancellation", LeastGain: durationpb.New(time.Second),
	})
	want := []string{
		"full0 full>full 1m0s>1m0s gain 0s", // with its new shape it is wider
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
		if stays := m.GetTo() == ""; stays != (m.GetShape().GetWidth() == 3) ||
			!stays && m.GetMinGain().AsDuration() != time.Second {
			t.Errorf("%v", m)
		}
	}
	if d := cmp.Diff([]string{
		"full0  ", "full1 idle reallocation (all-cancellation, mct): 2m0s at full, 1m0s at idle", "full2  ",
	}, placed); d != "" {
		t.Error(d)
	}
}

func TestAJobThatStartsDuringARoundIsReported(t *testing.T) {
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
	if j := res.GetJobs()[0]; j.GetOrdered() || j.GetProblem().GetReason() != "not-waiting" ||
		res.GetRecord().GetFailed() != 1 {
		t.Errorf("%v of %v", j, res.GetRecord())
	}
	full.rounds.before = func(_ context.Context, req *droverv1.DraftRequest) error {
		if req.GetEnd() {
			start("full0")
		}
		return nil
	}
	res = g.reallocate(t, &droverv1.ReallocateRequest{Algorithm: "all-cancellation"})
	if j := res.GetJobs()[0]; j.GetJobId() != "full0" || j.GetOrdered() ||
		j.GetProblem().GetReason() != "not-waiting" || !res.GetJobs()[1].GetOrdered() {
		t.Errorf("%v", res)
	}
}
