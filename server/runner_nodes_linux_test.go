package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	"github.com/seed-9b8f70bb/drover/internal/nodetest"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// die kills the daemon and its supervisor, as if the host had crashed.
func die(t testing.TB, n *nodetest.Daemon) {
	t.Helper()
	n.Stop(syscall.SIGKILL)
	for _, pid := range processesWith(func(args []string) bool {
		return slices.Contains(args, "supervise") && slices.Contains(args, n.Dir)
	}) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
		await(t, pid)
	}
}

// onNodes returns configuration lines for these nodes with two processors each.
func onNodes(policy string, lease time.Duration, nodes ...*nodetest.Daemon) string {
	var b strings.Builder
	fmt.Fprintf(&b, "policy: {name: %s}\nlease: %v\nnodes:\n", policy, lease)
	for _, n := range nodes {
		fmt.Fprintf(&b, "  - {name: %s, processors: 2, memory: 1GiB, address: \"http://%s\"}\n", n.Name, n.Address)
	}
	return b.String()
}

// farYAML defines services that print where they run.
const farYAML = `
    - name: where
      doc: Tells its node.
      args: [{name: text, type: string, default: ""}]
      command: [/bin/sh, -c, "echo \"$0 of $DROVER_NODES\"", "{text}"]
      model: {table: {1: 30s, 4: 20s}}
    - name: hold
      doc: Waits until a file is there.
      args: [{name: until, type: string}, {name: book, type: string}]
      command: [/bin/sh, -c, "echo $$ >> \"$1\"; until [ -e \"$0\" ]; do sleep 0.01; done; exit 7", "{until}", "{book}"]
      model: {table: {1: 1h, 2: 1h}}
    - name: rerun
      doc: The same, and may be run twice.
      args: [{name: until, type: string}, {name: book, type: string}]
      restartable: true
      command: [/bin/sh, -c, "echo $$ >> \"$1\"; until [ -e \"$0\" ]; do sleep 0.01; done", "{until}", "{book}"]
      model: {table: {1: 1h, 2: 1h}}
    - name: ranks
      doc: Every process says who it is.
      launch: per-task
      command: [/bin/sh, -c, "echo \"$DROVER_RANK of $DROVER_RANKS\""]
      model: {fixed: {width: 4, time: 30s}}
    - name: idle
      doc: Every process says that it is there, and computes nothing.
      launch: per-task
      command: [/bin/sh, -c, "echo ready; exec sleep 300"]
      model: {fixed: {width: 2, time: 1h}}
    - name: hosts
      doc: One process on each node says who it is.
      launch: per-node
      command: [/bin/sh, -c, "echo \"$DROVER_RANK of $DROVER_RANKS\""]
      model: {fixed: {width: 4, time: 30s}}
`

// onNodesSite returns the configuration of a site with these nodes.
func onNodesSite(t testing.TB, policy string, lease time.Duration, nodes ...*nodetest.Daemon) Config {
	t.Helper()
	cfg, err := ParseConfig(
		[]byte(fmt.Sprintf("version: 1\nname: lyon\nlisten: 127.0.0.1:0\ngossip: {bind: 127.0.0.1:0}\ndata_dir: %s\n"+
			"grace: 1s\non_stop: end\nservices:\n  inline:%s\n%s",
			t.TempDir(), farYAML, onNodes(policy, lease, nodes...))), "")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// output returns a job's stdout.
func (s *testSite) output(t testing.TB, id string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.data.Root, "jobs", id, "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestJobsRunOnNodesUnderEveryKindOfPolicy(t *testing.T) {
	a, b := nodetest.New(t), nodetest.New(t)
	for _, policy := range []string{"easy", "dfrs", "cbf"} {
		for _, n := range []*nodetest.Daemon{a, b} { // the next server gets the nodes
			n.Stop(syscall.SIGTERM)
			if err := os.Remove(filepath.Join(n.Dir, "owner.json")); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			n.Start()
		}
		s := start(t, onNodesSite(t, policy, 3*time.Second, a, b))
		j := s.submit(t, &droverv1.Request{Service: "where", Width: 4, Arguments: arguments{"text": text("hello")}})
		s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_DONE)
		if got, want := s.output(t, j.GetId()), fmt.Sprintf("hello of %s:2,%s:2\n", a.Name, b.Name); got != want {
			t.Errorf("%s: %q, want %q", policy, got, want)
		}
		for service, ranks := range map[string]int{"ranks": 4, "hosts": 2} {
			j := s.submit(t, &droverv1.Request{Service: service})
			s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_DONE)
			got := s.output(t, j.GetId())
			for rank := range ranks {
				if want := fmt.Sprintf("%d of %d\n", rank, ranks); strings.Count(got, want) != 1 {
					t.Errorf("%s under %s: %q, want %q in it", service, policy, got, want)
				}
			}
		}
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// The job declares a whole processor for each of two processes, which use none.
func TestNeedsOfTasksOnNodesAreMeasured(t *testing.T) {
	a := nodetest.New(t)
	s := start(t, onNodesSite(t, "dfrs", 5*time.Second, a))
	j := s.submit(t, &droverv1.Request{Service: "idle"})
	s.until(t, j.GetId(), running)
	if slices.Contains(s.offers(), "measuring=none") {
		t.Skip("this host cannot measure needs: ", s.offers())
	}
	soon(t, "its need is known to be less", func() bool {
		res, err := s.client.GetJob(within(t), &droverv1.GetJobRequest{JobId: j.GetId()})
		if err != nil {
			t.Fatal(err)
		}
		n := res.GetJob().GetNeeds()
		return n.GetMeasuredCpu() > 0 && n.GetMeasuredCpu() < 0.99 && n.GetMeasuredMemoryBytes() > 0
	})
}

func TestVirtualNodesWithSharedProcessorsStartOneProgramPerTask(t *testing.T) {
	cfg := sharingSite(t, "nodes: [{count: 2, processors: 2}]")
	cfg.Catalogue = onNodesCatalogue(t)
	cfg.OnStop = LeaveJobs
	s := start(t, cfg)
	t.Cleanup(func() {
		if err := supervisor.Dismiss(context.Background(), cfg.DataDir, true); err != nil {
			t.Error(err)
		}
	})
	ranks := s.submit(t, &droverv1.Request{Service: "ranks"})
	idle := s.submit(t, &droverv1.Request{Service: "idle"})
	s.until(t, ranks.GetId(), done)
	for rank := range 4 {
		if got, want := s.output(t, ranks.GetId()), fmt.Sprintf("%d of 4\n", rank); strings.Count(got, want) != 1 {
			t.Errorf("%q, want %q in it", got, want)
		}
	}
	s.until(t, idle.GetId(), running)
	soon(t, "both are there", func() bool { return strings.Count(s.output(t, idle.GetId()), "ready") == 2 })
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s = start(t, cfg)
	now := s.until(t, idle.GetId(), running)
	if now.GetAttempt() != idle.GetAttempt() {
		t.Errorf("another attempt: %v", now)
	}
	if _, err := s.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: idle.GetId()}); err != nil {
		t.Fatal(err)
	}
	s.until(t, idle.GetId(), cancelled)
}

// onNodesCatalogue defines services for sites that start programs per task but not per node.
func onNodesCatalogue(t testing.TB) *catalogue.Catalogue {
	t.Helper()
	text, _, _ := strings.Cut(farYAML, "    - name: hosts")
	c, err := catalogue.Load(strings.NewReader("version: 1\nservices:"+text), "services")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestServerStartsWithoutItsNodesAndJobsWait(t *testing.T) {
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
	if res, err := s.client.GetJob(within(t), &droverv1.GetJobRequest{JobId: wide.GetId()}); err != nil ||
		res.GetJob().GetState() != waiting || !slices.Equal(res.GetJob().GetNodesAway(), []string{b.Name}) {
		t.Errorf("%v, %v", res, err)
	}
	if !log.has("node is down", b.Name, "connection refused") {
		t.Error("the log does not report the node as down")
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
	_, err = s.client.Estimate(within(t), &droverv1.EstimateRequest{Request: &droverv1.Request{
		Service: "where",
		Width:   4,
	}})
	if err == nil || !strings.Contains(err.Error(), "until these nodes answer again: "+b.Name) {
		t.Errorf("estimate: %v", err)
	}
	b.Start()
	if j := s.until(t, wide.GetId(), done); len(j.GetNodesAway()) > 0 {
		t.Errorf("the ended job waits for %v", j.GetNodesAway())
	}
}

// The server launches a job before it knows that the node is lost. The job waits again.
func TestJobWaitsAgainIfItsNodeIsLostBeforeTheLaunch(t *testing.T) {
	a := nodetest.New(t)
	s := start(t, onNodesSite(t, "easy", 20*time.Second, a)) // checked every 3 s
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

// Two nodes with a job each do not answer when the server starts. One comes back before
// its lease ends, the other one never does.
func TestServerStartsWhileNodesWithJobsAreUnreachable(t *testing.T) {
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
	comes.Stop(syscall.SIGKILL) // the supervisor and its tasks keep running
	begun := time.Now()
	p.run()
	if took := time.Since(begun); took > lease/2 {
		t.Errorf("took %v to start", took)
	}
	for i := range jobs {
		if j := p.job(jobs[i].GetId()); j.GetState() != running || j.GetAttempt() != jobs[i].GetAttempt() {
			t.Errorf("job %d is %v while its node is unreachable", i, j.GetState())
		}
	}
	comes.Start()
	lost := p.until(jobs[1].GetId(), failed)
	if why := lost.GetOutcome().GetReason(); !strings.Contains(why,
		"node "+never.Name+" did not answer for longer than its lease") {
		t.Errorf("%q", why)
	}
	if took := time.Since(begun); took < lease {
		t.Errorf("lost after %v, before its lease of %v ended", took, lease)
	}
	if j := p.job(jobs[0].GetId()); j.GetState() != running {
		t.Errorf("the job on the other node is %v: %v", j.GetState(), j.GetOutcome())
	}
	first.end(t)
	if j := p.until(jobs[0].GetId(), failed); j.GetOutcome().GetExitCode() != 7 || len(first.runs(t)) != 1 {
		t.Errorf("%v, ran %d times", j.GetOutcome(), len(first.runs(t)))
	}
	p.stop()
}

// While the server is down, the first job ends, the second keeps running and the third
// waits. The next server's configuration lists the nodes in another order.
func TestKilledServerAdoptsTheJobsOnItsNodes(t *testing.T) {
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
	if j := p.job(jobs[1].GetId()); j.GetState() != running || j.GetNodes()[0] != where[0] ||
		j.GetAttempt() != jobs[1].GetAttempt() {
		t.Errorf("the second job is %v on %v, was on %v", j.GetState(), j.GetNodes(), where)
	}
	if j := p.until(jobs[2].GetId(), running); j.GetNodes()[0] == where[0] {
		t.Errorf("the third job is on %v like the second", j.GetNodes())
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

func TestNodesThatDifferFromTheConfigurationAreRefused(t *testing.T) {
	a, b, c := nodetest.New(t), nodetest.New(t), nodetest.New(t)
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
	if j = s.until(t, j.GetId(), done); j.GetNodes()[0] != a.Name {
		t.Errorf("ran on %v", j.GetNodes())
	}
	wide := s.submit(t, &droverv1.Request{Service: "where", Width: 4})
	for what, words := range map[string][]string{
		"another's":  {"node is down", b.Name, "serves another server of site lyon"},
		"named":      {"node is down", "other", "this node is called " + c.Name},
		"processors": {"fewer processors", a.Name, "actual=2", "configured=3"},
		"memory":     {"less memory", a.Name},
	} {
		soon(t, what+" is logged", func() bool { return log.has(words...) })
	}
	if res, err := s.client.GetJob(within(t), &droverv1.GetJobRequest{JobId: wide.GetId()}); err != nil ||
		res.GetJob().GetState() != waiting {
		t.Errorf("%v, %v", res, err)
	}
}

func TestConfigurationThatWouldLoseJobsOnNodesIsRefused(t *testing.T) {
	a, b := nodetest.New(t), nodetest.New(t)
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
		"may run on node " + j.GetNodes()[0] + ", which is no longer configured":         without,
		"1 jobs run under a lease of 10s, but the lease is now 2s":                       shorter,
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
	if err := start(t, without).stop(); err != nil { // no job runs on it any more
		t.Error(err)
	}
}
