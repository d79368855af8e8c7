package remote

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
	"github.com/seed-9b8f70bb/drover/batch/exec/node/daemon"
	"github.com/seed-9b8f70bb/drover/internal/nodetest"
)

// The test binary also runs as the daemon, its supervisor and the gates.
func TestMain(m *testing.M) {
	nodetest.Main(map[string]func([]string) error{"node": serve})
	goleak.VerifyTestMain(m)
}

func serve(args []string) error {
	return nodetest.Serve(args, func(ctx context.Context, o nodetest.Options) (*daemon.Daemon, error) {
		return daemon.New(ctx, daemon.Config{
			Name: o.Name, Dir: o.Dir, Listen: o.Listen,
			Logger: hclog.New(&hclog.LoggerOptions{Output: os.Stderr, Level: hclog.Info}),
		})
	})
}

type testLog struct{ t testing.TB }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

// rig is a node with its daemon, reached through a proxy.
type rig struct {
	*nodetest.Daemon
	t     testing.TB
	dir   string
	proxy *proxy
	node  *Node
}

func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{Daemon: nodetest.New(t), t: t, dir: t.TempDir()}
	r.proxy = newProxy(t, r.Address)
	r.node = r.client("lyon", "id1")
	t.Cleanup(func() { r.node.Close() })
	return r
}

// client returns a server's client of the node, through the proxy.
func (r *rig) client(site, id string) *Node {
	return New(Config{
		Name: r.Name, Address: "http://" + r.proxy.address(), Site: site, SiteID: id,
		UseInterval: 50 * time.Millisecond,
		Logger:      hclog.New(&hclog.LoggerOptions{Output: testLog{r.t}, Level: hclog.Debug}),
	})
}

// guard returns the process that watches the supervisor: a child of the supervisor that leads
// a session.
func (r *rig) guard() int {
	r.t.Helper()
	all, err := filepath.Glob("/proc/" + strconv.Itoa(r.Supervisor()) + "/task/*/children")
	var children []string // of all threads
	for _, name := range all {
		text, _ := os.ReadFile(name) // fails for a thread that has ended
		children = append(children, strings.Fields(string(text))...)
	}
	for _, child := range children {
		stat, _ := os.ReadFile("/proc/" + child + "/stat") // the parent lives, so the file exists
		if f := strings.Fields(string(stat)); len(f) > 5 && f[5] == child {
			pid, _ := strconv.Atoi(child)
			return pid
		}
	}
	r.t.Fatal("no guard: ", err)
	return 0
}

// keep renews the lease until stop is called.
func (r *rig) keep(lease time.Duration) (stop func()) {
	r.t.Helper()
	if err := r.node.Renew(r.t.Context(), lease); err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(r.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for wait(ctx, nil, lease/10) == nil {
			each, cancel := context.WithTimeout(ctx, lease/3)
			_ = r.node.Renew(each, lease) // an error is ignored: the next renewal follows
			cancel()
		}
	}()
	return func() { cancel(); <-done }
}

func id(attempt int) node.ID {
	return node.ID{Key: batch.Key{Job: "job", Epoch: 1, Attempt: uint32(attempt)}}
}

func (r *rig) task(attempt int, text string, args ...string) node.TaskSpec {
	return node.TaskSpec{ID: id(attempt), Spec: exec.Spec{
		Args: append([]string{"/bin/sh", "-c", text, "sh", r.dir}, args...), Env: []string{"PATH=" + os.Getenv("PATH")},
		Dir: filepath.Join(r.dir, "work"), Stdout: filepath.Join(r.dir, "out"), Stderr: filepath.Join(r.dir, "out"),
	}}
}

func (r *rig) launch(t node.TaskSpec) *Task {
	r.t.Helper()
	p, err := r.node.Launch(r.t.Context(), t)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// runs returns a script that records its process number at each run.
const runs = `echo $$ > "$1/pid.new" && mv "$1/pid.new" "$1/pid"; echo x >> "$1/ran"; `

// pid waits until a script prints its process number.
func (r *rig) pid() int {
	r.t.Helper()
	var pid int
	r.until("it runs", func() bool {
		text, err := os.ReadFile(filepath.Join(r.dir, "pid"))
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		return err == nil
	})
	return pid
}

// ran returns the number of runs of the script.
func (r *rig) ran() int {
	text, _ := os.ReadFile(filepath.Join(r.dir, "ran"))
	return strings.Count(string(text), "\n")
}

func (r *rig) until(what string, so func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); {
		if time.Now().After(deadline) {
			r.t.Fatal("not so after a minute: ", what)
		}
		_ = wait(r.t.Context(), nil, time.Millisecond)
	}
}

// proxy forwards bytes except while it is cut.
type proxy struct {
	listener net.Listener
	to       string
	work     sync.WaitGroup

	mu    sync.Mutex
	open  sync.Cond // not cut
	cut   bool
	over  bool
	conns map[net.Conn]struct{}
}

func newProxy(t testing.TB, to string) *proxy {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, to: to, conns: make(map[net.Conn]struct{})}
	p.open.L = &p.mu
	p.work.Go(p.run)
	t.Cleanup(func() {
		p.mu.Lock()
		p.over = true
		p.open.Broadcast()
		p.mu.Unlock()
		l.Close()
		p.drop()
		p.work.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) run() {
	for {
		in, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.work.Go(func() {
			defer in.Close()
			out, err := new(net.Dialer).DialContext(context.Background(), "tcp", p.to)
			if err != nil {
				return
			}
			defer out.Close()
			p.mu.Lock()
			p.conns[in], p.conns[out] = struct{}{}, struct{}{}
			p.mu.Unlock()
			p.work.Go(func() { p.pass(in, out) })
			p.pass(out, in)
		})
	}
}

// pass holds bytes while the proxy is cut, like a slow network.
func (p *proxy) pass(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 16<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		for p.cut && !p.over {
			p.open.Wait()
		}
		p.mu.Unlock()
		if _, e := to.Write(buffer[:n]); err != nil || e != nil {
			return
		}
	}
}

// setCut holds all bytes, or delivers those that were held.
func (p *proxy) setCut(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
	p.open.Broadcast()
}

// drop closes all connections.
func (p *proxy) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
	clear(p.conns)
}
