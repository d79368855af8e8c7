package main

import (
	"bytes"
	"context"
	"flag"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/seed-9b8f70bb/drover/agent"
	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/cmdline/cmdlinetest"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/server"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "gate" || os.Args[1] == "supervise") {
		main() // this process was started by its path, not as drover
	}
	// Without this, a process with the race detector takes a second to exit.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	// Parallel tests mostly wait for processes: run more of them than there are processors.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"drover": main})
}

// testServices configures the services of the tests' sites: the bundled ones, and one that runs
// any command.
const testServices = `
services:
  catalogue: services.yaml
  inline:
    - name: exec
      doc: Runs an argument vector, for tests.
      args:
        - {name: argv, type: string}
        - {name: seconds, type: float, default: 30}
      command: [drover, service, exec, "--argv={argv}"]
      walltime: {factor: 1}
      model: {fixed: {width: 1, time: seconds}}
`

// grid is an agent and its sites, within the test.
type grid struct {
	agent, seed string
	sites       map[string]*server.Server
	stop        map[string]context.CancelFunc
}

// startGrid starts an agent and two sites: lyon is wide, nancy is narrow.
func startGrid(t *testing.T) *grid {
	t.Helper()
	return startGridOf(t, map[string]string{
		"lyon":  "nodes: [{count: 4, processors: 2}]\npolicy: {name: cbf}\n",
		"nancy": "nodes: [{count: 1, processors: 4}]\npolicy: {name: easy}\n",
	})
}

// startGridOf starts an agent and sites with the given configurations, by name. Rounds of
// reallocation run only on demand.
func startGridOf(t *testing.T, sites map[string]string) *grid {
	t.Helper()
	g := &grid{sites: make(map[string]*server.Server), stop: make(map[string]context.CancelFunc)}
	dir := t.TempDir() // created before the first cleanup, so it is removed after the last one
	var wg sync.WaitGroup
	t.Cleanup(func() { // runs after the cleanups below, which end the contexts
		wg.Wait()
	})
	start := func(name string, run func(context.Context) error) {
		ctx, cancel := context.WithCancel(context.Background())
		g.stop[name] = cancel
		t.Cleanup(cancel)
		wg.Go(func() {
			if err := run(ctx); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	ac := agent.Default()
	ac.Listen, ac.Gossip.Bind, ac.Reallocation.Period = "127.0.0.1:0", "127.0.0.1:0", "off"
	a, err := agent.New(ac)
	if err != nil {
		t.Fatal(err)
	}
	g.agent, g.seed = a.URL(), a.Seed()
	start("agent", a.Run)
	program, err := exec.LookPath("drover") // testscript added it to PATH
	if err != nil {
		t.Fatal(err)
	}
	for name, config := range sites {
		services := testServices
		if strings.Contains(config, "\nservices:") { // it has its own
			services = "\n"
		}
		sc, err := server.ParseConfig([]byte("version: 1\nname: "+name+"\nlisten: 127.0.0.1:0\ngrace: 1s\n"+
			"on_stop: end\n"+config+
			"gossip: {bind: 127.0.0.1:0, seeds: ['"+g.seed+"']}\ndata_dir: "+filepath.Join(dir, name)+services),
			".")
		if err != nil {
			t.Fatal(err)
		}
		sc.Program = program
		s, err := server.New(sc)
		if err != nil {
			t.Fatal(err)
		}
		g.sites[name] = s
		start(name, s.Run)
	}
	g.await(t, len(sites))
	return g
}

// await waits until the agent knows n sites and each site knows the others.
func (g *grid) await(t *testing.T, n int) {
	t.Helper()
	c, err := client.New(client.Default(g.agent))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for range 3000 {
		if sites, err := c.Sites(t.Context()); err == nil && len(sites) >= n && acquainted(t, sites) {
			return
		}
		<-ticker.C
	}
	t.Fatalf("the agent does not know %d sites that know each other", n)
}

// acquainted reports whether each site knows the servers of the others. If a site knows the
// target, it refuses to move an unknown job only because the job is unknown.
func acquainted(t *testing.T, sites []client.Site) bool {
	t.Helper()
	const noJob = "01900000-0000-7000-8000-000000000000"
	for _, from := range sites {
		s := droverv1connect.NewServerServiceClient(http.DefaultClient, from.Address)
		for _, to := range sites {
			if to.Name == from.Name {
				continue
			}
			_, err := s.MoveJob(t.Context(), &droverv1.MoveJobRequest{JobId: noJob, To: to.Name})
			if connect.CodeOf(err) != connect.CodeNotFound || strings.Contains(err.Error(), "unknown site") {
				return false
			}
		}
	}
	return true
}

func TestScripts(t *testing.T) {
	g := startGrid(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			matrix, err := filepath.Abs("../../server/services/lu/testdata/lund_a.mtx")
			env.Setenv("DROVER_AGENTS", g.agent)
			env.Setenv("USER", "gopher")
			if err != nil {
				return err
			}
			npy, err := filepath.Abs("../../client/npy/testdata")
			env.Setenv("MATRIX", matrix)
			env.Setenv("NPY", npy)
			env.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each program takes a second to exit
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": cmdlinetest.Exits, "capture": capture},
	})
}

// decode parses the protobuf JSON that a command has printed.
func decode[M proto.Message](t testing.TB, text string, m M) M {
	t.Helper()
	if err := protojson.Unmarshal([]byte(text), m); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return m
}

// capture sets a variable to the output of the last program: capture JOB.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: capture VARIABLE")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// trigger is a writer that calls a function when a word has been written.
type trigger struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	word string
	call func()
}

func (w *trigger) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Write(p)
	if w.word != "" && strings.Contains(w.buf.String(), w.word) {
		w.word = ""
		w.call()
	}
	return len(p), nil
}

// inProcess returns a process whose signals are a function call.
func inProcess(g *grid, args ...string) (p *cmdline.Process, stdout *bytes.Buffer, stderr *trigger) {
	stdout, stderr = &bytes.Buffer{}, &trigger{}
	ctx, interrupt := context.WithCancel(context.Background())
	stderr.call = interrupt
	return &cmdline.Process{
		Args: append([]string{"--agent", g.agent}, args...), Getenv: func(string) string { return "" },
		Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr, Terminal: true,
		Signals: func(context.Context) (context.Context, context.CancelFunc) { return ctx, interrupt },
	}, stdout, stderr
}

func TestInterruptedWaitLeavesTheJobRunning(t *testing.T) {
	g := startGrid(t)
	p, out, _ := inProcess(g, "submit", "sleep", "seconds=300")
	if code := run(p); code != cmdline.ExitOK {
		t.Fatalf("submit: exit code %d", code)
	}
	job := strings.TrimSpace(out.String())
	p, _, errOut := inProcess(g, "wait", job)
	errOut.word = ": running"
	if code := run(p); code != cmdline.ExitInterrupted {
		t.Errorf("wait: exit code %d", code)
	}
	if !strings.Contains(errOut.buf.String(), "job "+job+" continues") {
		t.Errorf("wait: stderr %q", errOut.buf.String())
	}
	p, out, _ = inProcess(g, "--json", "job", job)
	if code := run(p); code != cmdline.ExitOK || !strings.Contains(out.String(), `"state": "JOB_STATE_RUNNING"`) {
		t.Errorf("job: exit code %d: %s", code, out)
	}

	p, _, errOut = inProcess(g, "call", "sleep", "seconds=300")
	errOut.word = ": running"
	if code := run(p); code != cmdline.ExitInterrupted || !strings.Contains(errOut.buf.String(), "continues") {
		t.Errorf("call: exit code %d, stderr %q", code, errOut.buf.String())
	}
}

func TestCallReportsAJobThatEndsWithItsSite(t *testing.T) {
	g := startGrid(t)
	p, out, errOut := inProcess(g, "call", "exec", `argv=["sleep", "300"]`, "seconds=400", "--patience", "100ms")
	errOut.word = ": running"
	errOut.call = func() { g.stop["lyon"](); g.stop["nancy"]() }
	// SIGTERM ends the program, unless the program already handles it and reports a failure.
	if code := run(p); code != cmdline.ExitSignal+15 && code != cmdline.ExitFailure ||
		!strings.Contains(errOut.buf.String(), "at site lyon: failed") {
		t.Errorf("call: exit code %d: %s%s", code, out, errOut.buf.String())
	}
}

// TestRolesAsProcesses starts an agent and a site as programs and stops them with SIGTERM.
func TestRolesAsProcesses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	url, seed, stopAgent := startRole(t, "agent", "--config", write("agent.yaml",
		"version: 1\nname: g\nlisten: 127.0.0.1:0\ngossip: {bind: 127.0.0.1:0}\n"))
	catalogue := write("services.yaml", string(bundledYAML))
	_, _, stopSite := startRole(t, "server", "--seed", seed, "--config", write("site.yaml",
		"version: 1\nname: lyon\nlisten: 127.0.0.1:0\ngossip: {bind: 127.0.0.1:0}\ndata_dir: "+filepath.Join(dir,
			"data")+
			"\nnodes: [{processors: 2}]\nservices: {catalogue: "+catalogue+"}\n"))
	g := &grid{agent: url}
	g.await(t, 1)
	p, out, errOut := inProcess(g, "call", "sleep", "seconds=0.1")
	if code := run(p); code != cmdline.ExitOK || out.String() != "slept 0.1s\n" {
		t.Errorf("call: exit code %d: %s%s", code, out, errOut.buf.String())
	}
	stopSite()
	stopAgent()
}

// startRole starts a program. It returns the addresses that the program prints, and a function
// that stops it with SIGTERM and requires exit code 0.
func startRole(t *testing.T, args ...string) (url, seed string, stop func()) {
	t.Helper()
	cmd := exec.Command("drover", args...)
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := false
	t.Cleanup(func() {
		if !stopped {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			t.Logf("%v: %s", args, log.String())
		}
	})
	line := make([]byte, 4096)
	n, err := out.Read(line)
	words := strings.Fields(string(line[:n]))
	if err != nil || len(words) != 8 {
		t.Fatalf("%v prints %q, %v", args, line[:n], err)
	}
	return strings.TrimSuffix(words[4], ","), words[7], func() {
		t.Helper()
		stopped = true
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v\n%s", args, err, log.String())
		}
	}
}
