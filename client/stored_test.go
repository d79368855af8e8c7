package client

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/seed-9b8f70bb/drover/client/clienttest"
	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/client/submission"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestDataIsCopiedToTheServerBeforeTheSubmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(10*time.Second))
		g.Keep("b", handle, "one", &droverv1.Data{Content: &droverv1.File{Name: "a.mtx"}})
		g.Keep("a", handle2, "two", &droverv1.Data{
			Element: droverv1.ElementType_ELEMENT_TYPE_UINT8, Dimensions: []int64{1, 3},
		})
		var reported []string
		job, err := c.Submit(t.Context(), "lu", Stored("matrix", &Data{ID: handle}), Stored("b", &Data{ID: handle2}),
			Sending(func(name string, sent, size int64) { reported = append(reported, name) }))
		if err != nil || job.Site != "a" {
			t.Fatalf("%+v, %v", job, err)
		}
		if diff := cmp.Diff([]string{"a/" + handle}, g.Copies); diff != "" {
			t.Errorf("copied (-want +got)\n%s", diff)
		}
		if diff := cmp.Diff([]string{"matrix"}, reported); diff != "" {
			t.Errorf("reported (-want +got)\n%s", diff)
		}
		args := g.A.Sent()[0].GetRequest().GetArguments()
		if f := args["matrix"].GetFileValue(); f.GetDataId() != handle || f.GetName() != "a.mtx" ||
			f.GetSha256() != "" {
			t.Errorf("the file is %v", args["matrix"])
		}
		a := args["b"].GetArrayValue()
		if a.GetContent().GetDataId() != handle2 || a.GetElement() != droverv1.ElementType_ELEMENT_TYPE_UINT8 ||
			!cmp.Equal(a.GetDimensions(), []int64{1, 3}) {
			t.Errorf("the matrix is %v", args["b"])
		}
		mapped := g.Agent.Mapped[0].GetRequest().GetArguments()["matrix"]
		if mapped.GetFileValue().GetDataId() != handle {
			t.Errorf("the agent was asked about %v", mapped)
		}
		if len(g.A.Uploads) > 0 {
			t.Errorf("the client has sent %v", g.A.Uploads)
		}
	})
}

func TestEvictedDataIsCopiedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(10*time.Second))
		g.Keep("b", handle, "one", nil)
		g.A.OnSubmit = func(_ context.Context, nth int, req *droverv1.SubmitRequest) (*droverv1.SubmitResponse, error) {
			if nth < 3 {
				g.Mu.Lock()
				delete(g.Held["a"], handle)
				g.Mu.Unlock()
				return nil, clienttest.Unknown(handle)
			}
			return g.A.Accept(req), nil
		}
		if job, err := c.Submit(t.Context(), "lu", Stored("matrix", &Data{ID: handle})); err != nil ||
			job.Site != "a" || len(g.Copies) != 3 {
			t.Fatalf("%+v, %v after %v", job, err, g.Copies)
		}
		ids := make(map[string]bool)
		for _, s := range g.A.Sent() {
			ids[s.GetJobId()] = true
		}
		if len(ids) != 1 {
			t.Errorf("under %d IDs", len(ids))
		}
		g.A.OnSubmit = func(context.Context, int, *droverv1.SubmitRequest) (*droverv1.SubmitResponse, error) {
			return nil, clienttest.Unknown(handle)
		}
		_, err := c.Submit(t.Context(), "lu", Stored("matrix", &Data{ID: handle}))
		_ = errorOfReason(t, err, "unknown-data")
	})
}

func TestARequestGoesElsewhereWhenItsDataCannotBeCopied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(10*time.Second))
		g.Keep("b", handle, "one", nil)
		g.OnCopy = func(int, *connect.ServerStream[droverv1.CopyDataResponse]) error {
			return clienttest.Refusal(connect.CodeFailedPrecondition, &droverv1.ErrorDetail{
				Reason: "sticky-data", Message: "they stay at b",
			})
		}
		if job, err := c.Submit(t.Context(), "lu", Stored("matrix", &Data{ID: handle})); err != nil || job.Site != "b" {
			t.Fatalf("%+v, %v", job, err)
		}
		if n := len(g.A.Sent()); n > 0 {
			t.Errorf("%d submissions to a site without the data", n)
		}
	})
}

func TestUnknownDataIsRefusedLocally(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(10*time.Second))
		_, err := c.Submit(t.Context(), "lu", Stored("matrix", &Data{ID: handle}))
		if e := errorOfReason(t, err, "unknown-data"); !strings.Contains(err.Error(), "argument matrix") {
			t.Errorf("%v: %v", e, err)
		}
		for _, bad := range []string{"", "zz", handle[:8], handle + "0"} {
			_, err = c.Submit(t.Context(), "lu", Stored("matrix", &Data{ID: bad}))
			_ = errorOfReason(t, err, problem.BadValue)
		}
		if len(g.Agent.Mapped) > 0 {
			t.Error("a request was mapped")
		}
	})
}

func TestATypedHandleIsDataOnlyForArgumentsThatTakeData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(10*time.Second))
		g.Keep("a", handle, "one", nil)
		g.Agent.Service = &droverv1.Service{Name: "lu", Arguments: []*droverv1.Argument{
			{Name: "matrix", Type: droverv1.ArgumentType_ARGUMENT_TYPE_FILE_IN},
			{Name: "word", Type: droverv1.ArgumentType_ARGUMENT_TYPE_STRING},
			{Name: "out", Type: droverv1.ArgumentType_ARGUMENT_TYPE_FILE_OUT},
		}}
		job, err := c.Submit(t.Context(), "lu", Text("matrix", "data:"+handle[:5]), Text("word", "data:"+handle[:5]),
			Text("out", "data:x"))
		if err != nil {
			t.Fatal(err)
		}
		args := g.A.Sent()[0].GetRequest().GetArguments()
		if args["matrix"].GetFileValue().GetDataId() != handle || args["word"].GetStringValue() != "data:"+handle[:5] ||
			len(args) != 2 {
			t.Errorf("job %v with %v", job, args)
		}
		_, err = c.Submit(t.Context(), "lu", Text("matrix", "data:a.mtx"))
		if e := errorOfReason(t, err, problem.BadValue); !strings.Contains(e.Hint, "./data:a.mtx") {
			t.Errorf("%v, hint %q", e, e.Hint)
		}
	})
}

func TestKnownDataIsNotLookedUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(10*time.Second))
		d, err := c.PutData(t.Context(), DataBytes([]byte("x")), PutOptions{Site: "a"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Submit(t.Context(), "lu", Stored("matrix", d)); err != nil || g.Asked > 0 {
			t.Errorf("%v after %d questions", err, g.Asked)
		}
	})
}

func TestKeptDataHasTheHandleOfTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(10*time.Second))
		g.A.OnSubmit = func(_ context.Context, nth int, req *droverv1.SubmitRequest) (*droverv1.SubmitResponse, error) {
			if nth == 1 {
				return nil, connect.NewError(connect.CodeUnavailable, errors.New("lost"))
			}
			res := g.A.Accept(req)
			res.Job.Request = req.GetRequest()
			res.Job.Outputs = []*droverv1.Output{{Argument: "c", DataId: req.GetRequest().GetKeep()["c"].GetDataId()}}
			return res, nil
		}
		job, err := c.Submit(t.Context(), "lu", Content("a", []byte("x")), Keep("a", DataVolatile), Keep("c", ""))
		if err != nil {
			t.Fatal(err)
		}
		if job.Kept["a"].Mode != DataVolatile || job.Kept["c"].Mode != DataPersistent ||
			checkHandle("", job.Kept["c"].ID) != nil ||
			job.Kept["a"].ID == job.Kept["c"].ID || job.Outputs[0].Data != job.Kept["c"].ID {
			t.Errorf("kept %+v, outputs %+v", job.Kept, job.Outputs)
		}
		sent := g.A.Sent()
		if len(sent) != 2 || !cmp.Equal(sent[0].GetRequest().GetKeep(), sent[1].GetRequest().GetKeep(),
			protocmp.Transform()) {
			t.Errorf("the repeated submission keeps something else: %v", sent)
		}
		for _, bad := range [][]Arg{{Keep("a", "eternal")}, {Keep("", "")}, {Keep("a", ""), Keep("a", "")}} {
			_, err := c.Submit(t.Context(), "lu", bad...)
			_ = errorOfReason(t, err, problem.BadValue)
		}
	})
}

func TestANewAttemptKeepsDataUnderNewHandles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(5*time.Second))
		g.A.OnSubmit = clienttest.Stuck
		g.A.OnWithdraw = func(int, string) (*droverv1.WithdrawResponse, error) {
			return nil, connect.NewError(connect.CodeUnavailable, errors.New("lost"))
		}
		job, err := c.Submit(t.Context(), "lu", Keep("c", ""), Idempotent(), Rerun(2*time.Second))
		if err != nil || job.Site != "b" {
			t.Fatalf("%+v, %v", job, err)
		}
		first := g.A.Sent()[0].GetRequest().GetKeep()["c"].GetDataId()
		second := g.B.Sent()[0].GetRequest().GetKeep()["c"].GetDataId()
		if first == second || checkHandle("", second) != nil {
			t.Errorf("kept as %v, then as %v", first, second)
		}
		g.B.OnSubmit = nil
		again, ok := rpc.From(&droverv1.Job{Request: g.B.Sent()[0].GetRequest()}).Request()
		r := &request{again: &again}
		if err := r.renew("x"); !ok || err != nil {
			t.Fatal(err)
		}
		if _, err := c.submitTo(t.Context(), submission.Target{Address: "http://b"}, id, r, ranking{}); err != nil {
			t.Fatal(err)
		}
		if last := g.B.Sent()[1].GetRequest(); last.GetKeep()["c"].GetDataId() == second || last.GetRetryOf() != "x" {
			t.Errorf("from the record: %v", last)
		}
	})
}

func TestARequestWithDataCanBeRepeatedFromItsRecord(t *testing.T) {
	with := func(v any) rpc.Request {
		return (&request{service: "lu", idempotent: true, args: []argument{{"matrix", v}}}).message()
	}
	data := with(&stored{data: &Data{ID: handle}})
	if err := repeatable(data, id); err != nil {
		t.Errorf("data: %v", err)
	}
	if diff := cmp.Diff(map[string]string{handle: "matrix"}, (&request{again: &data}).handles()); diff != "" {
		t.Errorf("they are not brought (-want +got)\n%s", diff)
	}
	if repeatable(with(&file{name: "x"}), id) == nil {
		t.Error("a file is at the site that does not answer")
	}
}

func TestARepeatedSubmissionSucceedsAlthoughItsDataIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(10*time.Second))
		g.Keep("a", handle, "one", nil)
		g.A.OnSubmit = func(_ context.Context, nth int, req *droverv1.SubmitRequest) (*droverv1.SubmitResponse, error) {
			if nth == 1 { // accepted, and the answer is lost
				g.Mu.Lock()
				defer g.Mu.Unlock()
				delete(g.Held["a"], handle)
				return nil, connect.NewError(connect.CodeUnavailable, errors.New("lost"))
			}
			return g.A.Accept(req), nil
		}
		if job, err := c.Submit(t.Context(), "lu", Stored("matrix", &Data{ID: handle})); err != nil || job.Site != "a" {
			t.Errorf("%+v, %v", job, err)
		}
		if n := len(g.B.Sent()); n > 0 {
			t.Errorf("it was sent elsewhere, too")
		}
	})
}

func TestASiteThatIsDownDoesNotDelayARequestWithData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := newDepots(t, patient(time.Minute))
		g.Keep("b", handle, "one", nil)
		g.Down("a")
		began := time.Now()
		job, err := c.Submit(t.Context(), "lu", Stored("matrix", &Data{ID: handle}))
		if err != nil || job.Site != "b" || time.Since(began) > 5*time.Second {
			t.Errorf("%+v, %v after %v", job, err, time.Since(began))
		}
	})
}
