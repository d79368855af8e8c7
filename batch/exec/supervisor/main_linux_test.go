package supervisor

import (
	"bufio"
	"context"
	"errors"
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

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/process"
)

// The test binary also runs as the supervisor, the gates and a server.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "gate":
			waitAtTheGate()
			process.Gate()
		case "supervise":
			superviseMain(os.Args[2:])
		case "server":
			serverMain(os.Args[2], os.Args[3:])
		}
	}
	goleak.VerifyTestMain(m)
}

// linger is short, so that supervisors end soon after the tests.
const linger = 300 * time.Millisecond

func superviseMain(args []string) {
	flags := flag.NewFlagSet("supervise", flag.ExitOnError)
	dir := flags.String("dir", "", "")
	ready := flags.Uint("ready-fd", 0, "")
	stay := flags.Duration("linger", linger, "")
	leased := flags.Bool("leased", false, "")
	_ = flags.Parse(args)
	cfg := ServeConfig{Dir: *dir, Linger: *stay, Leased: *leased, Level: hclog.Debug}
	if *ready != 0 {
		syscall.CloseOnExec(int(*ready))
		cfg.Ready = os.NewFile(uintptr(*ready), "ready")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := Serve(ctx, cfg); err != nil {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(1)
	}
	syscall.Exit(0)
}

// serverMain launches the scripts as attempts 1, 2, … of job "job", reports it, and waits
// until it is killed.
func serverMain(dir string, scripts []string) {
	c, err := Connect(Config{Dir: dir})
	if err != nil {
		panic(err)
	}
	for i, script := range scripts {
		if _, err := c.Spawn(context.Background(), spec(dir, key("job", i+1), script), attempts(dir)); err != nil {
			panic(err)
		}
	}
	fmt.Println("launched")
	select {}
}

func key(job string, attempt int) batch.Key {
	return batch.Key{Job: batch.JobID(job), Epoch: 1, Attempt: uint32(attempt)}
}

// own returns a unique job name, because processes are searched on the whole host.
func own(dir string) string { return filepath.Base(filepath.Dir(dir)) }

func attempts(dir string) string { return filepath.Join(dir, "attempts") }

// spec returns a shell script that runs in the directory.
func spec(dir string, k batch.Key, script string, args ...string) exec.Spec {
	return exec.Spec{
		Key: k, Args: append([]string{"/bin/sh", "-c", script, "sh"}, args...),
		Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: filepath.Join(dir, "work"), Stdout: filepath.Join(dir, "out"),
		Stderr: filepath.Join(dir, "err"),
	}
}

func connectTo(t testing.TB, dir string) *Client {
	t.Helper()
	c, err := Connect(Config{Dir: dir, Logger: hclog.New(&hclog.LoggerOptions{Output: testLog{t}, Level: hclog.Debug})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		awaitFree(t, dir)
		// A supervisor that is starting has no lock yet but writes into the directory.
		for _, pid := range c.children {
			_, _ = syscall.Wait4(pid, nil, 0, nil) // an error means that it was reaped
		}
	})
	return c
}

// testLog logs to a test.
type testLog struct{ t testing.TB }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

// awaitFree waits until the supervisor of the directory has ended on its own.
func awaitFree(t testing.TB, dir string) {
	t.Helper()
	f, err := lock(context.Background(), dir, time.Minute)
	if err != nil {
		text, _ := os.ReadFile(filepath.Join(dir, logName))
		t.Errorf("the supervisor did not end by itself: %v\n%s", err, text)
		return
	}
	f.Close()
}

// supervisorPid returns the process that listens in the directory.
func supervisorPid(t testing.TB, dir string) int {
	t.Helper()
	pid, err := peer(dir)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func peer(dir string) (int, error) {
	conn, err := dial(context.Background(), dir)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *syscall.Ucred
	var inner error
	err = raw.Control(func(fd uintptr) {
		cred, inner = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err := errors.Join(err, inner); err != nil {
		return 0, err
	}
	return int(cred.Pid), nil
}

func kill(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

func launch(t testing.TB, c *Client, s exec.Spec) *Attempt {
	t.Helper()
	p, err := c.Spawn(t.Context(), s, attempts(c.cfg.Dir))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fifo creates a FIFO on which scripts and tests wait for each other.
func fifo(t testing.TB, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// read returns the text that a script writes to a FIFO.
func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// alive reports whether a process exists and is not a zombie.
func alive(t testing.TB, pid string) bool {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	id, err := process.Identify(n)
	if err != nil {
		return false
	}
	ok, err := id.Alive()
	return err == nil && ok
}

// server starts the test binary as a server that launches scripts.
func server(t *testing.T, dir string, scripts ...string) *osexec.Cmd {
	t.Helper()
	cmd := osexec.Command(os.Args[0], append([]string{"server", dir}, scripts...)...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "launched\n" {
		t.Fatal(line, err)
	}
	return cmd
}

var time1 = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func ownID(t testing.TB) process.ID {
	t.Helper()
	id, err := process.Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return id
}
