package server

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// book is where jobs of hold and rerun write down that they run, and a file that lets
// them end.
type book struct{ dir string }

// request asks for all processors of a node.
func (b book) request(service string) *droverv1.Request {
	return &droverv1.Request{Width: 2, Service: service, Arguments: arguments{"until": text(filepath.Join(b.dir, "until")), "book": text(filepath.Join(b.dir, "book"))}}
}

// runs returns the process IDs of those that have begun.
func (b book) runs(t testing.TB) []string {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(b.dir, "book"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(got))
}

// await waits until so many have begun.
func (b book) await(t testing.TB, n int) {
	t.Helper()
	soon(t, fmt.Sprintf("%d jobs run", n), func() bool { return len(b.runs(t)) >= n })
}

func (b book) end(t testing.TB) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, "until"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// soon asks again until it is so.
func soon(t testing.TB, what string, so func() bool) {
	t.Helper()
	limit := time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("not so after a minute: ", what)
		}
	}
}

// journalOf collects what a server logs.
type journalOf struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journalOf) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journalOf) has(words ...string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for line := range strings.Lines(j.text.String()) {
		all := true
		for _, w := range words {
			all = all && strings.Contains(line, w)
		}
		if all {
			return true
		}
	}
	return false
}

func (j *journalOf) logger() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Output: j, Level: hclog.Debug})
}

func TestANodeThatDiesLosesItsJobsAndTheOtherGoesOn(t *testing.T) {
	for _, policy := range []string{"easy", "dfrs"} {
		a, b := newNode(t), newNode(t)
		s := start(t, onNodesSite(t, policy, 2*time.Second, a, b))
		holds, reruns := book{t.TempDir()}, book{t.TempDir()}
		one, other := holds.request("hold"), reruns.request("rerun")
		if policy == "dfrs" { // to which memory is what cannot be shared
			one.Width, one.MemoryBytes, other.Width, other.MemoryBytes = 1, 600<<20, 1, 600<<20
		}
		first := s.submit(t, one)
		first = s.until(t, first.GetId(), running)
		second := s.submit(t, other)
		second = s.until(t, second.GetId(), running)
		holds.await(t, 1)
		reruns.await(t, 1)
		at := map[string]*testNode{a.name: a, b.name: b}
		dies, stays := at[first.GetNodes()[0]], at[second.GetNodes()[0]]
		if dies == stays {
			t.Fatalf("%s: both are on %s", policy, dies.name)
		}
		begun := time.Now()
		dies.die()
		lost := s.until(t, first.GetId(), failed)
		if took := time.Since(begun); took < 2*time.Second || took > 20*time.Second {
			t.Errorf("%s: lost after %v", policy, took)
		}
		if why := lost.GetOutcome().GetReason(); !strings.Contains(why, "node "+dies.name+" did not answer for longer than its lease") {
			t.Errorf("%s: %q", policy, why)
		}
		stays.die()
		stays.run()
		again := untilJob(t, s.client, second.GetId(), func(j *droverv1.Job) bool {
			return j.GetState() == running && j.GetAttempt() > second.GetAttempt()
		})
		if again.GetNodes()[0] != stays.name {
			t.Errorf("%s: again on %v, which is not there", policy, again.GetNodes())
		}
		reruns.await(t, 2)
		reruns.end(t)
		s.until(t, second.GetId(), done)
		if n := len(reruns.runs(t)); n != 2 {
			t.Errorf("%s: ran %d times", policy, n)
		}
		if n := len(holds.runs(t)); n != 1 {
			t.Errorf("%s: what may run once ran %d times", policy, n)
		}
	}
}

func TestADaemonThatStartsAgainWithinTheLeaseLosesNothing(t *testing.T) {
	a := newNode(t)
	s := start(t, onNodesSite(t, "easy", 20*time.Second, a))
	holds := book{t.TempDir()}
	j := s.submit(t, holds.request("hold"))
	s.until(t, j.GetId(), running)
	holds.await(t, 1)
	a.end(syscall.SIGKILL)
	a.run()
	holds.end(t)
	j = s.until(t, j.GetId(), failed)
	if j.GetOutcome().GetExitCode() != 7 || len(holds.runs(t)) != 1 {
		t.Errorf("%v, ran %d times", j.GetOutcome(), len(holds.runs(t)))
	}
}

// One job ends while there is no server, on the node that runs on; one goes on; the third
// waits all the while, and the nodes come in another order when the server is back.
func TestAServerThatWasKilledTakesOverWhatRunsOnItsNodes(t *testing.T) {
	a, b := newNode(t), newNode(t)
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

func TestAServerStartsWithoutItsNodesAndJobsWaitForThem(t *testing.T) {
	a, b := newNode(t), newNode(t)
	b.end(syscall.SIGTERM)
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
	if res, err := s.client.GetJob(within(t), &droverv1.GetJobRequest{JobId: wide.GetId()}); err != nil || res.GetJob().GetState() != waiting {
		t.Errorf("%v, %v", res, err)
	}
	if !log.has("node is not there", b.name, "connection refused") {
		t.Error("the log does not say that a node is not there")
	}
	stream, err := s.client.WatchSite(within(t), &droverv1.WatchSiteRequest{})
	if err != nil || !stream.Receive() {
		t.Fatal(err, stream.Err())
	}
	for i, n := range stream.Msg().GetNodes() {
		if n.GetAway() != (i == 1) {
			t.Errorf("%v", n)
		}
	}
	_ = stream.Close()
	_, err = s.client.Estimate(within(t), &droverv1.EstimateRequest{Request: &droverv1.Request{Service: "where", Width: 4}})
	if err == nil || !strings.Contains(err.Error(), "do not answer now: "+b.name) {
		t.Errorf("estimate: %v", err)
	}
	b.run()
	s.until(t, wide.GetId(), done)
}

func TestNodesThatAreNotWhatTheConfigurationSays(t *testing.T) {
	a, b, c := newNode(t), newNode(t), newNode(t)
	owner := start(t, onNodesSite(t, "easy", 2*time.Second, b))
	j := owner.submit(t, &droverv1.Request{Service: "where"})
	owner.until(t, j.GetId(), done)
	cfg := onNodesSite(t, "easy", 2*time.Second, a, b, c)
	cfg.Nodes[2].Name = "other"
	cfg.Nodes[0].Processors, cfg.Nodes[0].Memory = 3, 1<<62
	var log journalOf
	cfg.Logger = log.logger()
	s := start(t, cfg)
	j = s.submit(t, &droverv1.Request{Service: "where", Width: 1})
	if j = s.until(t, j.GetId(), done); j.GetNodes()[0] != a.name {
		t.Errorf("ran on %v", j.GetNodes())
	}
	wide := s.submit(t, &droverv1.Request{Service: "where", Width: 4})
	for what, words := range map[string][]string{
		"another's":  {"node is not there", b.name, "serves another server of site lyon"},
		"named":      {"node is not there", "other", "this node is called " + c.name},
		"processors": {"fewer processors", a.name, "has=2", "configured=3"},
		"memory":     {"less memory", a.name},
	} {
		soon(t, what+" is logged", func() bool { return log.has(words...) })
	}
	if res, err := s.client.GetJob(within(t), &droverv1.GetJobRequest{JobId: wide.GetId()}); err != nil || res.GetJob().GetState() != waiting {
		t.Errorf("%v, %v", res, err)
	}
}

func TestAConfigurationThatWouldLoseJobsOnNodesIsRefused(t *testing.T) {
	a, b := newNode(t), newNode(t)
	cfg := onNodesSite(t, "easy", 10*time.Second, a, b)
	cfg.OnStop = LeaveJobs
	s := start(t, cfg)
	holds := book{t.TempDir()}
	j := s.submit(t, holds.request("hold"))
	j = s.until(t, j.GetId(), running)
	holds.await(t, 1)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	without := cfg
	without.Nodes = nil
	for _, n := range cfg.Nodes {
		if n.Name != j.GetNodes()[0] {
			without.Nodes = append(without.Nodes, n)
		}
	}
	shorter := cfg
	shorter.Lease = 2 * time.Second
	here := cfg
	here.Lease, here.Nodes = 0, []Nodes{{Name: "n", Processors: 4}}
	here.Catalogue = configured(t, "").Catalogue
	for want, other := range map[string]Config{
		"may run on node " + j.GetNodes()[0] + ", which is not there any more":           without,
		"1 jobs run on a lease of 10s, and this one is 2s":                               shorter,
		"1 jobs run on nodes with addresses, and the configuration has none: start with": here,
	} {
		if _, err := New(other); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	s = start(t, cfg)
	holds.end(t)
	if j = s.until(t, j.GetId(), failed); j.GetOutcome().GetExitCode() != 7 || len(holds.runs(t)) != 1 {
		t.Errorf("%v, ran %d times", j.GetOutcome(), len(holds.runs(t)))
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if err := start(t, without).stop(); err != nil { // nothing runs any more
		t.Error(err)
	}
}

// Of two jobs on nodes that do not answer when the server starts, one node comes back
// before the lease must be over, and the other one never does.
func TestAServerStartsWhileNodesWithJobsDoNotAnswer(t *testing.T) {
	a, b := newNode(t), newNode(t)
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
	if jobs[0].GetNodes()[0] == b.name {
		comes, never = b, a
	}
	never.die()
	comes.end(syscall.SIGKILL) // the supervisor and its tasks live on
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
	comes.run()
	lost := p.until(jobs[1].GetId(), failed)
	if why := lost.GetOutcome().GetReason(); !strings.Contains(why, "node "+never.name+" did not answer for longer than its lease") {
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
