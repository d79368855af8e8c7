package client

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/client/clienttest"
	"github.com/seed-9b8f70bb/drover/client/submission"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestASubmissionCarriesRequestDecisionAndNewID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(10*time.Second))
		content := strings.Repeat("1 2 3 ", 100_000) // several messages
		job, err := c.Submit(t.Context(), "lu", Int("n", 3), Content("matrix", []byte(content)), Content("none", nil),
			Width(4), Walltime(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(
			job.ID,
		) {
			t.Errorf("%q is no lower-case UUIDv7", job.ID)
		}
		got := w.A.Sent()[0]
		if got.GetJobId() != job.ID || got.GetDecision().GetAgent() != "g" || job.Site != "a" || job.State != Waiting {
			t.Errorf("submitted %v, got job %+v", got, job)
		}
		r := got.GetRequest()
		if r.GetWidth() != 4 || r.GetWalltime().GetSeconds() != 60 || r.GetArguments()["n"].GetIntValue() != 3 {
			t.Errorf("request %v", r)
		}
		file := r.GetArguments()["matrix"].GetFileValue()
		if diff := cmp.Diff(map[string]string{
			file.GetSha256(): content,
			r.GetArguments()["none"].GetFileValue().GetSha256(): "",
		}, w.A.Uploads); diff != "" || file.GetSizeBytes() != 600_000 {
			t.Errorf("%d bytes, uploads (-want +got):\n%.200s", file.GetSizeBytes(), diff)
		}
	})
}

func TestSubmissionWithoutAnswerIsRepeatedAtTheSameServerUnderTheSameID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(10*time.Second))
		w.A.OnSubmit = func(ctx context.Context, nth int, req *droverv1.SubmitRequest) (*droverv1.SubmitResponse,
			error,
		) {
			if nth < 3 {
				return clienttest.Stuck(ctx, nth, req)
			}
			return w.A.Accept(req), nil
		}
		job, err := c.Submit(t.Context(), "lu")
		if err != nil {
			t.Fatal(err)
		}
		if len(w.A.Sent()) != 3 || len(w.B.Sent()) != 0 || len(w.Agent.Mapped) != 1 {
			t.Errorf("%d submissions at a, %d at b, mapped %d times", len(w.A.Sent()), len(w.B.Sent()),
				len(w.Agent.Mapped))
		}
		for _, s := range w.A.Sent() {
			if s.GetJobId() != job.ID {
				t.Errorf("submitted as %s and %s", job.ID, s.GetJobId())
			}
		}
	})
}

func TestSubmissionGoesElsewhereOnlyWhenNothingWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(10*time.Second))
		w.Down("a")
		job, err := c.Submit(t.Context(), "lu")
		if err != nil || job.Site != "b" {
			t.Fatalf("job %+v, %v", job, err)
		}
	})
}

func TestBusyServerIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(10*time.Second))
		w.A.OnSubmit = func(_ context.Context, nth int, req *droverv1.SubmitRequest) (*droverv1.SubmitResponse, error) {
			if nth == 1 {
				return nil, clienttest.Refusal(connect.CodeUnavailable, &droverv1.ErrorDetail{
					Reason: "stopping", Message: "stopping", Retryable: true,
				})
			}
			return w.A.Accept(req), nil
		}
		job, err := c.Submit(t.Context(), "lu")
		if err != nil || job.Site != "a" || len(w.A.Sent()) != 2 {
			t.Fatalf("job %+v, %v, %d submissions", job, err, len(w.A.Sent()))
		}
	})
}

func TestARequestGoesElsewhereWhenItsFilesAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(10*time.Second))
		w.A.Refuse = &problem.Problem{Reason: problem.TooLarge, Message: "9 bytes"}
		job, err := c.Submit(t.Context(), "lu", Content("matrix", []byte("1 2 3")))
		if err != nil || job.Site != "b" || len(w.A.Sent()) > 0 || len(w.B.Uploads) != 1 {
			t.Fatalf("job %+v, %v", job, err)
		}
	})
}

func TestAFileThatEverySiteRefusesFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(10*time.Second))
		w.A.Refuse = &problem.Problem{Reason: problem.TooLarge, Message: "9 bytes"}
		w.B.Refuse = w.A.Refuse
		began := time.Now()
		_, err := c.Submit(t.Context(), "lu", Content("matrix", []byte("1 2 3")))
		if e, ok := errors.AsType[*problem.Problem](err); !ok || e.Reason != "too-large" ||
			time.Since(began) > time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

func TestDescribingAServiceIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(10*time.Second))
		w.Agent.Service = &droverv1.Service{
			Name: "sleep", Arguments: []*droverv1.Argument{{Name: "n", Type: droverv1.ArgumentType_ARGUMENT_TYPE_INT}},
		}
		agent := w.Down("agent")
		time.AfterFunc(3*time.Second, func() { w.Up("agent", agent) })
		job, err := c.Submit(t.Context(), "sleep", Text("n", "3"))
		if err != nil || job.Site != "a" || w.A.Sent()[0].GetRequest().GetArguments()["n"].GetIntValue() != 3 {
			t.Fatalf("job %+v, %v", job, err)
		}
		w, c = newWorld(t, patient(10*time.Second))
		w.Down("agent")
		began := time.Now()
		_, err = c.Submit(t.Context(), "sleep", Text("n", "3"))
		if e, ok := errors.AsType[*problem.Problem](err); !ok || e.Reason != problem.Unreachable ||
			time.Since(began) != 10*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// A width of 0 stands for none on the wire, so the agent would not refuse it.
func TestZeroWidthIsRefusedLocally(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(10*time.Second))
		_, err := c.Submit(t.Context(), "lu", Width(0))
		if e, ok := errors.AsType[*problem.Problem](err); !ok || e.Reason != problem.OutOfRange ||
			e.Field != "request.width" || e.Accepted == "" {
			t.Error(err)
		}
		if n := len(w.Agent.Mapped); n > 0 {
			t.Errorf("%d requests were mapped", n)
		}
	})
}

func TestASubmissionWithoutAnAnswerIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(5*time.Second))
		w.A.OnSubmit = clienttest.Stuck
		began := time.Now()
		_, err := c.Submit(t.Context(), "lu")
		unknown, ok := errors.AsType[*submission.UnknownError](err)
		if !ok || unknown.Job != w.A.Sent()[0].GetJobId() || unknown.Target.Site != "a" {
			t.Fatalf("error %v", err)
		}
		if e, ok := errors.AsType[*problem.Problem](err); !ok || e.Reason != problem.Timeout {
			t.Errorf("because of %v", unknown.Err)
		}
		if took := time.Since(began); took < 5*time.Second || took > 8*time.Second {
			t.Errorf("gave up after %v", took)
		}
		if len(w.B.Sent()) > 0 {
			t.Error("it was submitted elsewhere, too")
		}
	})
}

func TestASubmissionAbandonedAfterSendingIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(5*time.Second))
		w.A.OnSubmit = clienttest.Stuck
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, err := c.Submit(ctx, "lu")
		if _, ok := errors.AsType[*submission.UnknownError](err); !ok || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

func TestASubmissionAbandonedBeforeSendingIsNotUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(5*time.Second))
		w.Down("agent")
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, err := c.Submit(ctx, "lu")
		if _, ok := errors.AsType[*submission.UnknownError](err); ok || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

// A server's sentence names the field as a rule, an agent's does not.
func TestAnErrorNamesItsFieldOnce(t *testing.T) {
	e := &problem.Problem{Field: "request.owner", Accepted: "at most 255 bytes"}
	for _, e.Message = range []string{
		"300 bytes", "request.owner: 300 bytes", "request.owner: 300 bytes, accepted: at most 255 bytes",
	} {
		if got, want := e.Error(), "request.owner: 300 bytes, accepted: at most 255 bytes"; got != want {
			t.Errorf("%q reads %q, want %q", e.Message, got, want)
		}
	}
}

func TestARefusalKeepsAllItsFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(5*time.Second))
		w.Agent.MapErr = clienttest.Refusal(connect.CodeInvalidArgument, &droverv1.ErrorDetail{
			Reason: "out-of-range", Field: "request.width", Accepted: "1..64", Message: "0", Hint: "less",
			Retryable: false,
		})
		_, err := c.Submit(t.Context(), "lu")
		e, ok := errors.AsType[*problem.Problem](err)
		if !ok || e.Reason != "out-of-range" || e.Field != "request.width" || e.Accepted != "1..64" ||
			e.Hint != "less" || e.Retryable {
			t.Fatalf("%#v", err)
		}
		if got, want := e.Error(), "request.width: 0, accepted: 1..64"; got != want {
			t.Errorf("says %q, want %q", got, want)
		}
		if len(w.Agent.Mapped) != 1 {
			t.Errorf("asked %d times", len(w.Agent.Mapped))
		}
	})
}

func TestTypedTextIsReadByTheTypesOfTheService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(5*time.Second))
		w.Agent.Service = &droverv1.Service{Name: "s", Arguments: []*droverv1.Argument{
			{Name: "i", Type: droverv1.ArgumentType_ARGUMENT_TYPE_INT},
			{Name: "f", Type: droverv1.ArgumentType_ARGUMENT_TYPE_FLOAT},
			{Name: "b", Type: droverv1.ArgumentType_ARGUMENT_TYPE_BOOL},
			{Name: "s", Type: droverv1.ArgumentType_ARGUMENT_TYPE_STRING},
			{Name: "bad", Type: droverv1.ArgumentType_ARGUMENT_TYPE_INT},
			{Name: "out", Type: droverv1.ArgumentType_ARGUMENT_TYPE_FILE_OUT},
		}}
		_, err := c.Submit(t.Context(), "s",
			Text("i", "3"), Text("f", "3"), Text("b", "true"), Text("s", "3"), Text("bad", "3.5"), Text("more", "x"),
			Text("out", "path"))
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]string)
		for name, v := range w.A.Sent()[0].GetRequest().GetArguments() {
			switch v.GetKind().(type) {
			case *droverv1.Value_IntValue:
				got[name] = "int"
			case *droverv1.Value_FloatValue:
				got[name] = "float"
			case *droverv1.Value_BoolValue:
				got[name] = "bool"
			case *droverv1.Value_StringValue:
				got[name] = "string"
			}
		}
		want := map[string]string{
			"i": "int", "f": "float", "b": "bool", "s": "string", "bad": "string", "more": "string",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestInvalidRequestsAreRefusedLocally(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, patient(5*time.Second))
		if _, err := c.Submit(t.Context(), "lu", File("matrix", filepath.Join(t.TempDir(), "none"))); !errors.Is(err,
			fs.ErrNotExist) {
			t.Errorf("a file that is not there: %v", err)
		}
		for name, args := range map[string][]Arg{"twice": {Int("n", 1), Int("n", 2)}, "width": {Width(-1)}} {
			if e, ok := errors.AsType[*problem.Problem](func() error {
				_, err := c.Submit(t.Context(), "lu", args...)
				return err
			}()); !ok || e.Field == "" {
				t.Errorf("%s: %v", name, e)
			}
		}
		if len(w.Agent.Mapped) > 0 {
			t.Error("the agent was asked")
		}
	})
}
