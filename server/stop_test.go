package server

import (
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func TestStoppingServerEndsJobsAndNotifiesWatchers(t *testing.T) {
	agent, err := gossip.Join(gossip.Config{Name: "agent", Role: gossip.Agent, Bind: "127.0.0.1:0", API: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	cfg := configured(t, "")
	cfg.Gossip.Seeds = []string{agent.Addr()}
	s := start(t, cfg)
	for len(agent.Members()) == 0 {
		<-agent.Changed()
	}
	if m := agent.Members()[0]; m.Name != "lyon" || m.URL != s.URL() || m.Role != gossip.Server {
		t.Errorf("member: %+v", m)
	}
	running := s.submit(t, &droverv1.Request{Service: "block", Width: 4})
	s.until(t, running.GetId(), droverv1.JobState_JOB_STATE_RUNNING)
	waiting := s.submit(t, &droverv1.Request{Service: "block", Width: 4})
	watch := func(id string) *connect.ServerStreamForClient[droverv1.WatchJobResponse] {
		stream, err := s.client.WatchJob(within(t), &droverv1.WatchJobRequest{JobId: id})
		if err != nil || !stream.Receive() {
			t.Fatalf("watch: %v %v", err, stream.Err())
		}
		return stream
	}
	ofRunning, ofWaiting := watch(running.GetId()), watch(waiting.GetId())
	defer ofRunning.Close()
	defer ofWaiting.Close()
	logs, err := s.client.ReadLogs(within(t), &droverv1.ReadLogsRequest{JobId: running.GetId(), Follow: true})
	if err != nil || !logs.Receive() {
		t.Fatalf("logs: %v", err)
	}
	defer logs.Close()
	if err := s.stop(); err != nil {
		t.Errorf("Run: %v", err)
	}
	var last *droverv1.Job
	for ofRunning.Receive() {
		last = ofRunning.Msg().GetJob()
	}
	if ofRunning.Err() != nil || last.GetState() != droverv1.JobState_JOB_STATE_FAILED ||
		!strings.Contains(last.GetOutcome().GetReason(), "closed") {
		t.Errorf("watch of the running job: %v, %v", last, ofRunning.Err())
	}
	for ofWaiting.Receive() {
		t.Errorf("message about the waiting job: %v", ofWaiting.Msg())
	}
	if code, d := detail(t, ofWaiting.Err()); code != connect.CodeUnavailable || d.GetReason() != "stopping" ||
		!d.GetRetryable() {
		t.Errorf("watch of the waiting job: %v %v", code, d)
	}
	for logs.Receive() {
	}
	if err := logs.Err(); err != nil {
		t.Errorf("ReadLogs: %v", err)
	}
	for len(agent.Members()) > 0 {
		<-agent.Changed()
	}
}

func TestStoppingServerRefusesNewWork(t *testing.T) {
	s := start(t, configured(t, ""))
	s.leaving.Store(true)
	ctx := within(t)
	req := &droverv1.Request{Service: "print"}
	_, submit := s.client.Submit(ctx, &droverv1.SubmitRequest{JobId: newID(t), Request: req})
	_, estimate := s.client.Estimate(ctx, &droverv1.EstimateRequest{Request: req})
	_, upload := s.upload(ctx, []byte("x"))
	for name, err := range map[string]error{"submit": submit, "estimate": estimate, "upload": upload} {
		if code, d := detail(t, err); code != connect.CodeUnavailable || d.GetReason() != "stopping" ||
			!d.GetRetryable() {
			t.Errorf("%s: %v %v", name, code, d)
		}
	}
	if _, err := s.client.ListJobs(ctx, &droverv1.ServerServiceListJobsRequest{}); err != nil {
		t.Errorf("GetJob: %v", err)
	}
}

func TestServersCannotShareADirectoryOrAPort(t *testing.T) {
	first, err := New(configured(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	for name, change := range map[string]func(*Config){
		"used by another server": func(c *Config) { c.DataDir = first.cfg.DataDir },
		"listen":                 func(c *Config) { c.Listen = first.Addr() },
		"gossip":                 func(c *Config) { c.Gossip.Bind = first.Seed() },
	} {
		cfg := configured(t, "")
		change(&cfg)
		if s, err := New(cfg); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
			if s != nil {
				s.Close()
			}
		}
	}
}

func TestRestartedServerKeepsContentAndJobs(t *testing.T) {
	cfg := configured(t, "")
	s := start(t, cfg)
	f, err := s.upload(within(t), []byte("content"))
	if err != nil {
		t.Fatal(err)
	}
	j := s.submit(t, &droverv1.Request{Service: "copy", Arguments: arguments{"from": file(f)}})
	before := s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_DONE)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s = start(t, cfg)
	after, err := s.client.GetJob(within(t), &droverv1.GetJobRequest{JobId: j.GetId()})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after.GetJob(), protocmp.Transform()); diff != "" {
		t.Errorf("the job changed:\n%s", diff)
	}
	if got, err := s.download(within(t), j.GetId(), "to", 0); err != nil || string(got) != "content" {
		t.Errorf("output: %q, %v", got, err)
	}
	s.submit(t, &droverv1.Request{Service: "copy", Arguments: arguments{"from": file(f)}})
}

func TestServerWaitingForJobsToEndOnlyAnswersQueries(t *testing.T) {
	agent, err := gossip.Join(gossip.Config{Name: "agent", Role: gossip.Agent, Bind: "127.0.0.1:0", API: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	cfg := configured(t, "grace: 1m")
	cfg.Gossip.Seeds = []string{agent.Addr()}
	s := start(t, cfg)
	for len(agent.Members()) == 0 {
		<-agent.Changed()
	}
	name, say := pipe(t)
	j := s.submit(t, &droverv1.Request{
		Service: "block", Width: 4,
		Arguments: arguments{"pipe": text(name)},
	}) // ignores SIGTERM
	logs, err := s.client.ReadLogs(within(t), &droverv1.ReadLogsRequest{JobId: j.GetId(), Follow: true})
	if err != nil || !logs.Receive() { // the job runs
		t.Fatalf("logs: %v", err)
	}
	defer logs.Close()
	ended := make(chan error, 1)
	go func() { ended <- s.stop() }()
	for len(agent.Members()) > 0 {
		<-agent.Changed()
	}
	_, err = s.client.Submit(within(t), &droverv1.SubmitRequest{
		JobId:   newID(t),
		Request: &droverv1.Request{Service: "print"},
	})
	if code, d := detail(t, err); code != connect.CodeUnavailable || d.GetReason() != "stopping" || !d.GetRetryable() {
		t.Errorf("submit: %v %v", code, d)
	}
	if got, err := s.client.GetJob(within(t), &droverv1.GetJobRequest{JobId: j.GetId()}); err != nil ||
		got.GetJob().GetState() != droverv1.JobState_JOB_STATE_RUNNING {
		t.Errorf("job: %v, %v", got, err)
	}
	say("that was all")
	for logs.Receive() {
	}
	if err := <-ended; err != nil || logs.Err() != nil {
		t.Errorf("Run: %v; logs: %v", err, logs.Err())
	}
}
