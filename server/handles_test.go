package server

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// keeps returns a request that copies a value and keeps one argument as data.
func keeps(from *droverv1.Value, argument, id string, mode droverv1.DataMode) *droverv1.Request {
	return &droverv1.Request{
		Service: "copy", Owner: "ann", Arguments: arguments{"from": from},
		Keep: map[string]*droverv1.Keep{argument: {DataId: id, Mode: mode}},
	}
}

// goes waits until the data are deleted.
func (s *testSite) goes(t testing.TB, id string) {
	t.Helper()
	ctx := within(t)
	for s.has(t, id) {
		if pause(ctx, 5*time.Millisecond); ctx.Err() != nil {
			t.Fatal("the data were not deleted")
		}
	}
}

func TestJobKeepsItsInputWhenTheHandleIsDeleted(t *testing.T) {
	cfg := configured(t, "limits: {file: 100B, content: 100B, data: 10B}")
	s := start(t, cfg)
	d := s.put(t, "ten bytes.", persistentMode)
	block := s.submit(t, &droverv1.Request{Service: "block", Width: 4})
	s.until(t, block.GetId(), droverv1.JobState_JOB_STATE_RUNNING)
	id := newID(t)
	submit := &droverv1.SubmitRequest{JobId: id, Request: &droverv1.Request{
		Service:   "copy",
		Arguments: arguments{"from": handle(d.GetId())},
	}}
	res, err := s.client.Submit(within(t), submit)
	if err != nil {
		t.Fatal(err)
	}
	f := res.GetJob().GetRequest().GetArguments()["from"].GetFileValue()
	if f.GetDataId() != d.GetId() || f.GetSha256() != d.GetContent().GetSha256() || f.GetSizeBytes() != 10 {
		t.Errorf("the job's file: %v", f)
	}
	s.put(t, "ten bytes!", persistentMode) // evicts the first data
	for _, fill := range []string{"a", "b"} {
		if _, err := s.upload(within(t), []byte(strings.Repeat(fill, 100))); err != nil {
			t.Fatal(err)
		}
	}
	again, err := s.client.Submit(within(t), submit) // as if the answer was lost
	if err != nil || again.GetJob().GetId() != id {
		t.Errorf("repeated Submit after the eviction: %v, %v", again, err)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s = start(t, cfg)
	if again, err = s.client.Submit(within(t), submit); err != nil || again.GetJob().GetId() != id {
		t.Errorf("repeated Submit after a restart: %v, %v", again, err)
	}
	s.until(t, id, droverv1.JobState_JOB_STATE_DONE)
	if got, err := s.download(within(t), id, "to", 0); err != nil || string(got) != "ten bytes." {
		t.Errorf("output: %q, %v", got, err)
	}
}

func TestSubmitChecksWhatARequestSaysAboutAHandle(t *testing.T) {
	s := start(t, configured(t, ""))
	d := s.put(t, "content", persistentMode)
	value := func(change func(*droverv1.File)) *droverv1.Request {
		f := &droverv1.File{DataId: d.GetId()}
		change(f)
		return &droverv1.Request{Service: "copy", Arguments: arguments{"from": file(f)}}
	}
	never := newID(t)
	for name, tc := range map[string]struct {
		request *droverv1.Request
		code    connect.Code
		reason  string
	}{
		"another hash": {
			value(func(f *droverv1.File) { f.Sha256 = sum([]byte("x")) }), connect.CodeInvalidArgument,
			"bad-value",
		},
		"another size": {value(func(f *droverv1.File) { f.SizeBytes = 8 }), connect.CodeInvalidArgument, "bad-value"},
		"no handle":    {value(func(f *droverv1.File) { f.DataId = "last" }), connect.CodeInvalidArgument, "bad-value"},
		"never here":   {value(func(f *droverv1.File) { f.DataId = never }), connect.CodeNotFound, "unknown-data"},
		"an array": {&droverv1.Request{
			Service: "copy",
			Arguments: arguments{"from": {Kind: &droverv1.Value_ArrayValue{ArrayValue: &droverv1.Array{
				Content: &droverv1.File{DataId: d.GetId()}, Element: droverv1.ElementType_ELEMENT_TYPE_UINT8,
				Dimensions: []int64{8},
			}}}},
		}, connect.CodeInvalidArgument, "wrong-dimensions"},
	} {
		_, err := s.client.Submit(within(t), &droverv1.SubmitRequest{JobId: newID(t), Request: tc.request})
		if code, p := detail(t, err); code != tc.code || p.GetReason() != tc.reason ||
			p.GetField() != "request.arguments.from" {
			t.Errorf("submit, %s: %v %v", name, code, p)
		}
		_, err = s.client.Estimate(within(t), &droverv1.EstimateRequest{Request: tc.request})
		if code, p := detail(t, err); code != tc.code || p.GetReason() != tc.reason {
			t.Errorf("estimate, %s: %v %v", name, code, p)
		}
	}
	// An agent asks for an estimate as if the data were here.
	res, err := s.client.Estimate(within(t), &droverv1.EstimateRequest{Request: value(func(f *droverv1.File) {
		f.DataId, f.Sha256, f.SizeBytes = never, sum([]byte("x")), 1
	})})
	if err != nil || res.GetQuote().GetRefusal() != nil {
		t.Errorf("estimate with data at another site: %v, %v", res, err)
	}
}

func TestVolatileDataAreDeletedAfterTheFirstJob(t *testing.T) {
	cfg := configured(t, "")
	s := start(t, cfg)
	d := s.put(t, "content", volatileMode)
	_, err := s.client.Submit(within(t), &droverv1.SubmitRequest{ // refused: it does not use the data
		JobId: newID(t), Request: &droverv1.Request{
			Service: "copy", Width: 99,
			Arguments: arguments{"from": handle(d.GetId())},
		},
	})
	if err == nil || len(s.depot.Users()) != 0 {
		t.Fatalf("refused: %v, users %v", err, s.depot.Users())
	}
	block := s.submit(t, &droverv1.Request{Service: "block", Width: 4})
	s.until(t, block.GetId(), droverv1.JobState_JOB_STATE_RUNNING)
	j := s.submit(t, &droverv1.Request{Service: "copy", Arguments: arguments{"from": handle(d.GetId())}})
	if err := s.stop(); err != nil { // ends the blocking job
		t.Fatal(err)
	}
	s = start(t, cfg)
	s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_DONE)
	s.goes(t, d.GetId())
	other := s.put(t, "content", volatileMode)
	j = s.submit(t, &droverv1.Request{Service: "copy", Arguments: arguments{"from": handle(other.GetId())}})
	s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_DONE)
	s.goes(t, other.GetId())
}

func TestUnfinishedUseEndsAfterARestart(t *testing.T) {
	cfg := configured(t, "")
	s := start(t, cfg)
	spent, unused := s.put(t, "spent", volatileMode), s.put(t, "unused", volatileMode)
	j := s.submit(t, &droverv1.Request{Service: "print"})
	s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_DONE)
	// The same state as after a kill at this moment.
	for id, job := range map[string]string{spent.GetId(): j.GetId(), unused.GetId(): newID(t)} {
		if _, err := s.depot.Use(id, job); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s = start(t, cfg)
	if s.has(t, spent.GetId()) || !s.has(t, unused.GetId()) || len(s.depot.Users()) != 0 {
		t.Errorf("spent exists: %v, unused exists: %v, users %v", s.has(t, spent.GetId()), s.has(t, unused.GetId()),
			s.depot.Users())
	}
}

func TestInputsAreKeptBeforeTheJobIsAccepted(t *testing.T) {
	s := start(t, configured(t, "limits: {file: 100B, content: 100B, data: 10B}"))
	f, err := s.upload(within(t), []byte("content"))
	if err != nil {
		t.Fatal(err)
	}
	f.Name = "a.txt"
	id := newID(t)
	s.submit(t, keeps(file(f), "from", id, volatileMode))
	res, err := s.client.GetData(within(t), &droverv1.GetDataRequest{Ids: []string{id}})
	if err != nil || len(res.GetData()) != 1 {
		t.Fatal(res, err)
	}
	if d := res.GetData()[0]; d.GetContent().GetSha256() != f.GetSha256() || d.GetContent().GetName() != "a.txt" ||
		d.GetOwner() != "ann" || d.GetMode() != volatileMode || d.GetJobId() == "" {
		t.Errorf("kept: %v", d)
	}
	refused := keeps(file(f), "from", newID(t), persistentMode)
	refused.Width = 99
	large, err := s.upload(within(t), []byte("eleven byte"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		request       *droverv1.Request
		reason, field string
	}{
		"a job that is not accepted": {refused, "too-wide", "request.width"},
		"no room": {
			keeps(file(large), "from", newID(t), persistentMode), "data-quota",
			"request.keep.from",
		},
		"no such argument":     {keeps(file(f), "form", newID(t), persistentMode), "bad-value", "request.keep.form"},
		"a mode of tomorrow":   {keeps(file(f), "from", newID(t), 99), "bad-value", "request.keep.from.mode"},
		"no handle":            {keeps(file(f), "from", "x", persistentMode), "bad-value", "request.keep.from.data_id"},
		"a handle with others": {keeps(file(f), "from", id, stickyMode), "data-conflict", "request.keep.from"},
	} {
		_, err := s.client.Submit(within(t), &droverv1.SubmitRequest{JobId: newID(t), Request: tc.request})
		if _, p := detail(t, err); p.GetReason() != tc.reason || p.GetField() != tc.field {
			t.Errorf("%s: %v", name, p)
		}
	}
	if u := s.depot.Usage(); u.Handles != 1 {
		t.Errorf("refused submissions left data: %+v", u)
	}
}

func TestOutputsAreKeptBeforeTheyAreReported(t *testing.T) {
	cfg := configured(t, "")
	s := start(t, cfg)
	d := s.put(t, "content", persistentMode)
	id := newID(t)
	j := s.until(t, s.submit(t, keeps(handle(d.GetId()), "to", id, stickyMode)).GetId(),
		droverv1.JobState_JOB_STATE_DONE)
	if o := j.GetOutputs(); len(o) != 1 || o[0].GetDataId() != id || j.GetOutcome().GetReason() != "" ||
		j.GetRequest().GetKeep()["to"].GetDataId() != id {
		t.Errorf("job: %v", j)
	}
	res, err := s.client.GetData(within(t), &droverv1.GetDataRequest{Ids: []string{id}})
	if err != nil || len(res.GetData()) != 1 || res.GetData()[0].GetJobId() != j.GetId() ||
		res.GetData()[0].GetMode() != stickyMode {
		t.Fatalf("kept: %v, %v", res, err)
	}
	if got, err := s.fetch(within(t), id, 0); err != nil || got != "content" {
		t.Errorf("content: %q, %v", got, err)
	}
	next := s.until(t, s.submit(t, &droverv1.Request{
		Service:   "copy",
		Arguments: arguments{"from": handle(id)},
	}).GetId(), droverv1.JobState_JOB_STATE_DONE)
	if got, err := s.download(within(t), next.GetId(), "to", 0); err != nil || string(got) != "content" {
		t.Errorf("used by the next job: %q, %v", got, err)
	}
}

func TestJobIsDoneEvenIfItsOutputCannotBeKept(t *testing.T) {
	s := start(t, configured(t, "limits: {file: 100B, content: 100B, data: 10B}"))
	f, err := s.upload(within(t), []byte("eleven byte"))
	if err != nil {
		t.Fatal(err)
	}
	id := newID(t)
	request := keeps(file(f), "to", id, persistentMode)
	request.Keep["more"] = &droverv1.Keep{DataId: newID(t)}
	j := s.until(t, s.submit(t, request).GetId(), droverv1.JobState_JOB_STATE_DONE)
	why := j.GetOutcome().GetReason()
	if !strings.HasPrefix(why, "not kept: ") || !strings.Contains(why, "more was not written") ||
		!strings.Contains(why, "to: no room for 11 bytes") || s.has(t, id) {
		t.Errorf("outcome: %v", j.GetOutcome())
	}
	if got, err := s.download(within(t), j.GetId(), "to", 0); err != nil || string(got) != "eleven byte" {
		t.Errorf("output: %q, %v", got, err)
	}
}

func TestFailedJobKeepsNoData(t *testing.T) {
	s := start(t, configured(t, `
    - name: half
      doc: Writes its result and fails.
      args: [{name: to, type: file-out}]
      command: [sh, -c, "echo half > \"$1\"; exit 3", sh, "{to}"]
      model: {fixed: {width: 1, time: 30s}}
`))
	id := newID(t)
	j := s.submit(t, &droverv1.Request{Service: "half", Keep: map[string]*droverv1.Keep{"to": {DataId: id}}})
	failed := s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_FAILED)
	if o := failed.GetOutputs(); len(o) != 1 || o[0].GetDataId() != "" || s.has(t, id) {
		t.Errorf("outputs: %v, kept: %v", o, s.has(t, id))
	}
}

func TestCallsForOneJobAreSerialized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all jobLocks
		done, err := all.take(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		other, err := all.take(t.Context(), "b") // another job does not wait
		if err != nil {
			t.Fatal(err)
		}
		other()
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := all.take(impatient, "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("a second call for the job did not wait: %v", err)
		}
		order := make(chan string, 2)
		go func() {
			next, _ := all.take(t.Context(), "a")
			order <- "next"
			next()
		}()
		synctest.Wait()
		order <- "first"
		done()
		if a, b := <-order, <-order; a != "first" || b != "next" {
			t.Errorf("%s, then %s", a, b)
		}
		if synctest.Wait(); len(all.taken) != 0 {
			t.Errorf("turns left: %v", all.taken)
		}
	})
}

// A client repeats its submission while the first call can still undo the data that it
// kept. The second call waits for the first.
func TestConcurrentEqualSubmissionsKeepDataOnce(t *testing.T) {
	s := start(t, configured(t, ""))
	d := s.put(t, "content", persistentMode)
	id, kept := newID(t), newID(t)
	submit := &droverv1.SubmitRequest{JobId: id, Request: keeps(handle(d.GetId()), "from", kept, persistentMode)}
	done, err := s.dataLocks.take(within(t), batch.JobID(id))
	if err != nil {
		t.Fatal(err)
	}
	impatient, cancel := context.WithTimeout(within(t), 50*time.Millisecond)
	defer cancel()
	if _, err := s.client.Submit(impatient, submit); connect.CodeOf(err) != connect.CodeDeadlineExceeded ||
		s.has(t, kept) {
		t.Errorf("during another call: %v, kept: %v", err, s.has(t, kept))
	}
	done()
	if _, err := s.client.Submit(within(t), submit); err != nil || !s.has(t, kept) {
		t.Errorf("after the other call: %v, kept: %v", err, s.has(t, kept))
	}
}
