package server

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

func TestJobLifeCycle(t *testing.T) {
	s := start(t, configured(t, ""))
	decision := &droverv1.DecisionRecord{Agent: "a", Chosen: "lyon", Candidates: []*droverv1.Candidate{{
		Site:  "lyon",
		Width: 1,
	}}}
	id := newID(t)
	req := &droverv1.SubmitRequest{
		JobId: id, Decision: decision,
		Request: &droverv1.Request{
			Service: "print", Owner: "ada", Arguments: arguments{"text": text("$HOME `ls` ; *")},
			Labels: map[string]string{"a": "b"},
			Width:  1, Walltime: seconds(9), Cpu: 0.5,
		},
	}
	res, err := s.client.Submit(within(t), req)
	if err != nil {
		t.Fatal(err)
	}
	j := res.GetJob()
	if !proto.Equal(j.GetRequest(), req.GetRequest()) {
		t.Errorf("request of the job: %v", j.GetRequest())
	}
	if j.GetShape().GetWidth() != 1 || j.GetShape().GetWalltime().GetSeconds() != 9 || j.GetSite() != "lyon" ||
		j.GetSubmittedAt() == nil {
		t.Errorf("job: %v", j)
	}
	if j.GetEstimateKind() != droverv1.EstimateKind_ESTIMATE_KIND_PROMISED ||
		j.GetEstimatedCompletion().GetSeconds() < 9 {
		t.Errorf("estimate: %v %v", j.GetEstimateKind(), j.GetEstimatedCompletion())
	}
	done := s.until(t, id, droverv1.JobState_JOB_STATE_DONE)
	if done.GetOutcome() == nil || done.GetStartedAt() == nil || done.GetEndedAt() == nil ||
		!slices.Equal(done.GetNodes(), []string{"n1"}) ||
		done.GetRevision() <= j.GetRevision() || !proto.Equal(done.GetDecision(), decision) {
		t.Errorf("final state: %v", done)
	}
	if got, want := s.log(t, &droverv1.ReadLogsRequest{JobId: id}), "$HOME `ls` ; * "+id+" 1\n"; got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	if got := s.log(t, &droverv1.ReadLogsRequest{
		JobId: id, Stream: droverv1.LogStream_LOG_STREAM_STDERR, Offset: 3,
		Follow: true,
	}); got != "stderr\n" {
		t.Errorf("stderr from offset 3: %q", got)
	}
	again, err := s.client.GetJob(within(t), &droverv1.GetJobRequest{JobId: id})
	if err != nil || !proto.Equal(again.GetJob(), done) {
		t.Errorf("GetJob: %v, %v", again, err)
	}
}

func TestWatchersSeeStatesInOrder(t *testing.T) {
	s := start(t, configured(t, ""))
	name, say := pipe(t)
	j := s.submit(t, &droverv1.Request{Service: "block", Width: 1, Arguments: arguments{"pipe": text(name)}})
	stream, err := s.client.WatchJob(within(t), &droverv1.WatchJobRequest{JobId: j.GetId()})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var revision uint64
	var last droverv1.JobState
	for stream.Receive() {
		m := stream.Msg().GetJob()
		if m.GetRevision() <= revision {
			t.Errorf("revision %d after %d", m.GetRevision(), revision)
		}
		revision, last = m.GetRevision(), m.GetState()
		if last == droverv1.JobState_JOB_STATE_RUNNING {
			say("go")
		}
	}
	if err := stream.Err(); err != nil || last != droverv1.JobState_JOB_STATE_DONE {
		t.Errorf("last message %v, %v", last, err)
	}
}

func TestExitCodesAndLaunchFailuresAreReported(t *testing.T) {
	s := start(t, configured(t, ""))
	j := s.submit(t, &droverv1.Request{Service: "print", Arguments: arguments{"code": number(7)}})
	failed := s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_FAILED)
	if o := failed.GetOutcome(); o.GetExitCode() != 7 || o.GetReason() != "exit status 7" {
		t.Errorf("outcome: %v", o)
	}
}

func TestAServiceWhoseProgramIsMissingIsWithdrawn(t *testing.T) {
	s := start(t, configured(t, ""))
	j := s.submit(t, &droverv1.Request{Service: "absent"})
	p := s.withdrawn(t)
	if p.GetService() != "absent" || p.GetReason() != "command drover-test: no such file or directory" {
		t.Errorf("problem: %v", p)
	}
	_, err := s.client.Submit(within(t), &droverv1.SubmitRequest{
		JobId: newID(t), Request: &droverv1.Request{Service: "absent"},
	})
	if code, d := detail(t, err); code != connect.CodeUnavailable || d.GetReason() != "service-withdrawn" ||
		!d.GetRetryable() {
		t.Errorf("another submission: %v %v", code, d)
	}
	if got := s.get(t, j.GetId()).GetState(); got != droverv1.JobState_JOB_STATE_WAITING {
		t.Errorf("the job is %v", got)
	}
	j = s.submit(t, &droverv1.Request{Service: "print"})
	s.until(t, j.GetId(), done)
}

// withdrawn waits until the site has withdrawn a service.
func (s *testSite) withdrawn(t *testing.T) *droverv1.ServiceProblem {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for ctx := within(t); ; <-tick.C {
		res, err := s.client.GetStatus(ctx, &droverv1.GetStatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if p := res.GetStatus().GetServiceProblems(); len(p) > 0 {
			return p[0]
		}
	}
}

func TestWalltimeKillsTheJob(t *testing.T) {
	s := start(t, configured(t, ""))
	j := s.submit(t, &droverv1.Request{Service: "block", Width: 1, Walltime: seconds(1)})
	killed := s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_KILLED)
	if r := killed.GetOutcome().GetReason(); !strings.Contains(r, "walltime of 1s") {
		t.Errorf("reason: %q", r)
	}
}

func TestLogsAreFollowedToTheEnd(t *testing.T) {
	s := start(t, configured(t, ""))
	name, say := pipe(t)
	j := s.submit(t, &droverv1.Request{Service: "block", Width: 1, Arguments: arguments{"pipe": text(name)}})
	stream, err := s.client.ReadLogs(within(t), &droverv1.ReadLogsRequest{JobId: j.GetId(), Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	more := strings.Repeat("more\n", 50_000) // several messages
	var got bytes.Buffer
	for stream.Receive() {
		if at := stream.Msg().GetOffset(); at != int64(got.Len()) {
			t.Fatalf("chunk at offset %d after %d bytes", at, got.Len())
		}
		got.Write(stream.Msg().GetData())
		if got.String() == "ready\n" { // received while the job runs
			go say(more)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	if got.String() != "ready\n"+more {
		t.Errorf("read %d bytes, want %d", got.Len(), len("ready\n"+more))
	}
}

func TestJobSeesTheSpeedOfItsProcessors(t *testing.T) {
	s := start(t, configured(t, "speed: 1.5"))
	j := s.submit(t, &droverv1.Request{Service: "print", Arguments: arguments{"text": text("variable DROVER_SPEED")}})
	s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_DONE)
	if got := s.log(t, &droverv1.ReadLogsRequest{JobId: j.GetId()}); got != "1.5" {
		t.Errorf("DROVER_SPEED is %q", got)
	}
}

func TestCancelOfRunningAndWaitingJobs(t *testing.T) {
	s := start(t, configured(t, ""))
	running := s.submit(t, &droverv1.Request{Service: "block", Width: 4})
	s.until(t, running.GetId(), droverv1.JobState_JOB_STATE_RUNNING)
	waiting := s.submit(t, &droverv1.Request{Service: "block", Width: 4})
	status, err := s.client.GetStatus(within(t), &droverv1.GetStatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if st := status.GetStatus(); st.GetRunning() != 1 || st.GetWaiting() != 1 || st.GetProcessorsBusy() != 4 ||
		st.GetLoad() != 1 || st.GetBacklogSeconds() != 4*50 {
		t.Errorf("status: %v", st)
	}
	for _, id := range []string{waiting.GetId(), running.GetId()} {
		if _, err := s.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: id}); err != nil {
			t.Fatal(err)
		}
		s.until(t, id, droverv1.JobState_JOB_STATE_CANCELLED)
		again, err := s.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: id})
		if err != nil || again.GetJob().GetState() != droverv1.JobState_JOB_STATE_CANCELLED {
			t.Errorf("repeated CancelJob: %v, %v", again, err)
		}
	}
	if got := s.log(t, &droverv1.ReadLogsRequest{JobId: waiting.GetId(), Follow: true}); got != "" {
		t.Errorf("a job that did not run logged %q", got)
	}
}

func TestRepeatedSubmissionReturnsTheSameJob(t *testing.T) {
	s := start(t, configured(t, ""))
	req := &droverv1.SubmitRequest{JobId: newID(t), Request: &droverv1.Request{
		Service:   "print",
		Arguments: arguments{"code": number(1)},
	}}
	var answers []*droverv1.Job
	for range 3 {
		res, err := s.client.Submit(within(t), req)
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, res.GetJob())
		s.until(t, req.GetJobId(), droverv1.JobState_JOB_STATE_FAILED)
	}
	if !proto.Equal(answers[1], answers[2]) || !proto.Equal(answers[0].GetSubmittedAt(), answers[1].GetSubmittedAt()) {
		t.Errorf("answers: %v", answers)
	}
	req.Request.Arguments["code"] = number(2)
	_, err := s.client.Submit(within(t), req)
	if code, d := detail(t, err); code != connect.CodeAlreadyExists || d.GetReason() != "job-conflict" ||
		d.GetField() != "job_id" || d.GetRetryable() {
		t.Errorf("same ID, different request: %v %v", code, d)
	}
	list, err := s.client.ListJobs(within(t), &droverv1.ServerServiceListJobsRequest{})
	if err != nil || len(list.GetJobs()) != 1 {
		t.Errorf("jobs: %v, %v", list, err)
	}
}

func TestJobsAreListedInPages(t *testing.T) {
	s := start(t, configured(t, ""))
	var want []string
	for range 5 {
		j := s.submit(t, &droverv1.Request{Service: "block", Width: 4, Owner: "ada"})
		want = append(want, j.GetId())
	}
	other := s.submit(t, &droverv1.Request{Service: "print", Owner: "eve"})
	var got []string
	req := &droverv1.ServerServiceListJobsRequest{PageSize: 2, Filter: "owner=ada state=active"}
	for {
		res, err := s.client.ListJobs(within(t), req)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range res.GetJobs() {
			got = append(got, j.GetId())
		}
		if req.PageToken = res.GetNextPageToken(); req.PageToken == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
	brief, err := s.client.ListJobs(within(t), &droverv1.ServerServiceListJobsRequest{
		Filter: "id=" + want[3], View: droverv1.JobView_JOB_VIEW_BRIEF,
	})
	if err != nil || len(brief.GetJobs()) != 1 {
		t.Fatalf("id=%s: %v, %v", want[3], brief, err)
	}
	full := s.get(t, want[3])
	full.Request, full.Needs = &droverv1.Request{Service: "block", Owner: "ada"}, nil
	if d := cmp.Diff(full, brief.GetJobs()[0], protocmp.Transform()); d != "" {
		t.Errorf("brief: %s", d)
	}
	res, err := s.client.ListJobs(within(t), &droverv1.ServerServiceListJobsRequest{Filter: "service=print"})
	if err != nil || len(res.GetJobs()) != 1 || res.GetJobs()[0].GetId() != other.GetId() {
		t.Errorf("service=print: %v, %v", res, err)
	}
	for field, req := range map[string]*droverv1.ServerServiceListJobsRequest{
		"page_size": {PageSize: -1}, "page_token": {PageToken: "x"}, "filter": {Filter: "state=odd"},
	} {
		_, err := s.client.ListJobs(within(t), req)
		if code, d := detail(t, err); code != connect.CodeInvalidArgument || d.GetField() != field ||
			d.GetAccepted() == "" {
			t.Errorf("%s: %v %v", field, code, d)
		}
	}
}

// A page of large requests stays below the message limit.
func TestPagesOfLargeJobsAreShort(t *testing.T) {
	s := start(t, configured(t, ""))
	var want, got []string
	for range 5 {
		essay := &droverv1.DecisionRecord{Agent: strings.Repeat("x", rpc.LargestMessage/5*2)}
		id := newID(t)
		if _, err := s.client.Submit(within(t), &droverv1.SubmitRequest{
			JobId:   id,
			Request: &droverv1.Request{Service: "block", Width: 4}, Decision: essay,
		}); err != nil {
			t.Fatal(err)
		}
		want = append(want, id)
	}
	var pages []int
	for req := new(droverv1.ServerServiceListJobsRequest); len(pages) == 0 || req.GetPageToken() != ""; {
		res, err := s.client.ListJobs(within(t), req)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range res.GetJobs() {
			got = append(got, j.GetId())
		}
		pages = append(pages, len(res.GetJobs()))
		req.PageToken = res.GetNextPageToken()
	}
	if !slices.Equal(got, want) || !slices.Equal(pages, []int{2, 2, 1}) {
		t.Errorf("pages of %v: %v, want %v", pages, got, want)
	}
}

func TestOldJobsAreDeletedWithTheirFiles(t *testing.T) {
	s := start(t, configured(t, "limits: {finished: 2}"))
	var ids []string
	for range 4 {
		j := s.submit(t, &droverv1.Request{Service: "print"})
		s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_DONE)
		ids = append(ids, j.GetId())
	}
	ctx := within(t)
	for { // the server deletes a job shortly after another one ends
		if list, err := s.client.ListJobs(ctx, &droverv1.ServerServiceListJobsRequest{}); err != nil ||
			len(list.GetJobs()) <= 2 {
			break
		}
		pause(ctx, 20*time.Millisecond)
	}
	for i, id := range ids {
		got, err := s.client.GetJob(within(t), &droverv1.GetJobRequest{JobId: id})
		if err != nil || got.GetJob().GetState() != droverv1.JobState_JOB_STATE_DONE {
			t.Errorf("job %d: %v, %v", i, got, err)
		}
		if kept := got.GetJob().GetDecision() != nil || len(got.GetJob().GetNodes()) > 0; kept != (i >= 2) {
			t.Errorf("job %d exists: %t", i, kept)
		}
	}
	list, err := s.client.ListJobs(within(t), &droverv1.ServerServiceListJobsRequest{})
	if err != nil || len(list.GetJobs()) != 2 {
		t.Errorf("list: %v, %v", list, err)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(s.data.Jobs())
	if err != nil || len(left) != 2 {
		t.Errorf("directories: %v, %v", left, err)
	}
}

func TestServerRefusesAConfigurationTooSmallForWaitingJobs(t *testing.T) {
	cfg := configured(t, "")
	s := start(t, cfg)
	first := s.submit(t, &droverv1.Request{Service: "block", Width: 4})
	s.until(t, first.GetId(), droverv1.JobState_JOB_STATE_RUNNING)
	waits := s.submit(t, &droverv1.Request{Service: "block", Width: 4}).GetId()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"it takes 4 processors, and the machine has 2": func(c *Config) {
			c.Nodes = []Nodes{{Count: 1, Processors: 2}}
		},
		`unknown service "block"`: func(c *Config) {
			other, err := ParseConfig([]byte(`version: 1
name: lyon
nodes: [{processors: 4}]
services: {inline: [{name: other, doc: Does nothing., command: ["true"], model: {fixed: {width: 1, time: 1s}}}]}
`), "")
			if err != nil {
				t.Fatal(err)
			}
			c.Catalogue = other.Catalogue
		},
	} {
		changed := cfg
		change(&changed)
		s, err := New(changed)
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), waits) {
			t.Errorf("%s: %v", name, err)
		}
	}
	start(t, cfg).until(t, waits, droverv1.JobState_JOB_STATE_RUNNING)
}

func TestServerKeepsJobFilesWhenItsStoreIsMissing(t *testing.T) {
	cfg := configured(t, "")
	s := start(t, cfg)
	id := s.submit(t, &droverv1.Request{Service: "print"}).GetId()
	s.until(t, id, droverv1.JobState_JOB_STATE_DONE)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	aside := s.data.DB() + ".aside"
	if err := os.Rename(s.data.DB(), aside); err != nil {
		t.Fatal(err)
	}
	if s, err := New(cfg); err == nil || !strings.Contains(err.Error(), "files of 1 jobs but no drover.db") {
		t.Errorf("%v", err)
		if s != nil {
			_ = s.Close()
		}
	}
	if err := os.Rename(aside, s.data.DB()); err != nil {
		t.Fatal(err)
	}
	start(t, cfg).until(t, id, droverv1.JobState_JOB_STATE_DONE)
}
