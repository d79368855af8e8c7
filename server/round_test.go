package server

import (
	"slices"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// crew is a site with one running and five waiting jobs.
func crew(t *testing.T, cfg Config) (s *testSite, busy string, queue []string) {
	t.Helper()
	s = start(t, cfg)
	busy = s.submit(t, &droverv1.Request{Service: "block", Width: 4}).GetId()
	s.until(t, busy, running)
	for range 5 {
		queue = append(queue, s.submit(t, &droverv1.Request{Service: "block", Width: 4}).GetId())
	}
	return s, busy, queue
}

func (s *testSite) hold(t *testing.T, round string, lease int64, ids ...string) []*droverv1.JobDigest {
	t.Helper()
	res, err := s.client.HoldJobs(within(t), &droverv1.HoldJobsRequest{
		Round: round, Lease: seconds(lease), JobIds: ids,
	})
	if err != nil {
		t.Fatal(err)
	}
	return res.GetJobs()
}

func (s *testSite) place(t *testing.T, round string, list ...*droverv1.Placement) []*droverv1.JobDigest {
	t.Helper()
	res, err := s.client.PlaceJobs(within(t), &droverv1.PlaceJobsRequest{Round: round, Agent: "a", Placements: list})
	if err != nil {
		t.Fatal(err)
	}
	return res.GetJobs()
}

// plan cancels the running job repeatedly and returns the order in which the others start.
func (s *testSite) plan(t *testing.T, busy string, queue []string) (order []string) {
	t.Helper()
	left := slices.Clone(queue)
	d := s.digests(t)
	for len(left) > 0 {
		if _, err := s.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: busy}); err != nil {
			t.Fatal(err)
		}
		at := -1
		d.until(func() bool {
			at = slices.IndexFunc(left, func(id string) bool { return d.states[id] == running })
			return at >= 0
		})
		busy = left[at]
		order = append(order, busy)
		left = slices.Delete(left, at, at+1)
	}
	return order
}

func TestRoundReordersAndReshapesJobsThatStay(t *testing.T) {
	s, busy, queue := crew(t, configured(t, "policy: {name: fcfs}"))
	got := s.hold(t, "r1", 600)
	if len(got) != 5 || got[0].GetState() != held || got[0].GetId() != queue[0] {
		t.Fatalf("HoldJobs: %v", got)
	}
	if again := s.hold(t, "r1", 600); len(again) != 5 {
		t.Errorf("repeated HoldJobs: %v", again)
	}
	if other := s.hold(t, "r2", 600); len(other) != 0 {
		t.Errorf("a second round holds %v", other)
	}
	probe := &droverv1.EstimateRequest{Request: &droverv1.Request{Service: "block", Width: 4}}
	res, err := s.client.Estimate(within(t), probe)
	if err != nil || res.GetQuote().GetWait().AsDuration().Seconds() > 51 {
		t.Errorf("estimate with all waiting jobs held: %v, %v", res, err)
	}
	want := []string{queue[3], queue[1], queue[4]}
	var list []*droverv1.Placement
	for _, id := range want {
		list = append(list, &droverv1.Placement{JobId: id, Shape: &droverv1.Shape{Width: 4, Walltime: seconds(77)}})
	}
	for i, j := range s.place(t, "r1", list...) {
		if j.GetState() != waiting || j.GetId() != want[i] || j.GetShape().GetWalltime().GetSeconds() != 77 {
			t.Errorf("PlaceJobs: %v", j)
		}
	}
	// The other jobs keep their slots, before the jobs that were placed last.
	if order := s.plan(t, busy, queue); !slices.Equal(order, append([]string{queue[0], queue[2]}, want...)) {
		t.Errorf("order %v of %v", order, queue)
	}
}

func TestHeldJobStaysIfItsTargetSiteIsUnknown(t *testing.T) {
	s, _, queue := crew(t, configured(t, "policy: {name: fcfs}"))
	s.introduce(t, "nice")
	s.hold(t, "r1", 600)
	got := s.place(t, "r1", &droverv1.Placement{JobId: queue[0], To: "mars"}, &droverv1.Placement{
		JobId: queue[1], Shape: &droverv1.Shape{Width: 2, Walltime: seconds(77)},
	})
	if len(got) != 2 || got[0].GetState() != waiting || got[0].GetEpoch() != 0 || got[1].GetShape().GetWidth() != 2 {
		t.Errorf("PlaceJobs: %v", got)
	}
	d := s.digests(t)
	d.until(func() bool {
		return !slices.ContainsFunc(queue, func(id string) bool { return d.states[id] != waiting })
	})
}

func TestExpiredLeasePutsHeldJobsBack(t *testing.T) {
	s, busy, queue := crew(t, configured(t, "policy: {name: fcfs}"))
	s.introduce(t, "nice")
	d := s.digests(t)
	d.until(func() bool { return d.synced > 0 })
	s.hold(t, "r1", 1, queue[1], queue[3])
	d.until(func() bool { return d.states[queue[1]] == held && d.states[queue[3]] == held })
	d.until(func() bool { return d.states[queue[1]] == waiting && d.states[queue[3]] == waiting })
	for _, j := range s.place(t, "r1", &droverv1.Placement{JobId: queue[1]}, &droverv1.Placement{
		JobId: queue[3],
		To:    "nice",
	}) {
		if j.GetState() != waiting || j.GetEpoch() != 0 {
			t.Errorf("PlaceJobs after the lease: %v", j)
		}
	}
	if order := s.plan(t, busy, queue); !slices.Equal(order, queue) {
		t.Errorf("order %v of %v", order, queue)
	}
}

func TestRestartHoldsJobsForTheWholeLease(t *testing.T) {
	cfg := configured(t, "policy: {name: fcfs}")
	s, _, queue := crew(t, cfg)
	s.hold(t, "r1", 600, queue[2])
	s = s.restarted(t, cfg, queue[2])
	j, err := s.client.GetJob(within(t), &droverv1.GetJobRequest{JobId: queue[2]})
	if err != nil || j.GetJob().GetState() != held {
		t.Errorf("job: %v, %v", j, err)
	}
	if jobs := s.place(t, "r1", &droverv1.Placement{JobId: queue[2]}); len(jobs) != 1 || jobs[0].GetState() != waiting {
		t.Errorf("PlaceJobs: %v", jobs)
	}
}

// An incoming job that does not arrive loses its slot after a while. A confirmation gives
// it a slot again.
func TestSlotOfAJobThatNeverArrivesIsFreed(t *testing.T) {
	cfg := configured(t, "policy: {name: fcfs}")
	cfg.patience = site.Patience{First: 100 * batch.Millisecond, Longest: 200 * batch.Millisecond, Idle: batch.Second}
	s := start(t, cfg)
	p := s.peerClient(t)
	s.introduce(t, "mars")
	r := reservation(t, func(r *droverv1.ReserveRequest) { r.Request = &droverv1.Request{Service: "block", Width: 4} })
	first, err := p.Reserve(within(t), r)
	if err != nil || first.GetAnswer() != droverv1.ReserveAnswer_RESERVE_ANSWER_RESERVED ||
		first.GetShape().GetWidth() != 4 {
		t.Fatalf("reserve: %v, %v", first, err)
	}
	wait := func() float64 {
		t.Helper()
		res, err := s.client.Estimate(within(t), &droverv1.EstimateRequest{Request: &droverv1.Request{
			Service: "block",
			Width:   4,
		}})
		if err != nil {
			t.Fatal(err)
		}
		return res.GetQuote().GetWait().AsDuration().Seconds()
	}
	if wait() < 40 {
		t.Errorf("an incoming job has no slot: another job waits %v", wait())
	}
	ctx := within(t)
	for wait() > 0 && ctx.Err() == nil {
	}
	if w := wait(); w > 0 {
		t.Fatalf("an incoming job keeps its slot: another job waits %v", w)
	}
	lower := reservation(t, func(l *droverv1.ReserveRequest) { l.JobId, l.Epoch = r.GetJobId(), 1 })
	if res, err := p.Reserve(within(t), lower); err != nil ||
		res.GetAnswer() != droverv1.ReserveAnswer_RESERVE_ANSWER_RESERVED {
		t.Errorf("repeated Reserve: %v, %v", res, err)
	}
	lower.From = "venus"
	if res, err := p.Reserve(within(t), lower); err != nil ||
		res.GetAnswer() != droverv1.ReserveAnswer_RESERVE_ANSWER_SUPERSEDED {
		t.Errorf("Reserve from another site: %v, %v", res, err)
	}
	for range 2 {
		if res, err := p.Confirm(within(t), &droverv1.ConfirmRequest{
			JobId: r.GetJobId(), Epoch: 1,
			From: "mars",
		}); err != nil || res.GetSuperseded() {
			t.Errorf("Confirm: %v, %v", res, err)
		}
	}
	s.until(t, r.GetJobId(), running)
}

func TestWatchersSeeADroppedJob(t *testing.T) {
	s := start(t, configured(t, ""))
	p := s.peerClient(t)
	s.introduce(t, "mars")
	r := reservation(t, nil)
	if _, err := p.Reserve(within(t), r); err != nil {
		t.Fatal(err)
	}
	stream, err := s.client.WatchJob(within(t), &droverv1.WatchJobRequest{JobId: r.GetJobId()})
	if err != nil || !stream.Receive() || stream.Msg().GetJob().GetState() != incoming {
		t.Fatalf("watch: %v, %v", stream.Msg(), err)
	}
	defer stream.Close()
	if _, err := p.Drop(within(t), &droverv1.DropRequest{JobId: r.GetJobId(), Epoch: 1, From: "mars"}); err != nil {
		t.Fatal(err)
	}
	for stream.Receive() {
	}
	if code, d := detail(t, stream.Err()); code != connect.CodeNotFound || d.GetReason() != "unknown-job" {
		t.Errorf("%v %v", code, d)
	}
}

// Rounds hold, place and move all other jobs. The local job's estimate can only improve.
func TestRoundsKeepPromisesToLocalJobs(t *testing.T) {
	s, _, queue := crew(t, configured(t, "policy: {name: cbf}"))
	local := newID(t)
	if _, err := s.submitLocal(t, local); err != nil {
		t.Fatal(err)
	}
	queue = append(queue, s.submit(t, &droverv1.Request{Service: "block", Width: 4}).GetId())
	s.introduce(t, "nice")
	promised := time.Duration(1 << 62)
	keeps := func(after string) {
		t.Helper()
		res := s.draft(t, &droverv1.DraftRequest{Round: "promise", Begin: true, End: true, Questions: standing(local)})
		q := res.GetAnswers()[0]
		if q.GetKind() != droverv1.EstimateKind_ESTIMATE_KIND_PROMISED || q.GetCompletion().AsDuration() > promised {
			t.Errorf("after %s: %v, earlier promise %v", after, q, promised)
		}
		promised = q.GetCompletion().AsDuration()
		j, err := s.client.GetJob(within(t), &droverv1.GetJobRequest{JobId: local})
		if err != nil || j.GetJob().GetState() != waiting || j.GetJob().GetEpoch() != 0 {
			t.Errorf("after %s: %v, %v", after, j, err)
		}
	}
	keeps("its submission")
	first := promised
	res, err := s.client.ListJobs(within(t),
		&droverv1.ServerServiceListJobsRequest{Filter: "state=waiting movable=true"})
	if err != nil || len(res.GetJobs()) != len(queue) {
		t.Errorf("movable jobs: %v, %v", res, err)
	}
	out := s.draft(t, &droverv1.DraftRequest{Round: "r", Begin: true, Edits: []*droverv1.DraftEdit{{JobId: local}}})
	if d := out.GetEdits()[0].GetRefusal(); d.GetReason() != "not-movable" {
		t.Errorf("removal from a draft: %v", d)
	}
	_, err = s.client.MoveJob(within(t), &droverv1.MoveJobRequest{JobId: local, To: "nice"})
	if code, d := detail(t, err); code != connect.CodeFailedPrecondition || d.GetReason() != "not-movable" {
		t.Errorf("MoveJob: %v", err)
	}
	for _, ids := range [][]string{nil, append([]string{local}, queue...)} {
		if got := s.hold(t, "r", 600, ids...); len(got) != len(queue) {
			t.Errorf("HoldJobs: %v", got)
		}
		keeps("a hold")
		list := []*droverv1.Placement{{JobId: local, To: "nice"}}
		for i := range queue { // in reverse order
			list = append(list, &droverv1.Placement{JobId: queue[len(queue)-1-i]})
		}
		s.place(t, "r", list...)
		keeps("a placement")
	}
	if promised > first/2 {
		t.Errorf("expected completion in %v before the rounds, in %v after all others moved behind it", first, promised)
	}
}

// submitLocal submits a job of a local user. The site's own batch system does this; calls
// over the wire always come from the grid.
func (s *testSite) submitLocal(t *testing.T, id string) (site.Job, error) {
	t.Helper()
	return s.Server.Submit(within(t), site.Submission{ID: batch.JobID(id), Request: &site.Request{
		Service: "block",
		Width:   4, Origin: batch.Local,
	}})
}
