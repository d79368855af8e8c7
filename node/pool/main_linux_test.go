package pool_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	osexec "os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/seed-9b8f70bb/drover/internal/freeport"
	"github.com/seed-9b8f70bb/drover/node/daemon"
	"github.com/seed-9b8f70bb/drover/node/remote"
	"github.com/seed-9b8f70bb/drover/process"
	"github.com/seed-9b8f70bb/drover/supervisor"
)

// The test binary is the daemons, their supervisors and the gates too.
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
	cfg := supervisor.ServeConfig{Dir: *dir, Linger: 300 * time.Millisecond, Leased: *leased, Level: hclog.Info}
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
		Name: args[0], Dir: args[1], Listen: args[2], Logger: hclog.New(&hclog.LoggerOptions{Output: os.Stderr, Level: hclog.Warn}),
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

// rig is a node whose daemon is a process of its own.
type rig struct {
	name, dir, address string
	cmd                *osexec.Cmd
	far                *remote.Node
}

func newRig(t testing.TB, n int) *rig {
	t.Helper()
	r := &rig{
		name: "p" + strconv.Itoa(os.Getpid()) + "-" + strconv.Itoa(n) + "-" + strconv.FormatInt(time.Now().UnixNano()%1e9, 10),
		dir:  filepath.Join(t.TempDir(), "node"), address: freeport.Address(t),
	}
	r.start(t)
	r.far = remote.New(remote.Config{Name: r.name, Address: "http://" + r.address, Site: "lyon", SiteID: "id1"})
	t.Cleanup(func() {
		r.far.Close()
		r.stop(t, syscall.SIGTERM)
		if err := supervisor.Dismiss(context.Background(), r.dir, true); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) start(t testing.TB) {
	t.Helper()
	r.cmd = osexec.Command(os.Args[0], "node", r.name, r.dir, r.address)
	r.cmd.Stderr = os.Stderr
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "up\n" {
		t.Fatal(line, err)
	}
}

func (r *rig) stop(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if r.cmd == nil {
		return
	}
	if err := r.cmd.Process.Signal(sig); err != nil {
		t.Error(err)
	}
	if err := r.cmd.Wait(); err != nil && sig == syscall.SIGTERM {
		t.Error(err)
	}
	r.cmd = nil
}

// eventually asks again until it is so.
func eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	limit := time.After(time.Minute)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !so() {
		select {
		case <-ticker.C:
		case <-limit:
			t.Fatal("not so after a minute: ", what)
		}
	}
}

// pids returns what the processes of a test have written down as their numbers.
func pids(t testing.TB, dir string) (all []int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "pid.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if n, bad := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && bad == nil {
			all = append(all, n)
		}
	}
	return all
}

func alive(pid int) bool {
	id, err := process.Identify(pid)
	if err != nil {
		return false
	}
	ok, err := id.Alive()
	return err == nil && ok
}
