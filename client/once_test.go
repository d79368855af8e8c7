package client

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-9b8f70bb/drover/proto/problem"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/client/submission"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func full(context.Context, int, *droverv1.SubmitRequest) (*droverv1.SubmitResponse, error) {
	return nil, refusal(connect.CodeResourceExhausted, &droverv1.ErrorDetail{Reason: "queue-full", Message: "the queue is full", Retryable: true})
}

func TestAFullSiteWithdrawsTheJobAndTheNextOneGetsItUnderTheSameID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(10*time.Second))
		w.a.submit, w.a.withdraw = full, withdraws
		job, err := c.Submit(t.Context(), "lu")
		if err != nil || job.Site != "b" {
			t.Fatalf("job %+v, %v", job, err)
		}
		if len(w.a.withdrew) != 1 || w.a.withdrew[0] != job.ID || w.a.sent()[0].GetJobId() != job.ID {
			t.Errorf("job %s, submitted as %s, withdrawn %v", job.ID, w.a.sent()[0].GetJobId(), w.a.withdrew)
		}
	})
}

func TestASilentSiteMayStillHaveAcceptedTheJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(10*time.Second))
		w.a.submit = stuck
		w.a.withdraw = func(nth int, id string) (*droverv1.WithdrawResponse, error) {
			if nth == 1 {
				return nil, errCut
			}
			return &droverv1.WithdrawResponse{Job: &droverv1.Job{Id: id, Site: "a", State: droverv1.JobState_JOB_STATE_RUNNING}}, nil
		}
		job, err := c.Submit(t.Context(), "lu")
		if err != nil || job.Site != "a" || job.State != Running || len(w.b.sent()) > 0 {
			t.Fatalf("job %+v, %v, %d submissions at b", job, err, len(w.b.sent()))
		}
	})
}

func TestASiteThatSaysItHasWithdrawnTheJobDoesNotGetIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(10*time.Second))
		w.a.submit = func(context.Context, int, *droverv1.SubmitRequest) (*droverv1.SubmitResponse, error) {
			return nil, refusal(connect.CodeFailedPrecondition, &droverv1.ErrorDetail{Reason: "withdrawn", Message: "withdrawn before"})
		}
		job, err := c.Submit(t.Context(), "lu")
		if err != nil || job.Site != "b" || len(w.a.withdrew) > 0 {
			t.Fatalf("job %+v, %v, withdrawn %v", job, err, w.a.withdrew)
		}
	})
}

func TestASubmissionNobodyAnswersIsStartedAnewElsewhereIfThatDoesNoHarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(5*time.Second))
		w.a.submit = stuck
		w.a.withdraw = func(int, string) (*droverv1.WithdrawResponse, error) { return nil, errCut }
		began := time.Now()
		job, err := c.Submit(t.Context(), "lu", Idempotent(), Rerun(20*time.Second))
		if err != nil || job.Site != "b" {
			t.Fatalf("job %+v, %v", job, err)
		}
		first, second := w.a.sent()[0].GetJobId(), w.b.sent()[0]
		if second.GetJobId() == first || second.GetRequest().GetRetryOf() != first {
			t.Errorf("job %s is a retry of %q, the first was %s", second.GetJobId(), second.GetRequest().GetRetryOf(), first)
		}
		if took := time.Since(began); took < 20*time.Second || took > 23*time.Second {
			t.Errorf("started anew after %v", took)
		}
	})
}

func TestCallStartsAnewWhenTheSiteOfItsJobStaysSilentAndEndsTheFirstJobWhenItComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(5*time.Second))
		running := func(site string) *droverv1.Job {
			return &droverv1.Job{Id: id, Site: site, State: droverv1.JobState_JOB_STATE_RUNNING}
		}
		var was *pipes
		w.a.watch = func(_ context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
			was = w.cut("a")
			w.a.withdraw = func(int, string) (*droverv1.WithdrawResponse, error) {
				return &droverv1.WithdrawResponse{Job: &droverv1.Job{Id: w.a.sent()[0].GetJobId()}}, nil
			}
			return states(errCut, running("a"))(nil, stream)
		}
		w.a.cancel = func(int) (*droverv1.CancelJobResponse, error) {
			return &droverv1.CancelJobResponse{Job: &droverv1.Job{State: droverv1.JobState_JOB_STATE_CANCELLED}}, nil
		}
		w.b.watch = func(ctx context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
			if err := stream.Send(&droverv1.WatchJobResponse{Job: running("b")}); err != nil {
				return err
			}
			timer := time.NewTimer(time.Minute)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
			return states(nil, &droverv1.Job{Id: id, Site: "b", State: droverv1.JobState_JOB_STATE_DONE})(nil, stream)
		}
		time.AfterFunc(40*time.Second, func() {
			w.up("a", was)
		})
		var seen []string
		job, err := c.Call(t.Context(), "lu", Idempotent(), Rerun(30*time.Second), Notify(func(j *Job) { seen = append(seen, j.Site+" "+string(j.State)) }))
		if err != nil || job.Site != "b" || job.State != Done {
			t.Fatalf("job %+v, %v, seen %v", job, err, seen)
		}
		first := w.a.sent()[0].GetJobId()
		if got := w.b.sent()[0].GetRequest().GetRetryOf(); got != first {
			t.Errorf("a retry of %q, the first was %s", got, first)
		}
		if len(w.a.cancels) != 1 || w.a.cancels[0] != first {
			t.Errorf("cancelled at a: %v, the first was %s", w.a.cancels, first)
		}
	})
}

func TestOnlyAnIdempotentRequestIsStartedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(5*time.Second))
		if _, err := c.Submit(t.Context(), "lu", Rerun(time.Second)); problem.ReasonOf(err) != problem.NotIdempotent {
			t.Errorf("error %v", err)
		}
		w.a.submit = stuck
		w.a.withdraw = func(int, string) (*droverv1.WithdrawResponse, error) { return nil, errCut }
		_, err := c.Submit(t.Context(), "lu", Idempotent())
		unknown, ok := errors.AsType[*submission.UnknownError](err)
		if !ok || len(w.b.sent()) > 0 || unknown.Tries < 3 || unknown.After < 5_000_000 {
			t.Errorf("error %v, submitted at b %d times", err, len(w.b.sent()))
		}
	})
}

func TestWaitersCanStartAnewWhatTheirJobsRecordAllows(t *testing.T) {
	for name, tc := range map[string]struct {
		request *droverv1.Request
		reason  problem.Reason // of the refusal
	}{
		"idempotent and without files": {&droverv1.Request{Service: "lu", Idempotent: true}, ""},
		"not idempotent":               {&droverv1.Request{Service: "lu"}, problem.NotIdempotent},
		"with a file": {&droverv1.Request{Service: "lu", Idempotent: true, Arguments: map[string]*droverv1.Value{
			"matrix": {Kind: &droverv1.Value_FileValue{FileValue: &droverv1.File{Name: "m"}}},
		}}, problem.BadValue},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, c := newWorld(t, patient(5*time.Second))
				w.agent.at("a", 0)
				w.a.watch = func(ctx context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
					time.AfterFunc(time.Second, func() { w.cut("a") })
					_ = states(nil, &droverv1.Job{Id: id, Site: "a", State: droverv1.JobState_JOB_STATE_RUNNING, Request: tc.request})(nil, stream)
					<-ctx.Done()
					return ctx.Err()
				}
				w.b.watch = states(nil, &droverv1.Job{Site: "b", State: droverv1.JobState_JOB_STATE_DONE})
				job, err := c.WatchRerun(t.Context(), id, 10*time.Second, func(*Job) {})
				if tc.reason != "" {
					if problem.ReasonOf(err) != tc.reason || len(w.b.sent()) > 0 {
						t.Errorf("error %v", err)
					}
					return
				}
				if err != nil || job.Site != "b" || job.State != Done {
					t.Fatalf("job %+v, %v", job, err)
				}
				if r := w.b.sent()[0].GetRequest(); r.GetRetryOf() != id || r.GetService() != "lu" {
					t.Errorf("request %v", r)
				}
			})
		})
	}
}

func TestAJobThatNobodyKnowsTheRequestOfIsNotStartedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(5*time.Second))
		w.agent.at("a", 0)
		w.down("a")
		_, err := c.WatchRerun(t.Context(), id, 10*time.Second, func(*Job) {})
		if gave, ok := errors.AsType[*submission.PatienceError](err); !ok || gave.After != 10_000_000 || !strings.Contains(err.Error(), "not started anew") {
			t.Errorf("error %v", err)
		}
		if len(w.b.sent()) > 0 {
			t.Error("something was submitted")
		}
	})
}
