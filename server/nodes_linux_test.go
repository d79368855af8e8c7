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

// die kills the daemon and its supervisor, as if the host had gone.
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

// onNodes are the lines of a configuration with such nodes of two processors each.
func onNodes(policy string, lease time.Duration, nodes ...*nodetest.Daemon) string {
	var b strings.Builder
	fmt.Fprintf(&b, "policy: {name: %s}\nlease: %v\nnodes:\n", policy, lease)
	for _, n := range nodes {
		fmt.Fprintf(&b, "  - {name: %s, processors: 2, memory: 1GiB, address: \"http://%s\"}\n", n.Name, n.Address)
	}
	return b.String()
}

// farYAML are services that say where they run.
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

// onNodesSite is the configuration of a site with such nodes.
func onNodesSite(t testing.TB, policy string, lease time.Duration, nodes ...*nodetest.Daemon) Config {
	t.Helper()
	cfg, err := ParseConfig([]byte(fmt.Sprintf("version: 1\nname: lyon\nlisten: 127.0.0.1:0\ngossip: {bind: 127.0.0.1:0}\ndata_dir: %s\ngrace: 1s\non_stop: end\nservices:\n  inline:%s\n%s",
		t.TempDir(), farYAML, onNodes(policy, lease, nodes...))), "")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// output returns what a job has written to its stdout.
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
		for _, n := range []*nodetest.Daemon{a, b} { // the nodes are another server's now
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

// Declared is a whole processor for each of two processes that use none.
func TestNeedsOfTasksOnNodesAreMeasured(t *testing.T) {
	a := nodetest.New(t)
	s := start(t, onNodesSite(t, "dfrs", 5*time.Second, a))
	j := s.submit(t, &droverv1.Request{Service: "idle"})
	s.until(t, j.GetId(), running)
	if slices.Contains(s.offers(), "measuring=none") {
		t.Skip("this host measures nothing: ", s.offers())
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

func TestVirtualNodesThatShareProcessorsStartProgramsPerTask(t *testing.T) {
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

// onNodesCatalogue is what sites offer that start programs per task, but not per node.
func onNodesCatalogue(t testing.TB) *catalogue.Catalogue {
	t.Helper()
	text, _, _ := strings.Cut(farYAML, "    - name: hosts")
	c, err := catalogue.Load(strings.NewReader("version: 1\nservices:"+text), "services")
	if err != nil {
		t.Fatal(err)
	}
	return c
}
