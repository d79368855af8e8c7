package client

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/client/clienttest"
	"github.com/seed-9b8f70bb/drover/client/submission"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestAFullSiteWithdrawsTheJobAndTheNextOneGetsItUnderTheSameID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(10*time.Second))
		w.A.OnSubmit, w.A.OnWithdraw = clienttest.Full, clienttest.Withdraws
		job, err := c.Submit(t.Context(), "lu")
		if err != nil || job.Site != "b" {
			t.Fatalf("job %+v, %v", job, err)
		}
		if len(w.A.Withdrew) != 1 || w.A.Withdrew[0] != job.ID || w.A.Sent()[0].GetJobId() != job.ID {
			t.Errorf("job %s, submitted as %s, withdrawn %v", job.ID, w.A.Sent()[0].GetJobId(), w.A.Withdrew)
		}
	})
}

func TestASilentSiteMayStillHaveAcceptedTheJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(10*time.Second))
		w.A.OnSubmit = clienttest.Stuck
		w.A.OnWithdraw = func(nth int, id string) (*droverv1.WithdrawResponse, error) {
			if nth == 1 {
				return nil, clienttest.ErrCut
			}
			return &droverv1.WithdrawResponse{Job: &droverv1.Job{
				Id: id, Site: "a", State: droverv1.JobState_JOB_STATE_RUNNING,
			}}, nil
		}
		job, err := c.Submit(t.Context(), "lu")
		if err != nil || job.Site != "a" || job.State != Running || len(w.B.Sent()) > 0 {
			t.Fatalf("job %+v, %v, %d submissions at b", job, err, len(w.B.Sent()))
		}
	})
}

func TestAJobGoesElsewhereAfterAWithdrawal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(10*time.Second))
		w.A.OnSubmit = func(context.Context, int, *droverv1.SubmitRequest) (*droverv1.SubmitResponse, error) {
			return nil, clienttest.Refusal(connect.CodeFailedPrecondition, &droverv1.ErrorDetail{
				Reason: "withdrawn", Message: "withdrawn before",
			})
		}
		job, err := c.Submit(t.Context(), "lu")
		if err != nil || job.Site != "b" || len(w.A.Withdrew) > 0 {
			t.Fatalf("job %+v, %v, withdrawn %v", job, err, w.A.Withdrew)
		}
	})
}

func TestAnIdempotentRequestGetsANewAttemptWhenTheServerIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(5*time.Second))
		w.A.OnSubmit = clienttest.Stuck
		w.A.OnWithdraw = func(int, string) (*droverv1.WithdrawResponse, error) { return nil, clienttest.ErrCut }
		began := time.Now()
		job, err := c.Submit(t.Context(), "lu", Idempotent(), Rerun(20*time.Second))
		if err != nil || job.Site != "b" {
			t.Fatalf("job %+v, %v", job, err)
		}
		first, second := w.A.Sent()[0].GetJobId(), w.B.Sent()[0]
		if second.GetJobId() == first || second.GetRequest().GetRetryOf() != first {
			t.Errorf("job %s is a retry of %q, the first was %s", second.GetJobId(), second.GetRequest().GetRetryOf(),
				first)
		}
		if took := time.Since(began); took < 20*time.Second || took > 23*time.Second {
			t.Errorf("new attempt after %v", took)
		}
	})
}

func TestCallReplacesALostAttemptAndCancelsItLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(5*time.Second))
		running := func(site string) *droverv1.Job {
			return &droverv1.Job{Id: id, Site: site, State: droverv1.JobState_JOB_STATE_RUNNING}
		}
		var was *clienttest.Pipes
		w.A.OnWatch = func(_ context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
			was = w.Cut("a")
			w.A.OnWithdraw = func(int, string) (*droverv1.WithdrawResponse, error) {
				return &droverv1.WithdrawResponse{Job: &droverv1.Job{Id: w.A.Sent()[0].GetJobId()}}, nil
			}
			return clienttest.States(clienttest.ErrCut, running("a"))(nil, stream)
		}
		w.A.OnCancel = func(int) (*droverv1.CancelJobResponse, error) {
			return &droverv1.CancelJobResponse{Job: &droverv1.Job{State: droverv1.JobState_JOB_STATE_CANCELLED}}, nil
		}
		w.B.OnWatch = func(ctx context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
			if err := stream.Send(&droverv1.WatchJobResponse{Job: running("b")}); err != nil {
				return err
			}
			timer := time.NewTimer(time.Minute)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
			return clienttest.States(nil, &droverv1.Job{Id: id, Site: "b", State: droverv1.JobState_JOB_STATE_DONE})(
				nil, stream,
			)
		}
		time.AfterFunc(40*time.Second, func() {
			w.Up("a", was)
		})
		var seen []string
		job, err := c.Call(t.Context(), "lu", Idempotent(), Rerun(30*time.Second),
			Notify(func(j *Job) { seen = append(seen, j.Site+" "+string(j.State)) }))
		if err != nil || job.Site != "b" || job.State != Done {
			t.Fatalf("job %+v, %v, seen %v", job, err, seen)
		}
		first := w.A.Sent()[0].GetJobId()
		if got := w.B.Sent()[0].GetRequest().GetRetryOf(); got != first {
			t.Errorf("a retry of %q, the first was %s", got, first)
		}
		if len(w.A.Cancels) != 1 || w.A.Cancels[0] != first {
			t.Errorf("cancelled at a: %v, the first was %s", w.A.Cancels, first)
		}
	})
}

func TestOnlyAnIdempotentRequestGetsANewAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(5*time.Second))
		if _, err := c.Submit(t.Context(), "lu", Rerun(time.Second)); problem.ReasonOf(err) != problem.NotIdempotent {
			t.Errorf("error %v", err)
		}
		w.A.OnSubmit = clienttest.Stuck
		w.A.OnWithdraw = func(int, string) (*droverv1.WithdrawResponse, error) { return nil, clienttest.ErrCut }
		_, err := c.Submit(t.Context(), "lu", Idempotent())
		unknown, ok := errors.AsType[*submission.UnknownError](err)
		if !ok || len(w.B.Sent()) > 0 || unknown.Tries < 3 || unknown.After < 5_000_000 {
			t.Errorf("error %v, submitted at b %d times", err, len(w.B.Sent()))
		}
	})
}

func TestWatchRerunSubmitsTheRequestOfTheRecord(t *testing.T) {
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
				w.Agent.At("a", 0)
				w.A.OnWatch = func(ctx context.Context, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
					time.AfterFunc(time.Second, func() { w.Cut("a") })
					_ = clienttest.States(nil,
						&droverv1.Job{
							Id: id, Site: "a", State: droverv1.JobState_JOB_STATE_RUNNING, Request: tc.request,
						})(nil, stream)
					<-ctx.Done()
					return ctx.Err()
				}
				w.B.OnWatch = clienttest.States(nil, &droverv1.Job{Site: "b", State: droverv1.JobState_JOB_STATE_DONE})
				job, err := c.WatchRerun(t.Context(), id, 10*time.Second, func(*Job) {})
				if tc.reason != "" {
					if problem.ReasonOf(err) != tc.reason || len(w.B.Sent()) > 0 {
						t.Errorf("error %v", err)
					}
					return
				}
				if err != nil || job.Site != "b" || job.State != Done {
					t.Fatalf("job %+v, %v", job, err)
				}
				if r := w.B.Sent()[0].GetRequest(); r.GetRetryOf() != id || r.GetService() != "lu" {
					t.Errorf("request %v", r)
				}
			})
		})
	}
}

func TestAJobWithoutAKnownRequestGetsNoNewAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(5*time.Second))
		w.Agent.At("a", 0)
		w.Down("a")
		_, err := c.WatchRerun(t.Context(), id, 10*time.Second, func(*Job) {})
		if gave, ok := errors.AsType[*submission.PatienceError](err); !ok || gave.After != 10_000_000 ||
			!strings.Contains(err.Error(), "no new attempt") {
			t.Errorf("error %v", err)
		}
		if len(w.B.Sent()) > 0 {
			t.Error("something was submitted")
		}
	})
}
