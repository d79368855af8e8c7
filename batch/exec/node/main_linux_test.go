package node

import (
	"context"
	"os"
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
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	"github.com/seed-9b8f70bb/drover/internal/nodetest"
)

// The test binary also runs as the supervisor and the gates.
func TestMain(m *testing.M) {
	nodetest.Main(nil)
	goleak.VerifyTestMain(m)
}

type testLog struct{ t testing.TB }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

// config returns the configuration of a host with unique group names.
func config(t testing.TB, dir string) Config {
	return Config{
		Dir: dir, Groups: cgroup.Config{
			Name: "test-" + strconv.Itoa(os.Getpid()) + "-" + testName(dir), StepAside: true,
		},
		Logger: hclog.New(&hclog.LoggerOptions{Output: testLog{t}, Level: hclog.Debug}),
	}
}

// open opens a host. At the end of the test its tasks are killed and it is closed.
func open(t testing.TB, cfg Config) *Host {
	t.Helper()
	h, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, p := range h.Running() {
			_ = p.Signal(syscall.SIGKILL) // it has ended, or does now
			p.Wait()
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if err := supervisor.Dismiss(context.Background(), cfg.Dir, true); err != nil {
			t.Error(err)
		}
	})
	return h
}

func id(attempt int) ID { return ID{Key: batch.Key{Job: "job", Epoch: 1, Attempt: uint32(attempt)}} }

func script(id ID, dir, text string, args ...string) TaskSpec {
	return TaskSpec{ID: id, Spec: exec.Spec{
		Args: append([]string{"/bin/sh", "-c", text, "sh"}, args...), Env: []string{"PATH=" + os.Getenv("PATH")},
		Dir: filepath.Join(dir, "work"), Stdout: filepath.Join(dir, "out"), Stderr: filepath.Join(dir, "out"),
	}}
}

func launch(t testing.TB, h *Host, task TaskSpec) *Task {
	t.Helper()
	p, err := h.Launch(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// until waits until a condition is true.
func until(t testing.TB, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); {
		if time.Now().After(deadline) {
			t.Fatal("not so after a minute: ", what)
		}
		select {
		case <-time.After(time.Millisecond):
		case <-t.Context().Done():
		}
	}
}

// cpu returns the processor time of a task.
func cpu(t testing.TB, p *Task) time.Duration {
	t.Helper()
	u, err := p.Use()
	if err != nil {
		t.Fatal(err)
	}
	return u.CPU
}

// testName returns the beginning of the name of the test that created a directory.
func testName(dir string) string {
	name := filepath.Base(filepath.Dir(dir))
	return name[:min(len(name), 20)]
}
