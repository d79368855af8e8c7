package server

import (
	"context"
	"math"
	"net/http"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// peerClient returns a client for the calls between servers.
func (s *testSite) peerClient(t testing.TB) droverv1connect.PeerServiceClient {
	t.Helper()
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &protocols}
	t.Cleanup(transport.CloseIdleConnections)
	return droverv1connect.NewPeerServiceClient(&http.Client{Transport: transport}, s.URL())
}

// reservation is a valid Reserve request from a site that does not exist.
func reservation(t testing.TB, change func(*droverv1.ReserveRequest)) *droverv1.ReserveRequest {
	r := &droverv1.ReserveRequest{
		JobId: newID(t), Epoch: 1, From: "mars", Request: &droverv1.Request{Service: "print"}, Age: seconds(5),
		SentAt: timestamppb.Now(),
		Moves:  []*droverv1.Move{{From: "mars", To: "lyon", Epoch: 1, State: droverv1.MoveState_MOVE_STATE_PENDING}},
	}
	if change != nil {
		change(r)
	}
	return r
}

// The server answers every invalid call with a detailed error and keeps running. A
// server started later on the same data does too.
func TestEveryCallRefusesBadInput(t *testing.T) {
	cfg := configured(t, "")
	s := start(t, cfg)
	p := s.peerClient(t)
	busy := s.submit(t, &droverv1.Request{Service: "block", Width: 4}).GetId()
	s.until(t, busy, running)
	id := s.submit(t, &droverv1.Request{Service: "block", Width: 4}).GetId()
	long := strings.Repeat("x", 5000)
	tooMany := make([]*droverv1.Move, 65)
	shape := func(width int32, walltime int64) []*droverv1.Placement {
		return []*droverv1.Placement{{JobId: id, Shape: &droverv1.Shape{Width: width, Walltime: seconds(walltime)}}}
	}
	move := func(change func(*droverv1.MoveJobRequest)) error {
		r := &droverv1.MoveJobRequest{JobId: id, To: "nice"}
		change(r)
		_, err := s.client.MoveJob(within(t), r)
		return err
	}
	hold := func(r *droverv1.HoldJobsRequest) error { _, err := s.client.HoldJobs(within(t), r); return err }
	place := func(r *droverv1.PlaceJobsRequest) error { _, err := s.client.PlaceJobs(within(t), r); return err }
	reserve := func(change func(*droverv1.ReserveRequest)) error {
		_, err := p.Reserve(within(t), reservation(t, change))
		return err
	}
	withdraw := func(id string) error {
		_, err := s.client.Withdraw(within(t), &droverv1.WithdrawRequest{JobId: id})
		return err
	}
	content := func(r *droverv1.ReadContentRequest) error {
		stream, err := p.ReadContent(within(t), r)
		if err != nil {
			return err
		}
		defer stream.Close()
		for stream.Receive() {
		}
		return stream.Err()
	}
	_, moves := s.client.ListMoves(within(t), &droverv1.ServerServiceListMovesRequest{Filter: "odd"})
	_, page := s.client.ListMoves(within(t), &droverv1.ServerServiceListMovesRequest{PageSize: 1 << 30})
	_, token := s.client.ListMoves(within(t), &droverv1.ServerServiceListMovesRequest{PageToken: "%"})
	_, settle := s.client.SettleJob(within(t), &droverv1.SettleJobRequest{
		JobId: id, Epoch: math.MaxUint32, Settlement: 1,
	})
	_, why := s.client.SettleJob(within(t), &droverv1.SettleJobRequest{JobId: id, Reason: long})
	_, confirm := p.Confirm(within(t), &droverv1.ConfirmRequest{JobId: "x"})
	_, unknown := p.Confirm(within(t), &droverv1.ConfirmRequest{JobId: newID(t), Epoch: math.MaxUint32, From: "mars"})
	_, drop := p.Drop(within(t), &droverv1.DropRequest{})
	_, resolve := p.Resolve(within(t), &droverv1.ResolveRequest{JobId: strings.ToUpper(id)})
	large := strings.Repeat("\x01", 3<<20) // six times as long when escaped in a record
	_, submit := s.client.Submit(within(t), &droverv1.SubmitRequest{
		JobId: newID(t), Request: &droverv1.Request{Service: "print", Labels: map[string]string{"a": large}},
	})
	for name, c := range map[string]struct {
		err    error
		field  string
		reason string
	}{
		"submit: large":        {submit, "request", "too-large"},
		"withdraw: no id":      {withdraw(""), "job_id", "bad-value"},
		"withdraw: another id": {withdraw(strings.Repeat("a", 1<<20)), "job_id", "bad-value"},
		"move: no id":          {move(func(r *droverv1.MoveJobRequest) { r.JobId = "" }), "to", "unknown-site"},
		"move: long reason":    {move(func(r *droverv1.MoveJobRequest) { r.Reason = long }), "reason", "out-of-range"},
		"move: long agent":     {move(func(r *droverv1.MoveJobRequest) { r.Agent = long }), "agent", "out-of-range"},
		"move: invalid site": {
			move(func(r *droverv1.MoveJobRequest) { r.To = "../../etc\x00" }), "to", "unknown-site",
		},
		"hold: no round":   {hold(&droverv1.HoldJobsRequest{Lease: seconds(5)}), "round", "bad-value"},
		"hold: long round": {hold(&droverv1.HoldJobsRequest{Round: long, Lease: seconds(5)}), "round", "out-of-range"},
		"hold: no lease":   {hold(&droverv1.HoldJobsRequest{Round: "r"}), "lease", "out-of-range"},
		"hold: endless lease": {
			hold(&droverv1.HoldJobsRequest{Round: "r", Lease: seconds(1 << 40)}), "lease",
			"out-of-range",
		},
		"hold: negative lease": {
			hold(&droverv1.HoldJobsRequest{Round: "r", Lease: seconds(-1)}), "lease", "out-of-range",
		},
		"place: invalid site": {place(&droverv1.PlaceJobsRequest{
			Round:      "r",
			Placements: []*droverv1.Placement{{JobId: id, To: "a b"}},
		}), "placements[0].to", "bad-value"},
		"place: own name": {place(&droverv1.PlaceJobsRequest{
			Round:      "r",
			Placements: []*droverv1.Placement{{JobId: id, To: "lyon"}},
		}), "placements[0].to", "bad-value"},
		"place: negative width": {
			place(&droverv1.PlaceJobsRequest{Round: "r", Placements: shape(-1, 60)}),
			"placements[0].shape.width", "too-wide",
		},
		"place: huge width": {
			place(&droverv1.PlaceJobsRequest{Round: "r", Placements: shape(math.MaxInt32, 60)}),
			"placements[0].shape.width", "too-wide",
		},
		"place: negative time": {
			place(&droverv1.PlaceJobsRequest{Round: "r", Placements: shape(1, -1)}),
			"placements[0].shape.walltime", "out-of-range",
		},
		"place: endless": {
			place(&droverv1.PlaceJobsRequest{Round: "r", Placements: shape(1, 1<<38)}),
			"placements[0].shape.walltime", "out-of-range",
		},
		"moves: invalid filter": {moves, "filter", "bad-value"},
		"moves: large page":     {page, "page_size", "out-of-range"},
		"moves: invalid token":  {token, "page_token", "bad-value"},
		"settle: no such epoch": {settle, "epoch", "stale-epoch"},
		"settle: long reason":   {why, "reason", "out-of-range"},
		"confirm: invalid id":   {confirm, "job_id", "bad-value"},
		"confirm: unknown":      {unknown, "job_id", "unknown-job"},
		"drop: nothing":         {drop, "job_id", "bad-value"},
		"resolve: upper case":   {resolve, "job_id", "bad-value"},
		"read: negative": {
			content(&droverv1.ReadContentRequest{JobId: id, Argument: "a", Offset: -1}), "offset",
			"out-of-range",
		},
		"read: no such argument": {
			content(&droverv1.ReadContentRequest{JobId: id, Argument: "../../drover.db"}),
			"argument", "unknown-content",
		},
		"reserve: no request": {
			reserve(func(r *droverv1.ReserveRequest) { r.Request = nil }), "request", "bad-value",
		},
		"reserve: no sender":    {reserve(func(r *droverv1.ReserveRequest) { r.From = "" }), "from", "bad-value"},
		"reserve: own name":     {reserve(func(r *droverv1.ReserveRequest) { r.From = "lyon" }), "from", "bad-value"},
		"reserve: invalid site": {reserve(func(r *droverv1.ReserveRequest) { r.From = "a/b" }), "from", "bad-value"},
		"reserve: no epoch":     {reserve(func(r *droverv1.ReserveRequest) { r.Epoch = 0 }), "epoch", "out-of-range"},
		"reserve: negative age": {
			reserve(func(r *droverv1.ReserveRequest) { r.Age = seconds(-5) }), "age", "out-of-range",
		},
		"reserve: age": {reserve(func(r *droverv1.ReserveRequest) {
			r.Age = &durationpb.Duration{Seconds: math.MaxInt64}
		}), "age", "out-of-range"},
		"reserve: sent": {reserve(func(r *droverv1.ReserveRequest) {
			r.SentAt = &timestamppb.Timestamp{Seconds: math.MinInt64}
		}), "sent_at", "out-of-range"},
		"reserve: history": {reserve(func(r *droverv1.ReserveRequest) { r.Moves = tooMany }), "moves", "out-of-range"},
		"reserve: long reason": {
			reserve(func(r *droverv1.ReserveRequest) { r.Moves[0].Reason = long }),
			"moves[0].reason", "out-of-range",
		},
		"reserve: present": {
			reserve(func(r *droverv1.ReserveRequest) { r.PresentCompletion = seconds(-1) }),
			"present_completion", "out-of-range",
		},
		"reserve: unknown file": {reserve(func(r *droverv1.ReserveRequest) {
			r.Request = copyOf(strings.Repeat("a", 64))
		}), "from", "unknown-site"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.err == nil {
				t.Fatal("the call succeeded")
			}
			code, d := detail(t, c.err)
			if d.GetField() != c.field || d.GetReason() != c.reason || code == connect.CodeInternal ||
				code == connect.CodeUnknown ||
				c.reason != "unknown-job" && d.GetAccepted() == "" {
				t.Errorf("%v %v", code, d)
			}
		})
	}
	// Calls about unknown jobs and rounds are harmless.
	if res, err := s.client.HoldJobs(within(t), &droverv1.HoldJobsRequest{
		Round: "r", Lease: seconds(60),
		JobIds: make([]string, 500_000),
	}); err != nil || len(res.GetJobs()) != 0 {
		t.Errorf("HoldJobs of 500,000 empty IDs: %v, %v", len(res.GetJobs()), err)
	}
	if _, err := s.client.HoldJobs(within(t), &droverv1.HoldJobsRequest{
		Round: "r", Lease: seconds(60),
		JobIds: ids(1_000_000),
	}); connect.CodeOf(err) != connect.CodeResourceExhausted {
		t.Errorf("HoldJobs of 1,000,000 IDs: %v", err)
	}
	if res, err := s.client.PlaceJobs(within(t), &droverv1.PlaceJobsRequest{
		Round:      "none",
		Placements: []*droverv1.Placement{{JobId: newID(t)}, {}, {JobId: id}},
	}); err != nil ||
		len(res.GetJobs()) != 1 || res.GetJobs()[0].GetState() != waiting {
		t.Errorf("PlaceJobs in an unknown round: %v, %v", res, err)
	}
	if res, err := p.Resolve(within(t), &droverv1.ResolveRequest{
		JobId: newID(t), Epoch: math.MaxUint32,
		From: "x",
	}); err != nil || res.GetAnswer() != droverv1.ResolveAnswer_RESOLVE_ANSWER_PENDING {
		t.Errorf("Resolve of an unknown job: %v, %v", res, err)
	}
	s.restarted(t, cfg, id)
}

func copyOf(sha string) *droverv1.Request {
	return &droverv1.Request{Service: "copy", Arguments: arguments{"from": file(&droverv1.File{
		Sha256:    sha,
		SizeBytes: 1,
	})}}
}

func ids(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = "01a2001f-3e56-74b6-ac94-d5ac6ae22763"
	}
	return out
}

// restarted stops the server, starts the next one and looks for a job there.
func (s *testSite) restarted(t *testing.T, cfg Config, id string) *testSite {
	t.Helper()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	next := start(t, cfg)
	if _, err := next.client.GetJob(within(t), &droverv1.GetJobRequest{JobId: id}); err != nil {
		t.Error(err)
	}
	return next
}

// introduce makes a site known to the server. The site answers no calls.
func (s *testSite) introduce(t *testing.T, name string) {
	t.Helper()
	member, err := gossip.Join(gossip.Config{
		Name: name, Role: gossip.Server, Bind: "127.0.0.1:0", URL: "http://127.0.0.1:1", API: 1,
		Seeds: []string{s.Seed()},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { member.Close() })
	group := s.group.(interface{ Changed() <-chan struct{} })
	for {
		changed := group.Changed()
		if _, err := s.Peer("to", name); err == nil {
			return
		}
		<-changed
	}
}

// A job at the last epoch can no longer move, by any call.
func TestEpochsDoNotWrapAround(t *testing.T) {
	cfg := configured(t, "")
	s := start(t, cfg)
	p := s.peerClient(t)
	busy := s.submit(t, &droverv1.Request{Service: "block", Width: 4}).GetId()
	s.until(t, busy, running)
	s.introduce(t, "mars")
	r := reservation(t, func(r *droverv1.ReserveRequest) { r.Epoch = math.MaxUint32 })
	if res, err := p.Reserve(within(t), r); err != nil ||
		res.GetAnswer() != droverv1.ReserveAnswer_RESERVE_ANSWER_RESERVED {
		t.Fatalf("reserve: %v, %v", res, err)
	}
	if _, err := p.Confirm(within(t), &droverv1.ConfirmRequest{
		JobId: r.GetJobId(), Epoch: math.MaxUint32,
		From: "mars",
	}); err != nil {
		t.Fatal(err)
	}
	refused := func() {
		t.Helper()
		_, err := s.core.Move(s.now(), siteOrder(r.GetJobId(), math.MaxUint32), nil)
		if err == nil || !strings.Contains(err.Error(), "too often") {
			t.Errorf("move: %v", err)
		}
	}
	if err := s.do(context.Background(), refused); err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.HoldJobs(within(t), &droverv1.HoldJobsRequest{
		Round: "r", Lease: seconds(60),
		JobIds: []string{r.GetJobId()},
	}); err != nil {
		t.Fatal(err)
	}
	res, err := s.client.PlaceJobs(within(t), &droverv1.PlaceJobsRequest{
		Round:      "r",
		Placements: []*droverv1.Placement{{JobId: r.GetJobId(), To: "mars"}},
	})
	if err != nil || res.GetJobs()[0].GetState() != waiting || res.GetJobs()[0].GetEpoch() != math.MaxUint32 {
		t.Errorf("place: %v, %v", res, err)
	}
	s.restarted(t, cfg, r.GetJobId())
}

func siteOrder(id string, seen uint32) site.MoveRequest {
	return site.MoveRequest{Job: batch.JobID(id), To: "nice", Seen: seen}
}

// A job with extreme times is listed like any other. Protobuf's JSON refuses a whole
// page for one instant out of range.
func TestListsIncludeJobsWithExtremeTimes(t *testing.T) {
	s := start(t, configured(t, ""))
	p := s.peerClient(t)
	s.introduce(t, "mars")
	end := &timestamppb.Timestamp{Seconds: 253_402_300_799} // the latest that Protobuf allows
	for name, change := range map[string]func(*droverv1.ReserveRequest){
		"ages ago":      func(r *droverv1.ReserveRequest) { r.Age = seconds(rpc.LongestDuration) },
		"a late sender": func(r *droverv1.ReserveRequest) { r.SentAt = end },
		"a late move": func(r *droverv1.ReserveRequest) {
			r.SentAt, r.Moves[0].OrderedAt = &timestamppb.Timestamp{Seconds: 1}, end
		},
		"an early move": func(r *droverv1.ReserveRequest) {
			r.SentAt, r.Moves[0].OrderedAt = end, &timestamppb.Timestamp{Seconds: 1}
		},
	} {
		r := reservation(t, change)
		if res, err := p.Reserve(within(t), r); err != nil ||
			res.GetAnswer() != droverv1.ReserveAnswer_RESERVE_ANSWER_RESERVED {
			t.Fatalf("%s: %v, %v", name, res, err)
		}
		res, err := s.client.GetJob(within(t), &droverv1.GetJobRequest{JobId: r.GetJobId()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := protojson.Marshal(res); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if at := res.GetJob().GetSubmittedAt(); at.CheckValid() != nil ||
			at.GetSeconds() < 0 { // out of range for another site
			t.Errorf("%s: submitted at %v", name, at)
		}
	}
}
