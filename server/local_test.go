package server

import (
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/server/site"
)

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
	res, err := s.client.ListJobs(within(t), &droverv1.ServerServiceListJobsRequest{Filter: "state=waiting movable=true"})
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
	return s.Server.Submit(within(t), site.Submission{ID: batch.JobID(id), Request: &site.Request{Service: "block",
		Width: 4, Origin: batch.Local}})
}
