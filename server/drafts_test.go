package server

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// open creates a draft and releases it for a lease.
func (ds *drafts) open(t *testing.T, round string, lease time.Duration) {
	t.Helper()
	d, err := ds.begin(round)
	if err != nil {
		t.Fatal(err)
	}
	d.core = &site.Draft{}
	ds.done(d, lease)
}

// there reports whether the round has a draft, and renews its lease.
func (ds *drafts) there(t *testing.T, round string, lease time.Duration) bool {
	t.Helper()
	d, err := ds.take(context.Background(), round)
	if err != nil {
		checkRefused(t, err, problem.UnknownRound)
		return false
	}
	ds.done(d, lease)
	return true
}

// pass advances virtual time by d.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // virtual time
	synctest.Wait()
}

// checkRefused fails the test unless err is a refusal for this reason.
func checkRefused(t *testing.T, err error, reason problem.Reason) {
	t.Helper()
	if p := problemOf(err); p == nil || p.Reason != reason {
		t.Errorf("%v, want %s", err, reason)
	}
}

func TestDraftLivesForItsLeaseAfterTheLastCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := newDrafts(4)
		ds.open(t, "r", time.Minute)
		for range 3 {
			pass(59 * time.Second)
			if !ds.there(t, "r", time.Minute) {
				t.Fatal("the draft is gone before its lease ends")
			}
		}
		if !ds.there(t, "r", time.Second) { // each call sets its lease
			t.Fatal("the draft is gone")
		}
		pass(time.Second)
		if len(ds.all) != 0 || ds.there(t, "r", time.Minute) {
			t.Error("the draft outlived its lease")
		}
	})
}

func TestDraftInUseOutlivesItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := newDrafts(1)
		ds.open(t, "r", time.Minute)
		d, err := ds.take(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		pass(time.Hour)
		// Other calls wait until the draft is free or their context ends.
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := ds.take(short, "r"); err == nil {
			t.Error("two calls use the draft at the same time")
		}
		next := make(chan error)
		go func() {
			d, err := ds.take(context.Background(), "r")
			if err == nil {
				pass(time.Hour)
				ds.done(d, time.Second)
			}
			next <- err
		}()
		synctest.Wait()
		ds.done(d, time.Second)
		if err := <-next; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		pass(time.Second)
		if ds.there(t, "r", time.Second) {
			t.Error("the last lease does not expire")
		}
	})
}

func TestNumberOfDraftsIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := newDrafts(2)
		ds.open(t, "a", time.Minute)
		ds.open(t, "b", time.Hour)
		_, err := ds.begin("c")
		checkRefused(t, err, problem.TooManyDrafts)
		ds.open(t, "b", time.Hour) // renews it, in the same slot
		pass(time.Minute)
		ds.open(t, "c", time.Hour)
		if d, err := ds.take(t.Context(), "b"); err != nil {
			t.Error(err)
		} else {
			ds.done(d, 0) // ended
		}
		ds.open(t, "d", time.Hour)
		none := newDrafts(0)
		_, err = none.begin("a")
		checkRefused(t, err, problem.NoDrafts)
		ds.close()
		_, err = ds.begin("e")
		checkRefused(t, err, problem.Stopping)
		if len(ds.all) != 0 {
			t.Error("a finished draft still counts")
		}
	})
}

func TestRenewedDraftOutlivesTheOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := newDrafts(1)
		ds.open(t, "r", time.Minute)
		old, err := ds.take(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		ds.open(t, "r", time.Hour)
		ds.done(old, 0)
		pass(time.Minute)
		if !ds.there(t, "r", time.Minute) {
			t.Error("the new draft is gone")
		}
		// A draft that failed to open leaves nothing behind.
		failed, err := ds.begin("r")
		if err != nil {
			t.Fatal(err)
		}
		waiter := make(chan error)
		go func() {
			_, err := ds.take(context.Background(), "r")
			waiter <- err
		}()
		synctest.Wait()
		ds.done(failed, 0)
		checkRefused(t, <-waiter, problem.UnknownRound)
		if len(ds.all) != 0 {
			t.Error("the failed draft left something behind")
		}
	})
}

// wide requests the whole machine for 50 s.
var wide = &droverv1.Request{Service: "block", Width: 4}

func (s *testSite) draft(t testing.TB, req *droverv1.DraftRequest) *droverv1.DraftResponse {
	t.Helper()
	res, err := s.client.Draft(within(t), req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func standing(ids ...string) (list []*droverv1.DraftQuestion) {
	for _, id := range ids {
		list = append(list, &droverv1.DraftQuestion{JobId: id})
	}
	return list
}

// quotes50 returns quotes in units of the 50 s of a wide job, counted from the end of the
// running job, or the reason of a refusal.
func quotes50(quotes []*droverv1.Quote) string {
	var list []string
	for _, q := range quotes {
		switch {
		case q.GetRefusal() != nil:
			list = append(list, q.GetRefusal().GetReason())
		case q.GetWidth() == 0:
			list = append(list, "-")
		default:
			list = append(list, fmt.Sprint(int64(q.GetCompletion().AsDuration()/(50*time.Second))))
		}
	}
	return strings.Join(list, " ")
}

func TestRoundWorksOnACopyOfThePlan(t *testing.T) {
	for _, policy := range []string{"fcfs", "easy", "cbf"} {
		t.Run(policy, func(t *testing.T) {
			s, busy, queue := crew(t, configured(t, "policy: {name: "+policy+"}"))
			all := append([]string{busy}, queue...)
			elsewhere := newID(t)
			res := s.draft(t, &droverv1.DraftRequest{Round: "r", Begin: true, Questions: standing(all...)})
			if got := quotes50(res.GetAnswers()); got != "not-waiting 1 2 3 4 5" {
				t.Errorf("unedited draft: %s", got)
			}
			q := res.GetAnswers()[2]
			if q.GetWidth() != 4 || q.GetWalltime().AsDuration() != 50*time.Second ||
				q.GetWait().AsDuration()+q.GetRun().AsDuration() != q.GetCompletion().AsDuration() || q.GetKind() == 0 {
				t.Errorf("quote %v", q)
			}
			res = s.draft(t, &droverv1.DraftRequest{
				Round: "r", Questions: append(standing(all...), &droverv1.DraftQuestion{
					JobId: elsewhere, Request: wide,
				}),
				Edits: []*droverv1.DraftEdit{
					{JobId: queue[0]},
					{JobId: queue[2]},
					{JobId: busy},
					{JobId: elsewhere},
					{JobId: queue[0], Put: true, Request: wide},
					{JobId: elsewhere, Put: true, Request: wide, NotBefore: seconds(400)},
					{JobId: elsewhere, Put: true, Request: wide},
				},
			})
			if got := quotes50(res.GetEdits()); got != "- - not-waiting unknown-job 4 9 job-conflict" {
				t.Errorf("edits: %s", got)
			}
			if got := quotes50(res.GetAnswers()); got != "not-waiting 4 1 not-waiting 2 3 5" {
				t.Errorf("after the edits: %s", got)
			}
			if res.GetAge() == nil {
				t.Error("the draft has no age")
			}
			// The plan itself is unchanged.
			other := s.draft(t, &droverv1.DraftRequest{
				Round: "r2", Begin: true, End: true, Questions: standing(all...),
			})
			if got := quotes50(other.GetAnswers()); got != "not-waiting 1 2 3 4 5" {
				t.Errorf("the plan: %s", got)
			}
			s.draft(t, &droverv1.DraftRequest{Round: "r", End: true})
			s.draft(t, &droverv1.DraftRequest{Round: "r", End: true}) // ending it twice is harmless
			_, err := s.client.Draft(within(t), &droverv1.DraftRequest{Round: "r", Questions: standing(busy)})
			if code, d := detail(t, err); code != connect.CodeNotFound || d.GetReason() != "unknown-round" {
				t.Errorf("after the end: %v", err)
			}
		})
	}
}

// A draft's quote after an edit equals the site's quote after the same change.
func TestDraftPredictsTheEffectOfAnEdit(t *testing.T) {
	s, _, queue := crew(t, configured(t, "policy: {name: cbf}"))
	began := time.Now()
	res := s.draft(t, &droverv1.DraftRequest{
		Round: "r", Begin: true, Edits: []*droverv1.DraftEdit{{JobId: queue[1]}, {JobId: queue[4]}},
		Questions: []*droverv1.DraftQuestion{{JobId: newID(t), Request: &droverv1.Request{Service: "block"}}},
	})
	for _, id := range []string{queue[1], queue[4]} {
		if _, err := s.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: id}); err != nil {
			t.Fatal(err)
		}
		s.until(t, id, cancelled)
	}
	real, err := s.client.Estimate(within(t), &droverv1.EstimateRequest{Request: &droverv1.Request{Service: "block"}})
	if err != nil {
		t.Fatal(err)
	}
	predicted, now := res.GetAnswers()[0], real.GetQuote()
	passed := time.Since(began)
	if late := predicted.GetCompletion().AsDuration() - now.GetCompletion().AsDuration(); late < 0 || late > passed ||
		predicted.GetWidth() != now.GetWidth() {
		t.Errorf("predicted %v, got %v, %v later", predicted, now, passed)
	}
}

func TestDraftRefusesInvalidEditsWithAReason(t *testing.T) {
	s, busy, queue := crew(t, configured(t, "limits: {drafts: 1, waiting: 5}"))
	id := newID(t)
	many := make([]*droverv1.DraftQuestion, mostDrafted)
	for i := range many {
		many[i] = &droverv1.DraftQuestion{JobId: id}
	}
	s.draft(t, &droverv1.DraftRequest{Round: "r", Begin: true, Questions: many})
	for name, tc := range map[string]struct {
		req            *droverv1.DraftRequest
		code           connect.Code
		reason, field  string
		accepted, hint string
	}{
		"no round": {
			&droverv1.DraftRequest{Begin: true}, connect.CodeInvalidArgument, "bad-value", "round", "a unique name", "",
		},
		"long round": {
			&droverv1.DraftRequest{Round: strings.Repeat("r", 256)}, connect.CodeInvalidArgument,
			"out-of-range", "round", "255", "",
		},
		"no lease": {
			&droverv1.DraftRequest{
				Round: "r",
				Lease: &durationpb.Duration{},
			}, connect.CodeInvalidArgument, "out-of-range", "lease", "1s..1h0m0s", "",
		},
		"huge lease": {
			&droverv1.DraftRequest{
				Round: "r",
				Lease: seconds(3601),
			}, connect.CodeInvalidArgument, "out-of-range", "lease", "1s..1h0m0s", "",
		},
		"negative lease": {
			&droverv1.DraftRequest{
				Round: "r",
				Lease: seconds(-1),
			}, connect.CodeInvalidArgument, "out-of-range", "lease", "1s..1h0m0s", "",
		},
		"too many questions": {
			&droverv1.DraftRequest{Round: "r", Questions: append(many,
				many[0])}, connect.CodeInvalidArgument, "out-of-range", "questions", "at most 10000",
			"several calls",
		},
		"junk for a job": {
			&droverv1.DraftRequest{Round: "r", Edits: []*droverv1.DraftEdit{
				{JobId: id},
				{JobId: "../x"},
			}}, connect.CodeInvalidArgument, "bad-value",
			"edits[1].job_id", "UUIDv7", "",
		},
		"junk in a question": {
			&droverv1.DraftRequest{
				Round:     "r",
				Questions: standing(""),
			}, connect.CodeInvalidArgument, "bad-value", "questions[0].job_id", "UUIDv7", "",
		},
		"a request of what is taken out": {
			&droverv1.DraftRequest{Round: "r", Edits: []*droverv1.DraftEdit{{
				JobId:   id,
				Request: wide,
			}}}, connect.CodeInvalidArgument, "bad-value",
			"edits[0].request", "none", "",
		},
		"a transfer of what stands": {
			&droverv1.DraftRequest{
				Round: "r", Questions: []*droverv1.DraftQuestion{{JobId: id, NotBefore: seconds(1)}},
			},
			connect.CodeInvalidArgument, "bad-value", "questions[0].not_before", "none", "",
		},
		"one round too many": {
			&droverv1.DraftRequest{
				Round: "r2",
				Begin: true,
			}, connect.CodeResourceExhausted, "too-many-drafts", "begin", "at most 1", "",
		},
		"an unknown round": {
			&droverv1.DraftRequest{Round: "r2"}, connect.CodeNotFound, "unknown-round", "round", "",
			"begin a new round",
		},
	} {
		_, err := s.client.Draft(within(t), tc.req)
		code, d := detail(t, err)
		if code != tc.code || d.GetReason() != tc.reason || d.GetField() != tc.field ||
			!strings.Contains(d.GetAccepted(), tc.accepted) ||
			!strings.Contains(d.GetHint(), tc.hint) || d.GetMessage() == "" ||
			d.GetRetryable() != (tc.reason == "too-many-drafts") {
			t.Errorf("%s: %v %v", name, code, d)
		}
	}
	// The draft is unchanged. An invalid request gets its own refusal. A full queue takes no
	// job until another one leaves.
	ask := func(r *droverv1.Request) *droverv1.DraftQuestion {
		return &droverv1.DraftQuestion{JobId: id, Request: r}
	}
	res := s.draft(t, &droverv1.DraftRequest{
		Round: "r", Edits: []*droverv1.DraftEdit{{JobId: id, Put: true, Request: wide}, {JobId: id, Put: true}},
		Questions: append(standing(busy, queue[0], id), ask(wide), ask(&droverv1.Request{Service: "block", Cpu: 7})),
	})
	if got := quotes50(res.GetEdits()); got != "queue-full bad-value" {
		t.Errorf("edits of a full queue: %s", got)
	}
	if got := quotes50(res.GetAnswers()); got != "not-waiting 1 unknown-job queue-full out-of-range" {
		t.Errorf("answers of a full queue: %s", got)
	}
	res = s.draft(t, &droverv1.DraftRequest{
		Round: "r", Edits: []*droverv1.DraftEdit{{JobId: queue[0]}},
		Questions: []*droverv1.DraftQuestion{
			ask(wide), ask(&droverv1.Request{Service: "x"}),
			ask(&droverv1.Request{Service: "block", Width: 9}),
			ask(&droverv1.Request{Service: "block", Walltime: seconds(0)}),
		},
	})
	if got := quotes50(res.GetAnswers()); got != "5 unknown-service too-wide out-of-range" {
		t.Errorf("answers: %s", got)
	}
	if f := res.GetAnswers()[2].GetRefusal(); f.GetField() != "request.width" || !strings.Contains(f.GetAccepted(),
		"4") {
		t.Errorf("too wide: %v", f)
	}
}

func TestDraftOfADrainingSiteOnlyReleasesJobs(t *testing.T) {
	s, _, queue := crew(t, configured(t, ""))
	if _, err := s.client.SetDraining(within(t), &droverv1.SetDrainingRequest{Draining: true}); err != nil {
		t.Fatal(err)
	}
	id := newID(t)
	res := s.draft(t, &droverv1.DraftRequest{
		Round: "r", Begin: true, Edits: []*droverv1.DraftEdit{{JobId: id, Put: true, Request: wide}, {JobId: queue[0]}},
		Questions: append(standing(queue[1]), &droverv1.DraftQuestion{JobId: id, Request: wide}),
	})
	if got := quotes50(append(res.GetEdits(), res.GetAnswers()...)); got != "draining - 1 draining" {
		t.Error(got)
	}
}

func TestSiteCanOptOutOfRounds(t *testing.T) {
	s := start(t, configured(t, "limits: {drafts: 0}"))
	_, err := s.client.Draft(within(t), &droverv1.DraftRequest{Round: "r", Begin: true})
	if code, d := detail(t, err); code != connect.CodeUnimplemented || d.GetReason() != "no-drafts" ||
		d.GetHint() == "" {
		t.Errorf("%v", err)
	}
}

func TestMovableJobsAreListed(t *testing.T) {
	s, _, queue := crew(t, configured(t, ""))
	s.hold(t, "r", 600, queue[1])
	res, err := s.client.ListJobs(within(t),
		&droverv1.ServerServiceListJobsRequest{Filter: "state=waiting movable=true"})
	if err != nil || len(res.GetJobs()) != 4 || res.GetJobs()[0].GetId() != queue[0] ||
		res.GetJobs()[0].GetRequest().GetService() != "block" {
		t.Errorf("%v, %v", res, err)
	}
}

// Several rounds run concurrently, each with two calls at a time, while jobs come and go.
func TestDraftsWorkWhileTheSiteIsBusy(t *testing.T) {
	s, _, queue := crew(t, configured(t, "policy: {name: easy}"))
	var work sync.WaitGroup
	for _, round := range []string{"a", "b", "c"} {
		s.draft(t, &droverv1.DraftRequest{Round: round, Begin: true})
		for range 2 {
			work.Go(func() {
				for i := range 10 {
					id := newID(t)
					res, err := s.client.Draft(within(t), &droverv1.DraftRequest{
						Round: round, Begin: i == 5, Edits: []*droverv1.DraftEdit{{JobId: queue[i%5]}, {
							JobId: id, Put: true,
							Request: wide,
						}},
						Questions: append(standing(queue...), &droverv1.DraftQuestion{JobId: id, Request: wide}),
					})
					if err != nil || quotes50(res.GetEdits()[1:]) == "-" || len(res.GetAnswers()) != 6 {
						t.Errorf("%v, %v", res, err)
					}
				}
			})
		}
	}
	for range 10 {
		j := s.submit(t, wide)
		if _, err := s.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: j.GetId()}); err != nil {
			t.Error(err)
		}
	}
	work.Wait()
}
