package server

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	osexec "os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/internal/freeport"
	"github.com/seed-9b8f70bb/drover/node/daemon"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/supervisor"
)

// beNode makes the test binary the daemon of a node, which says in a line that it is
// up and stops at SIGTERM.
func beNode(args []string) {
	flags := flag.NewFlagSet("node", flag.ExitOnError)
	var cfg daemon.Config
	flags.StringVar(&cfg.Name, "name", "", "")
	flags.StringVar(&cfg.Dir, "dir", "", "")
	flags.StringVar(&cfg.Listen, "listen", "", "")
	flags.IntVar(&cfg.Processors, "processors", 2, "")
	_ = flags.Parse(args)
	cfg.Logger = hclog.New(&hclog.LoggerOptions{Output: os.Stderr, Level: hclog.Debug})
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	d, err := daemon.New(ctx, cfg)
	if err == nil {
		fmt.Println("up")
		err = d.Run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(1)
	}
	syscall.Exit(0)
}

// testNode is a node whose daemon is a process of its own.
type testNode struct {
	t             testing.TB
	name, address string
	dir           string
	log           string // file
	cmd           *osexec.Cmd
}

// newNode starts one. Its name is unique among those that this host has at a time.
func newNode(t testing.TB) *testNode {
	t.Helper()
	root := t.TempDir()
	n := &testNode{
		t: t, name: "t" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(time.Now().UnixNano()%1e10, 36),
		address: freeport.Address(t), dir: filepath.Join(root, "node"), log: filepath.Join(root, "log"),
	}
	n.run()
	t.Cleanup(func() {
		n.end(syscall.SIGTERM)
		if err := supervisor.Dismiss(context.Background(), n.dir, true); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			text, _ := os.ReadFile(n.log)
			t.Logf("log of %s:\n%s", n.name, tailOf(text))
		}
	})
	return n
}

// run starts the daemon, with further arguments, and returns when it serves.
func (n *testNode) run(args ...string) {
	n.t.Helper()
	log, err := os.OpenFile(n.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		n.t.Fatal(err)
	}
	defer log.Close()
	n.cmd = osexec.Command(os.Args[0], append([]string{"node", "--name", n.name, "--dir", n.dir, "--listen", n.address}, args...)...)
	n.cmd.Stderr = log
	out, err := n.cmd.StdoutPipe()
	if err == nil {
		err = n.cmd.Start()
	}
	if err != nil {
		n.t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "up\n" {
		text, _ := os.ReadFile(n.log)
		n.t.Fatalf("%q, %v:\n%s", line, err, text)
	}
}

// end ends the daemon, and leaves its supervisor.
func (n *testNode) end(sig syscall.Signal) {
	n.t.Helper()
	if n.cmd == nil {
		return
	}
	if err := n.cmd.Process.Signal(sig); err != nil {
		n.t.Error(err)
	}
	if err := n.cmd.Wait(); err != nil && sig == syscall.SIGTERM {
		n.t.Error(err)
	}
	n.cmd = nil
}

// die kills the daemon and its supervisor, as if the host had gone.
func (n *testNode) die() {
	n.t.Helper()
	n.end(syscall.SIGKILL)
	for _, pid := range processesWith(func(args []string) bool {
		return slices.Contains(args, "supervise") && slices.Contains(args, n.dir)
	}) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			n.t.Error(err)
		}
		await(n.t, pid)
	}
}

// onNodes are the lines of a configuration with such nodes of two processors each.
func onNodes(policy string, lease time.Duration, nodes ...*testNode) string {
	var b strings.Builder
	fmt.Fprintf(&b, "policy: {name: %s}\nlease: %v\nnodes:\n", policy, lease)
	for _, n := range nodes {
		fmt.Fprintf(&b, "  - {name: %s, processors: 2, memory: 1GiB, address: \"http://%s\"}\n", n.name, n.address)
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
func onNodesSite(t testing.TB, policy string, lease time.Duration, nodes ...*testNode) Config {
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
	text, err := os.ReadFile(filepath.Join(s.data.root, "jobs", id, "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestJobsRunOnNodesUnderEveryKindOfPolicy(t *testing.T) {
	a, b := newNode(t), newNode(t)
	for _, policy := range []string{"easy", "dfrs", "cbf"} {
		for _, n := range []*testNode{a, b} { // the nodes are another server's now
			n.end(syscall.SIGTERM)
			if err := os.Remove(filepath.Join(n.dir, "owner.json")); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			n.run()
		}
		s := start(t, onNodesSite(t, policy, 3*time.Second, a, b))
		j := s.submit(t, &droverv1.Request{Service: "where", Width: 4, Arguments: arguments{"text": text("hello")}})
		s.until(t, j.GetId(), droverv1.JobState_JOB_STATE_DONE)
		if got, want := s.output(t, j.GetId()), fmt.Sprintf("hello of %s:2,%s:2\n", a.name, b.name); got != want {
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
	a := newNode(t)
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
