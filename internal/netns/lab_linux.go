package netns

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// Test is the part of testing.TB that New needs.
type Test interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Skip(...any)
	Fatal(...any)
	Errorf(string, ...any)
}

// New connects hosts with these names to a switch, all in one network. The end of the test
// kills all their processes and removes the hosts. It skips the test where namespaces cannot
// be created.
func New(t Test, names ...string) []*Host {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces want root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("network namespaces want iproute2: ", err)
	}
	hub, err := newSpace()
	if err != nil {
		t.Skip("this kernel or user cannot create network namespaces: ", err)
	}
	t.Cleanup(hub.close)
	if err := hub.ip(t.Context(), "link add hub type bridge", "link set hub up"); err != nil {
		t.Skip("no bridge here: ", err)
	}
	var all []*Host
	for i, name := range names {
		s, err := newSpace()
		if err != nil {
			t.Fatal(err)
		}
		h := &Host{
			Name: name, Address: fmt.Sprintf("10.7.%d.%d", (i+1)/256, (i+1)%256), space: s, hub: hub,
			port: "port" + strconv.Itoa(i),
		}
		t.Cleanup(func() { h.remove(t) })
		if err := h.plug(t.Context()); err != nil {
			t.Fatal(err)
		}
		all = append(all, h)
	}
	return all
}

// space is a thread in its own network namespace.
type space struct {
	path string // of the namespace
	id   string // the ID that its processes have
	work chan func()
}

func newSpace() (*space, error) {
	s := &space{work: make(chan func())}
	made := make(chan error)
	go s.live(made)
	return s, <-made
}

// live runs functions in the namespace. It lives as long as the host, because processes can
// die with the thread that has started them.
func (s *space) live(made chan<- error) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
		made <- fmt.Errorf("unshare: %w", err)
		return
	}
	s.path = filepath.Join("/proc", strconv.Itoa(os.Getpid()), "task", strconv.Itoa(syscall.Gettid()), "ns", "net")
	id, err := os.Readlink(s.path)
	s.id = id
	made <- err
	if err != nil {
		return
	}
	for f := range s.work {
		f()
	}
}

// do calls f in the namespace. f must not use other goroutines.
func (s *space) do(f func()) {
	done := make(chan struct{})
	s.work <- func() {
		defer close(done)
		f()
	}
	<-done
}

func (s *space) close() { close(s.work) }

// ip runs commands of ip(8) there.
func (s *space) ip(ctx context.Context, commands ...string) error {
	cmd := exec.CommandContext(ctx, "ip", "-batch", "-")
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	var err error
	s.do(func() { err = cmd.Start() })
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(commands, "; "), err, bytes.TrimSpace(said.Bytes()))
	}
	return nil
}
