package server

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/nodetest"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func TestAServerStartsWithoutItsNodesAndJobsWaitForThem(t *testing.T) {
	a, b := nodetest.New(t), nodetest.New(t)
	b.Stop(syscall.SIGTERM)
	var log journalOf
	cfg := onNodesSite(t, "easy", 2*time.Second, a, b)
	cfg.Logger = log.logger()
	begun := time.Now()
	s := start(t, cfg)
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("took %v to start", took)
	}
	wide := s.submit(t, &droverv1.Request{Service: "where", Width: 4, Arguments: arguments{"text": text("wide")}})
	narrow := s.submit(t, &droverv1.Request{Service: "where", Width: 1})
	s.until(t, narrow.GetId(), done)
	if res, err := s.client.GetJob(within(t), &droverv1.GetJobRequest{JobId: wide.GetId()}); err != nil || res.GetJob().GetState() != waiting || !slices.Equal(res.GetJob().GetNodesAway(), []string{b.Name}) {
		t.Errorf("%v, %v", res, err)
	}
	if !log.has("node is not there", b.Name, "connection refused") {
		t.Error("the log does not say that a node is not there")
	}
	stream, err := s.client.WatchSite(within(t), &droverv1.WatchSiteRequest{})
	if err != nil || !stream.Receive() {
		t.Fatal(err, stream.Err())
	}
	for i, n := range stream.Msg().GetNodes() {
		if n.GetAway() != (i == 1) || n.GetAway() != strings.Contains(n.GetAwayReason(), "connection refused") {
			t.Errorf("%v", n)
		}
	}
	_ = stream.Close()
	_, err = s.client.Estimate(within(t), &droverv1.EstimateRequest{Request: &droverv1.Request{Service: "where", Width: 4}})
	if err == nil || !strings.Contains(err.Error(), "do not answer now: "+b.Name) {
		t.Errorf("estimate: %v", err)
	}
	b.Start()
	if j := s.until(t, wide.GetId(), done); len(j.GetNodesAway()) > 0 {
		t.Errorf("it has ended, and waits for %v", j.GetNodesAway())
	}
}

// What is launched before anybody knows that its node has gone waits again.
func TestAJobWaitsAgainWhoseNodeWasGoneBeforeItsLaunch(t *testing.T) {
	a := nodetest.New(t)
	s := start(t, onNodesSite(t, "easy", 20*time.Second, a)) // asked every 3 s
	a.Stop(syscall.SIGTERM)
	j := s.submit(t, &droverv1.Request{Service: "where", Width: 1})
	s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_STARTING)
	j = s.until(t, j.GetId(), waiting)
	if j.GetAttempt() != 1 || len(j.GetNodes()) != 0 {
		t.Errorf("%v", j)
	}
	a.Start()
	s.until(t, j.GetId(), done)
}

// Of two jobs on nodes that do not answer when the server starts, one node comes back
// before the lease must be over, and the other one never does.
func TestAServerStartsWhileNodesWithJobsDoNotAnswer(t *testing.T) {
	a, b := nodetest.New(t), nodetest.New(t)
	lines := "on_stop: leave\ngrace: 1s\nservices:\n  inline:" + farYAML
	const lease = 6 * time.Second
	p := newProcessSite(t, "lyon", lines+onNodes("easy", lease, a, b))
	p.run()
	first, second := book{t.TempDir()}, book{t.TempDir()}
	var jobs []*droverv1.Job
	for i, of := range []book{first, second} {
		jobs = append(jobs, p.submit(newID(t), of.request("hold")))
		of.await(t, 1)
		jobs[i] = p.until(jobs[i].GetId(), running)
	}
	p.kill()
	comes, never := a, b
	if jobs[0].GetNodes()[0] == b.Name {
		comes, never = b, a
	}
	die(t, never)
	comes.Stop(syscall.SIGKILL) // the supervisor and its tasks live on
	begun := time.Now()
	p.run()
	if took := time.Since(begun); took > lease/2 {
		t.Errorf("took %v to start", took)
	}
	for i := range jobs {
		if j := p.job(jobs[i].GetId()); j.GetState() != running || j.GetAttempt() != jobs[i].GetAttempt() {
			t.Errorf("job %d is %v while nobody knows", i, j.GetState())
		}
	}
	comes.Start()
	lost := p.until(jobs[1].GetId(), failed)
	if why := lost.GetOutcome().GetReason(); !strings.Contains(why, "node "+never.Name+" did not answer for longer than its lease") {
		t.Errorf("%q", why)
	}
	if took := time.Since(begun); took < lease {
		t.Errorf("lost after %v, its lease may have lasted %v", took, lease)
	}
	if j := p.job(jobs[0].GetId()); j.GetState() != running {
		t.Errorf("what runs on the other is %v: %v", j.GetState(), j.GetOutcome())
	}
	first.end(t)
	if j := p.until(jobs[0].GetId(), failed); j.GetOutcome().GetExitCode() != 7 || len(first.runs(t)) != 1 {
		t.Errorf("%v, ran %d times", j.GetOutcome(), len(first.runs(t)))
	}
	p.stop()
}

// One job ends while there is no server, on the node that runs on; one goes on; the third
// waits all the while, and the nodes come in another order when the server is back.
func TestAServerThatWasKilledTakesOverWhatRunsOnItsNodes(t *testing.T) {
	a, b := nodetest.New(t), nodetest.New(t)
	lines := "on_stop: leave\ngrace: 1s\nservices:\n  inline:" + farYAML
	p := newProcessSite(t, "lyon", lines+onNodes("easy", 20*time.Second, a, b))
	p.run()
	first, second, third := book{t.TempDir()}, book{t.TempDir()}, book{t.TempDir()}
	var jobs []*droverv1.Job
	for _, of := range []book{first, second, third} {
		jobs = append(jobs, p.submit(newID(t), of.request("hold")))
	}
	first.await(t, 1)
	second.await(t, 1)
	where := p.job(jobs[1].GetId()).GetNodes()
	p.kill()
	first.end(t)
	p.write(lines + onNodes("easy", 20*time.Second, b, a))
	begun := time.Now()
	p.run()
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("took %v to start", took)
	}
	third.await(t, 1)
	if j := p.job(jobs[1].GetId()); j.GetState() != running || j.GetNodes()[0] != where[0] || j.GetAttempt() != jobs[1].GetAttempt() {
		t.Errorf("the second is %v on %v, was on %v", j.GetState(), j.GetNodes(), where)
	}
	if j := p.until(jobs[2].GetId(), running); j.GetNodes()[0] == where[0] {
		t.Errorf("the third is on %v, where the second is", j.GetNodes())
	}
	second.end(t)
	third.end(t)
	for i, of := range []book{first, second, third} {
		j := p.until(jobs[i].GetId(), failed)
		if j.GetOutcome().GetExitCode() != 7 || len(of.runs(t)) != 1 {
			t.Errorf("job %d: %v, ran %d times", i, j.GetOutcome(), len(of.runs(t)))
		}
	}
	p.stop()
}
