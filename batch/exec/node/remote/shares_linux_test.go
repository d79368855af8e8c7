package remote

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
	"github.com/seed-9b8f70bb/drover/internal/nodetest"
)

// The network delivers SIGSTOP after the SIGCONT that was sent after it.
func TestAnOvertakenSignalIsIgnored(t *testing.T) {
	r := newRig(t)
	defer r.keep(30 * time.Second)()
	p := r.launch(r.task(1, runs+`until [ -e "$1/stop" ]; do echo x >> "$1/steps"; sleep 0.01; done; exit 5`))
	r.pid()
	var early node.Sequence
	r.until("it is watched", func() (ok bool) { early, ok = r.node.sequence(); return ok })
	if err := p.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := r.node.client.Signal(t.Context(), p.id, syscall.SIGSTOP, early); err != nil {
		t.Fatal(err)
	}
	r.node.drop()
	r.until("it is watched again", func() bool { o, ok := r.node.sequence(); return ok && o.Watch != early.Watch })
	early.Number += 1000
	if err := r.node.client.Signal(t.Context(), p.id, syscall.SIGSTOP, early); !errors.Is(err, node.ErrSilent) {
		t.Error(err)
	}
	if err := r.node.client.SetShares(t.Context(), []node.Share{{ID: p.id, CPU: cgroup.Processor / 100}},
		early); !errors.Is(err, node.ErrSilent) {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "stop"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(exec.Exit{Code: 5}, p.Wait()); diff != "" {
		t.Error(diff)
	}
}

func TestAnUnansweredSignalBlocksNothingElse(t *testing.T) {
	r := newRig(t)
	defer r.keep(30 * time.Second)()
	p := r.launch(r.task(1, runs+`exec sleep 300`))
	r.pid()
	r.until("it is watched", func() bool { _, ok := r.node.sequence(); return ok })
	r.proxy.setCut(true)
	signalled := make(chan error, 1)
	go func() { signalled <- p.Signal(syscall.SIGKILL) }()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	r.until("the signal is on its way", func() bool { return !p.mu.TryLock() || unlock(p) })
	begun := time.Now()
	if err := p.Share(ctx, cgroup.Processor/2); !errors.Is(err, node.ErrSilent) || time.Since(begun) > callPatience {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
	if err := <-signalled; err != nil {
		t.Error(err)
	}
	r.proxy.setCut(false)
	if diff := cmp.Diff(exec.Exit{Signal: syscall.SIGKILL}, p.Wait()); diff != "" {
		t.Error(diff)
	}
}

// unlock releases a lock after TryLock; it returns false to retry.
func unlock(p *Task) bool { p.mu.Unlock(); return false }

func TestATaskThatEndedBeforeASignalEndedByItself(t *testing.T) {
	r := newRig(t)
	defer r.keep(30 * time.Second)()
	if err := syscall.Mkfifo(filepath.Join(r.dir, "hold"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := r.launch(r.task(1, runs+`read x < "$1/hold"; exit 6`))
	pid := r.pid()
	r.Stop(syscall.SIGKILL)
	if err := os.WriteFile(filepath.Join(r.dir, "hold"), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.until("it has ended", func() bool { return !nodetest.Alive(pid) })
	r.until("no watch is open", func() bool { _, ok := r.node.sequence(); return !ok })
	if err := p.Signal(syscall.SIGTERM); err != nil { // stored, because its state is unknown
		t.Error(err)
	}
	r.Start()
	if diff := cmp.Diff(exec.Exit{Code: 6, Unsignaled: true}, p.Wait()); diff != "" {
		t.Error(diff)
	}
}
