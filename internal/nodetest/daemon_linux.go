package nodetest

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/seed-9b8f70bb/drover/batch/exec/process"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	"github.com/seed-9b8f70bb/drover/internal/freeport"
)

// Test is the part of testing.TB that a Daemon needs.
type Test interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Failed() bool
	TempDir() string
	Skip(...any)
	Fatal(...any)
	Fatalf(string, ...any)
	Error(...any)
	Logf(string, ...any)
}

// Daemon is a node with a daemon that runs as a process: the test binary as "node".
type Daemon struct {
	Name    string // unique on this host at the time, see Named
	Address string
	Dir     string // its own

	t   Test
	log string // file
	cmd *exec.Cmd
}

// daemons distinguishes those of one process.
var daemons atomic.Int64

// mostSaid bounds the part of its log that is shown when the test has failed.
const mostSaid = 8 << 10

// New starts a daemon, which ends with the test, with all its tasks.
func New(t Test) *Daemon {
	t.Helper()
	return Named(t, "t"+strconv.Itoa(os.Getpid())+"-"+strconv.FormatInt(daemons.Add(1), 10))
}

// Named is New with a name that another node can have too.
func Named(t Test, name string) *Daemon {
	t.Helper()
	root := t.TempDir()
	d := &Daemon{
		Name: name, Address: freeport.Address(t), Dir: filepath.Join(root, "node"), t: t,
		log: filepath.Join(root, "log"),
	}
	d.Start()
	t.Cleanup(func() {
		d.Stop(syscall.SIGTERM)
		if err := supervisor.Dismiss(context.Background(), d.Dir, true); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("log of %s:\n%s", d.Name, d.said())
		}
	})
	return d
}

func (d *Daemon) said() []byte {
	text, _ := os.ReadFile(d.log)
	return bytes.TrimSpace(text[max(0, len(text)-mostSaid):])
}

// Start starts the daemon, with further arguments, and returns when it serves.
func (d *Daemon) Start(args ...string) {
	d.t.Helper()
	log, err := os.OpenFile(d.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer log.Close()
	// Stop ends it, not the context: a test may want to kill it.
	d.cmd = exec.CommandContext(context.Background(), os.Args[0],
		append([]string{"node", "--name", d.Name, "--dir", d.Dir, "--listen", d.Address}, args...)...)
	d.cmd.Stderr = log
	out, err := d.cmd.StdoutPipe()
	if err == nil {
		err = d.cmd.Start()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); strings.TrimSpace(line) != up {
		d.t.Fatalf("%q, %v:\n%s", line, err, d.said())
	}
}

// Stop ends the daemon by a signal, and leaves its supervisor and the tasks.
func (d *Daemon) Stop(sig syscall.Signal) {
	d.t.Helper()
	if d.cmd == nil {
		return
	}
	if err := d.cmd.Process.Signal(sig); err != nil {
		d.t.Error(err)
	}
	if err := d.cmd.Wait(); err != nil && sig == syscall.SIGTERM {
		d.t.Error(err)
	}
	d.cmd = nil
}

// Pid returns the daemon's process.
func (d *Daemon) Pid() int { return d.cmd.Process.Pid }

// Supervisor returns the process that runs the node's programs.
func (d *Daemon) Supervisor() int {
	d.t.Helper()
	conn, err := new(net.Dialer).DialContext(d.t.Context(), "unix", filepath.Join(d.Dir, "supervisor.sock"))
	if err != nil {
		d.t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		d.t.Fatal(err)
	}
	pid := 0
	err = raw.Control(func(fd uintptr) {
		if cred, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	})
	if err != nil || pid == 0 {
		d.t.Fatal("no supervisor: ", err)
	}
	return pid
}

// Alive reports whether a process exists and is not a zombie.
func Alive(pid int) bool {
	id, err := process.Identify(pid)
	if err != nil {
		return false
	}
	ok, err := id.Alive()
	return err == nil && ok
}
