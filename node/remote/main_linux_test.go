package remote

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	osexec "os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/internal/freeport"
	"github.com/seed-9b8f70bb/drover/node"
	"github.com/seed-9b8f70bb/drover/node/daemon"
	"github.com/seed-9b8f70bb/drover/process"
	"github.com/seed-9b8f70bb/drover/supervisor"
)

// The test binary is the daemon, its supervisor and the gates too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "gate":
			process.Gate()
		case "supervise":
			supervise(os.Args[2:])
		case "node":
			serve(os.Args[2:])
		}
	}
	goleak.VerifyTestMain(m)
}

func supervise(args []string) {
	flags := flag.NewFlagSet("supervise", flag.ExitOnError)
	dir := flags.String("dir", "", "")
	ready := flags.Uint("ready-fd", 0, "")
	leased := flags.Bool("leased", false, "")
	_ = flags.Parse(args)
	cfg := supervisor.ServeConfig{Dir: *dir, Linger: 300 * time.Millisecond, Leased: *leased, Level: hclog.Debug}
	if *ready != 0 {
		syscall.CloseOnExec(int(*ready))
		cfg.Ready = os.NewFile(uintptr(*ready), "ready")
	}
	exit(supervisor.Serve(context.Background(), cfg))
}

func serve(args []string) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	d, err := daemon.New(ctx, daemon.Config{
		Name: args[0], Dir: args[1], Listen: args[2],
		Logger: hclog.New(&hclog.LoggerOptions{Output: os.Stderr, Level: hclog.Info}),
	})
	if err != nil {
		exit(err)
	}
	fmt.Println("up")
	exit(d.Run(ctx))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(1)
	}
	syscall.Exit(0)
}

type testLog struct{ t testing.TB }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

// rig is a node with its daemon in a process of its own, reached through a proxy.
type rig struct {
	t       testing.TB
	dir     string
	name    string // of the node, and no other test's
	address string
	cmd     *osexec.Cmd
	proxy   *proxy
	node    *Node
}

func newRig(t testing.TB) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{t: t, dir: dir, address: freeport.Address(t), name: "t" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(time.Now().UnixNano()%1e9, 10)}
	r.start()
	r.proxy = newProxy(t, r.address)
	r.node = r.client("lyon", "id1")
	t.Cleanup(func() {
		r.node.Close()
		r.stop(syscall.SIGTERM)
		if err := supervisor.Dismiss(context.Background(), r.own(), true); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) own() string { return filepath.Join(r.dir, "node") }

// client is a server's side, through the proxy.
func (r *rig) client(site, id string) *Node {
	return New(Config{
		Name: r.name, Address: "http://" + r.proxy.address(), Site: site, SiteID: id, UseInterval: 50 * time.Millisecond,
		Logger: hclog.New(&hclog.LoggerOptions{Output: testLog{r.t}, Level: hclog.Debug}),
	})
}

// start starts the daemon.
func (r *rig) start() {
	r.t.Helper()
	r.cmd = osexec.Command(os.Args[0], "node", r.name, r.own(), r.address)
	r.cmd.Stderr = os.Stderr
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "up\n" {
		r.t.Fatal(line, err)
	}
}

// stop ends the daemon.
func (r *rig) stop(sig syscall.Signal) {
	r.t.Helper()
	if r.cmd == nil {
		return
	}
	if err := r.cmd.Process.Signal(sig); err != nil {
		r.t.Error(err)
	}
	if err := r.cmd.Wait(); err != nil && sig == syscall.SIGTERM {
		r.t.Error(err)
	}
	r.cmd = nil
}

// guard returns the process that watches over the supervisor: a child of it that leads a
// session.
func (r *rig) guard() int {
	r.t.Helper()
	all, err := filepath.Glob("/proc/" + strconv.Itoa(r.supervisor()) + "/task/*/children")
	var children []string // by the thread that has made them
	for _, name := range all {
		text, _ := os.ReadFile(name) // a thread that has ended has none
		children = append(children, strings.Fields(string(text))...)
	}
	for _, child := range children {
		stat, _ := os.ReadFile("/proc/" + child + "/stat") // it is a child of a process that lives
		if f := strings.Fields(string(stat)); len(f) > 5 && f[5] == child {
			pid, _ := strconv.Atoi(child)
			return pid
		}
	}
	r.t.Fatal("no guard: ", err)
	return 0
}

// supervisor returns the process that runs the node's programs.
func (r *rig) supervisor() int {
	r.t.Helper()
	conn, err := new(net.Dialer).DialContext(r.t.Context(), "unix", filepath.Join(r.own(), "supervisor.sock"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		r.t.Fatal(err)
	}
	pid := 0
	err = raw.Control(func(fd uintptr) {
		if cred, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	})
	if err != nil || pid == 0 {
		r.t.Fatal("no supervisor: ", err)
	}
	return pid
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
			_ = r.node.Renew(each, lease) // the next one is tried whatever it says
			cancel()
		}
	}()
	return func() { cancel(); <-done }
}

func id(attempt int) node.ID {
	return node.ID{Key: batch.Key{Job: "job", Epoch: 1, Attempt: uint32(attempt)}}
}

func (r *rig) task(attempt int, text string, args ...string) node.Task {
	return node.Task{ID: id(attempt), Spec: exec.Spec{
		Args: append([]string{"/bin/sh", "-c", text, "sh", r.dir}, args...), Env: []string{"PATH=" + os.Getenv("PATH")},
		Dir: filepath.Join(r.dir, "work"), Stdout: filepath.Join(r.dir, "out"), Stderr: filepath.Join(r.dir, "out"),
	}}
}

func (r *rig) launch(t node.Task) *Process {
	r.t.Helper()
	p, err := r.node.Launch(r.t.Context(), t)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// runs is a script that says that it runs, and as whom, and how often it ran.
const runs = `echo $$ > "$1/pid.new" && mv "$1/pid.new" "$1/pid"; echo x >> "$1/ran"; `

// pid waits for a script that says who it is.
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

// ran is how often it did.
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

func alive(pid int) bool {
	id, err := process.Identify(pid)
	if err != nil {
		return false
	}
	ok, err := id.Alive()
	return err == nil && ok
}

// proxy passes bytes on, but while it is cut.
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

// pass holds what it has read while the proxy is cut, as a network that is slow to
// deliver would.
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
