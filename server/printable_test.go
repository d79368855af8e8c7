package server

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

const steers = "\x1b[2J a \u009bb\n"

func TestRecordsContainNoControlCharacters(t *testing.T) {
	record := &droverv1.DecisionRecord{
		Agent: steers, Chosen: "lyon",
		Candidates: []*droverv1.Candidate{{Site: "lyon", Width: 3}, {Site: "n\x00ice", Missing: &droverv1.Missing{
			Reason: droverv1.MissingReason_MISSING_REASON_REFUSED,
			Detail: &droverv1.ErrorDetail{Message: steers, Hint: "plain: \u00e9", Offer: &droverv1.Offer{Site: "\r"}},
		}}},
	}
	want := proto.Clone(record).(*droverv1.DecisionRecord)
	const calm = " [2J a  b "
	want.Agent, want.Candidates[1].Site = calm, "n ice"
	want.Candidates[1].Missing.Detail.Message, want.Candidates[1].Missing.Detail.Offer.Site = calm, " "
	s := start(t, configured(t, ""))
	res, err := s.client.Submit(within(t), &droverv1.SubmitRequest{
		JobId:   newID(t),
		Request: &droverv1.Request{Service: "print"}, Decision: record,
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, res.GetJob().GetDecision(), protocmp.Transform()); diff != "" {
		t.Errorf("decision: %s", diff)
	}
}

func TestControlCharactersInRequestsAreRemoved(t *testing.T) {
	s := start(t, configured(t, ""))
	id := s.submit(t, &droverv1.Request{Service: "print"}).GetId()
	_, move := s.client.MoveJob(within(t), &droverv1.MoveJobRequest{JobId: id, To: "nice", Reason: steers})
	_, agent := s.client.MoveJob(within(t), &droverv1.MoveJobRequest{JobId: id, To: "nice", Agent: steers})
	_, settle := s.client.SettleJob(within(t), &droverv1.SettleJobRequest{JobId: id, Reason: steers})
	_, place := s.client.PlaceJobs(within(t), &droverv1.PlaceJobsRequest{
		Round:      "r",
		Placements: []*droverv1.Placement{{JobId: id, Reason: steers}},
	})
	_, site := s.client.Submit(within(t), &droverv1.SubmitRequest{
		JobId:   newID(t),
		Request: &droverv1.Request{Service: "print", Site: steers},
	})
	for field, err := range map[string]error{
		"reason": move, "agent": agent, "placements[0].reason": place, "request.site": site,
	} {
		if _, d := detail(t, err); d.GetReason() != "bad-value" || d.GetField() != field ||
			strings.ContainsFunc(d.GetMessage(), unicode.IsControl) {
			t.Errorf("%s: %v", field, d)
		}
	}
	if _, d := detail(t, settle); d.GetReason() != "bad-value" || d.GetField() != "reason" {
		t.Errorf("settle: %v", d)
	}
}

// Control characters in a job's history do not prevent its move.
func TestHistoryOfAnIncomingJobIsCleaned(t *testing.T) {
	g := newGrid(t, "")
	caller := rpc.NewCaller(rpc.CallerConfig{DialTimeout: 5 * time.Second})
	t.Cleanup(caller.Close)
	p := rpc.Client(caller, droverv1connect.NewPeerServiceClient, "http://"+g.target.address())
	id := newID(t)
	r := g.ground.request("once", 1, true, 0)
	reserve := &droverv1.ReserveRequest{
		JobId: id, Epoch: 1, From: "lyon", Request: r, Decision: &droverv1.DecisionRecord{Agent: steers},
		Moves: []*droverv1.Move{{
			From: "lyon", To: "nice", Epoch: 1, State: droverv1.MoveState_MOVE_STATE_PENDING,
			Reason: steers, Agent: steers,
		}},
	}
	res, err := p.Reserve(within(t), reserve)
	for ctx := within(t); connect.CodeOf(err) == connect.CodeNotFound &&
		ctx.Err() == nil; res, err = p.Reserve(ctx, reserve) {
		pause(ctx, 20*time.Millisecond) // the target does not know the source yet
	}
	if err != nil || res.GetAnswer() != droverv1.ReserveAnswer_RESERVE_ANSWER_RESERVED {
		t.Fatalf("%v, %v", res, err)
	}
	j := g.target.job(id)
	for _, said := range []string{j.GetMoves()[0].GetReason(), j.GetMoves()[0].GetAgent(), j.GetDecision().GetAgent()} {
		if said == "" || strings.ContainsFunc(said, unicode.IsControl) {
			t.Errorf("%q", said)
		}
	}
}
