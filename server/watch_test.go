package server

import (
	"testing"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// digests collects the states from a watch of all jobs.
type digests struct {
	t      *testing.T
	stream *connect.ServerStreamForClient[droverv1.WatchJobsResponse]
	states map[string]droverv1.JobState
	synced int
}

func (s *testSite) digests(t *testing.T) *digests {
	t.Helper()
	stream, err := s.client.WatchJobs(within(t), &droverv1.WatchJobsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stream.Close() })
	return &digests{t: t, stream: stream, states: make(map[string]droverv1.JobState)}
}

// until reads messages until wanted returns true for the states.
func (d *digests) until(wanted func() bool) {
	d.t.Helper()
	for !wanted() {
		if !d.stream.Receive() {
			d.t.Fatalf("the stream ended with %v: %v", d.stream.Err(), d.states)
		}
		m := d.stream.Msg()
		seen := make(map[string]bool)
		for _, j := range m.GetJobs() {
			if seen[j.GetId()] {
				d.t.Errorf("job %s twice in a message", j.GetId())
			}
			seen[j.GetId()] = true
			d.states[j.GetId()] = j.GetState()
		}
		if m.GetSynced() {
			d.synced++
		}
	}
}

func TestWatchOfAllJobsSendsThePresentJobsThenChanges(t *testing.T) {
	s := start(t, configured(t, ""))
	over := s.submit(t, &droverv1.Request{Service: "print"}).GetId()
	s.until(t, over, done)
	busy := s.submit(t, &droverv1.Request{Service: "block", Width: 4}).GetId()
	s.until(t, busy, running)
	var queue []string
	for range 5 {
		queue = append(queue, s.submit(t, &droverv1.Request{Service: "block", Width: 4, Owner: "ada"}).GetId())
	}
	d := s.digests(t)
	d.until(func() bool { return d.synced > 0 })
	if len(d.states) != 6 || d.states[busy] != running || d.states[queue[4]] != waiting {
		t.Errorf("present jobs: %v", d.states)
	}
	if _, err := s.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: queue[0]}); err != nil {
		t.Fatal(err)
	}
	late := s.submit(t, &droverv1.Request{Service: "block", Width: 4}).GetId()
	d.until(func() bool { return d.states[queue[0]] == cancelled && d.states[late] == waiting })
}

func TestSlowWatcherSkipsStatesButMissesNoJob(t *testing.T) {
	s := start(t, configured(t, ""))
	empty := s.digests(t)
	empty.until(func() bool { return empty.synced > 0 })
	slow := s.digests(t) // does not read meanwhile
	var all []string
	for range 50 {
		all = append(all, s.submit(t, &droverv1.Request{Service: "print"}).GetId())
	}
	for _, id := range all {
		s.until(t, id, done)
	}
	for _, d := range []*digests{empty, slow} {
		d.until(func() bool {
			for _, id := range all {
				if d.states[id] != done {
					return false
				}
			}
			return true
		})
	}
}

func TestWatchersSeeTheEndOfTheServer(t *testing.T) {
	s := start(t, configured(t, ""))
	d := s.digests(t)
	d.until(func() bool { return d.synced > 0 })
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	for d.stream.Receive() {
	}
	if code, p := detail(t, d.stream.Err()); code != connect.CodeUnavailable || p.GetReason() != "stopping" {
		t.Errorf("%v %v", code, p)
	}
}

func TestWithdrawnJobIsNeverAccepted(t *testing.T) {
	cfg := configured(t, "")
	s := start(t, cfg)
	id := newID(t)
	request := &droverv1.Request{Service: "block", Width: 1}
	submit := func() error {
		_, err := s.client.Submit(within(t), &droverv1.SubmitRequest{JobId: id, Request: request})
		return err
	}
	withdraw := func(id string) *droverv1.WithdrawResponse {
		t.Helper()
		res, err := s.client.Withdraw(within(t), &droverv1.WithdrawRequest{JobId: id})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	known := s.submit(t, request).GetId()
	for round := range 2 {
		for range 2 { // a repeated call gets the same answer
			if res := withdraw(id); !res.GetWithdrawn() || res.GetJob() != nil {
				t.Errorf("withdraw: %v", res)
			}
		}
		if code, d := detail(t, submit()); code != connect.CodeFailedPrecondition || d.GetReason() != "withdrawn" ||
			d.GetField() != "job_id" {
			t.Errorf("submit: %v %v", code, d)
		}
		if res := withdraw(known); res.GetWithdrawn() || res.GetJob().GetId() != known {
			t.Errorf("withdraw of an accepted job: %v", res)
		}
		if _, err := s.client.GetJob(within(t),
			&droverv1.GetJobRequest{JobId: id}); connect.CodeOf(err) != connect.CodeNotFound {
			t.Errorf("GetJob of a withdrawn job: %v", err)
		}
		if round == 0 {
			s = s.restarted(t, cfg, known)
		}
	}
}

// The record that remains of a deleted job prevents a second run.
func TestSubmissionOfADeletedJobRunsNothing(t *testing.T) {
	cfg := configured(t, "limits: {finished: 1}")
	s := start(t, cfg)
	req := &droverv1.SubmitRequest{JobId: newID(t), Request: &droverv1.Request{Service: "print"}}
	if _, err := s.client.Submit(within(t), req); err != nil {
		t.Fatal(err)
	}
	first := s.until(t, req.GetJobId(), done)
	next := s.submit(t, &droverv1.Request{Service: "print"}).GetId()
	s.until(t, next, done)
	ctx := within(t)
	for { // deletion of the first job takes a moment
		got, err := s.client.GetJob(ctx, &droverv1.GetJobRequest{JobId: req.GetJobId()})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.GetJob().GetNodes()) == 0 {
			break
		}
	}
	for round := range 2 {
		res, err := s.client.Submit(within(t), req)
		if err != nil || res.GetJob().GetState() != done || res.GetJob().GetAttempt() != 1 ||
			!res.GetJob().GetEndedAt().AsTime().Equal(first.GetEndedAt().AsTime()) {
			t.Errorf("repeated Submit: %v, %v", res, err)
		}
		other := &droverv1.SubmitRequest{JobId: req.GetJobId(), Request: &droverv1.Request{Service: "block"}}
		if _, err := s.client.Submit(within(t), other); connect.CodeOf(err) != connect.CodeAlreadyExists {
			t.Errorf("same ID, different request: %v", err)
		}
		if round == 0 {
			s = s.restarted(t, cfg, next)
		}
	}
}

// Limits of number, size and age delete the oldest jobs first.
func TestJobsAreDeletedByNumberSizeAndAge(t *testing.T) {
	for name, c := range map[string]struct {
		limits string
		kept   int
	}{
		"number":  {"finished: 2", 2},
		"size":    {"finished_size: 1B", 0},
		"age":     {"finished_for: 1s", 0},
		"nothing": {"finished: 100", 4},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := configured(t, "limits: {"+c.limits+"}")
			s := start(t, cfg)
			var all []string
			for range 4 {
				id := s.submit(t, &droverv1.Request{Service: "print"}).GetId()
				s.until(t, id, done)
				all = append(all, id)
			}
			later := func() { // check as if a day had passed
				for i := range s.ended {
					s.ended[i].ended -= batch.Time(24 * batch.Hour)
				}
				s.expire()
			}
			count := func() (n int) {
				list, err := s.client.ListJobs(within(t), &droverv1.ServerServiceListJobsRequest{})
				if err != nil {
					t.Fatal(err)
				}
				return len(list.GetJobs())
			}
			ctx := within(t)
			for count() != c.kept && ctx.Err() == nil {
				if name != "age" {
					continue
				}
				if err := s.do(ctx, later); err != nil {
					t.Fatal(err)
				}
			}
			if n := count(); n != c.kept {
				t.Errorf("%d jobs exist, want %d", n, c.kept)
			}
			s = s.restarted(t, cfg, all[0])
			if n := count(); n != c.kept {
				t.Errorf("%d jobs exist after a restart, want %d", n, c.kept)
			}
		})
	}
}
