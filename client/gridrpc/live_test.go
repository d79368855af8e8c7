package gridrpc

import (
	"context"
	"flag"
	"net/http"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-9b8f70bb/drover/agent"
	"github.com/seed-9b8f70bb/drover/batch/exec/process"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/client/clienttest"
	"github.com/seed-9b8f70bb/drover/server"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 { // the servers of a live grid start this binary as their program
		switch os.Args[1] {
		case "gate":
			process.Gate()
		case "supervise":
			supervise(os.Args[2:])
		}
	}
	// A probe of a member that has left ends after its timeout.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/hashicorp/memberlist.(*Memberlist).probeNode"))
}

const id = clienttest.ID

// newWorld returns a grid of fakes and a client of it. It is called in a bubble.
func newWorld(t *testing.T, cfg client.Config) (*clienttest.World, *client.Client) {
	w, transport := clienttest.New(t)
	return w, newClient(t, cfg, transport)
}

// newDepots returns a grid of fakes with data, and a client of it.
func newDepots(t *testing.T, cfg client.Config) (*clienttest.Depots, *client.Client) {
	g, transport := clienttest.NewDepots(t)
	return g, newClient(t, cfg, transport)
}

func newClient(t *testing.T, cfg client.Config, transport http.RoundTripper) *client.Client {
	cfg.Agents = []string{"http://agent"}
	c, err := client.New(cfg, client.WithTransport(transport))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// patient is a configuration with a second for each call.
func patient(d time.Duration) client.Config {
	return client.Config{Patience: d, LongPatience: d, CallTimeout: time.Second}
}

// supervise makes the test binary the supervisor of a server under test.
func supervise(args []string) {
	flags := flag.NewFlagSet("supervise", flag.ExitOnError)
	dir := flags.String("dir", "", "")
	ready := flags.Uint("ready-fd", 0, "")
	_ = flags.Parse(args)
	cfg := supervisor.ServeConfig{Dir: *dir, Linger: 300 * time.Millisecond}
	if *ready != 0 {
		syscall.CloseOnExec(int(*ready))
		cfg.Ready = os.NewFile(uintptr(*ready), "ready")
	}
	if supervisor.Serve(context.Background(), cfg) != nil {
		syscall.Exit(1)
	}
	syscall.Exit(0)
}

// everywhere is what both sites of a live grid offer.
const everywhere = `
services:
  inline:
    - name: mix
      doc: Writes down every argument it got.
      args:
        - {name: count, type: int}
        - {name: ratio, type: float}
        - {name: word, type: string}
        - {name: flag, type: bool}
        - {name: input, type: file}
        - {name: note, type: string, default: none}
        - {name: report, type: file-out}
        - {name: copy, type: file-out}
      command: [sh, -c, 'printf "%s|%s|%s|%s|%s" "$1" "$2" "$3" "$4" "$5" > "$7"; cat "$6" > "$8"', mix, "{count}", "{ratio}", "{word}", "{flag}", "{note}", "{input}", "{report}", "{copy}"]
      model: {fixed: {width: 1, time: 5}}
    - name: arrays
      doc: What goes into c comes out as before, what is in a comes out of c.
      args:
        - {name: a, type: matrix}
        - {name: v, type: vector, element: int32}
        - {name: c, type: matrix-inout, dims: [a.rows, a.cols]}
        - {name: notes, type: file-inout}
        - {name: copy, type: vector-out, element: int32, dims: [v.length]}
        - {name: before, type: matrix-out, dims: [a.rows, a.cols]}
      command: [sh, -c, 'cp "$3" "$6"; cat "$1" > "$3"; cp "$2" "$5"; printf " %s changed" "$7" >> "$4"', arrays, "{a}", "{v}", "{c}", "{notes}", "{copy}", "{before}", "{a.rows}x{a.cols}"]
      model: {fixed: {width: 1, time: 5}}
    - name: nap
      doc: Sleeps.
      args: [{name: seconds, type: float, default: 0}]
      command: [sleep, "{seconds}"]
      walltime: {margin: 60s}
      model: {fixed: {width: 1, time: 1}}
    - name: fail
      doc: Exits with a code.
      args: [{name: code, type: int, default: 3, min: 0, max: 99}]
      command: [sh, -c, 'exit "$1"', fail, "{code}"]
      model: {fixed: {width: 1, time: 5}}
`

// onlyNancy is what one site offers in addition.
const onlyNancy = `
    - name: rare
      doc: Is offered at nancy.
      command: ["true"]
      model: {fixed: {width: 1, time: 5}}
`

// live starts an agent and two sites with real sockets and processes, and returns
// the agent's URL. They end with the test.
func live(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	t.Cleanup(func() { cancel(); wg.Wait() })
	start := func(name string, run func(context.Context) error) {
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
	start("agent", a.Run)
	for name, config := range map[string]string{
		"lyon":  "nodes: [{count: 1, processors: 8}]\nspeed: 2\npolicy: {name: cbf}\n" + everywhere,
		"nancy": "nodes: [{count: 1, processors: 4}]\npolicy: {name: easy}\n" + everywhere + onlyNancy,
	} {
		sc, err := server.ParseConfig([]byte("version: 1\nname: "+name+"\nlisten: 127.0.0.1:0\ngrace: 1s\n"+
			"on_stop: end\n"+
			"gossip: {bind: 127.0.0.1:0, seeds: ['"+a.Seed()+"']}\ndata_dir: "+t.TempDir()+"\n"+config), ".")
		if err != nil {
			t.Fatal(err)
		}
		if sc.Program, err = os.Executable(); err != nil {
			t.Fatal(err)
		}
		s, err := server.New(sc)
		if err != nil {
			t.Fatal(err)
		}
		start(name, s.Run)
	}
	c, err := client.New(client.Default(a.URL()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for range 3000 {
		if services, err := c.Services(t.Context()); err == nil && len(services) == 5 && len(services[0].Sites) == 2 {
			return a.URL()
		}
		<-ticker.C
	}
	t.Fatal("the agent does not know the two sites")
	return ""
}

// liveGrid is a grid of live.
func liveGrid(t *testing.T) *Grid {
	t.Helper()
	g, err := InitializeAgents([]string{live(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Finalize() })
	return g
}

// handle returns a handle that has to be had.
func handleOf(t *testing.T, g *Grid, service string) *Handle {
	t.Helper()
	h, err := g.Handle(t.Context(), service)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// async calls, which has to be accepted.
func async(t *testing.T, h *Handle, args ...any) *Session {
	t.Helper()
	s, err := h.CallAsync(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wantCode fails the test when an error is not a *CodeError of this code.
func wantCode(t *testing.T, what string, err error, want Code) {
	t.Helper()
	_ = codeError(t, what, err, want)
}

// codeError is wantCode, and returns the error.
func codeError(t *testing.T, what string, err error, want Code) *CodeError {
	t.Helper()
	e, ok := err.(*CodeError) //nolint:errorlint // it has to be one itself
	switch {
	case want == NoError && err == nil:
	case !ok || e.Code != want || CodeOf(err) != want:
		t.Errorf("%s: %v (%T, %v), want %v", what, err, err, CodeOf(err).String(), want.String())
	}
	return e
}
