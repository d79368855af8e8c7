package server

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/internal/nodetest"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// book is the file in which jobs of hold and rerun record their runs, and the file that lets
// them end.
type book struct{ dir string }

// request returns a request for all processors of a node.
func (b book) request(service string) *droverv1.Request {
	return &droverv1.Request{Width: 2, Service: service, Arguments: arguments{"until": text(filepath.Join(b.dir,
		"until")), "book": text(filepath.Join(b.dir, "book"))}}
}

// runs returns the process IDs of the recorded runs.
func (b book) runs(t testing.TB) []string {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(b.dir, "book"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(got))
}

// await waits for n recorded runs.
func (b book) await(t testing.TB, n int) {
	t.Helper()
	soon(t, fmt.Sprintf("%d jobs run", n), func() bool { return len(b.runs(t)) >= n })
}

func (b book) end(t testing.TB) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, "until"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// soon polls until ok returns true.
func soon(t testing.TB, what string, so func() bool) {
	t.Helper()
	limit := time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("not within a minute: ", what)
		}
	}
}

// journalOf collects a server's log.
type journalOf struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journalOf) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journalOf) has(words ...string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for line := range strings.Lines(j.text.String()) {
		all := true
		for _, w := range words {
			all = all && strings.Contains(line, w)
		}
		if all {
			return true
		}
	}
	return false
}

func (j *journalOf) logger() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Output: j, Level: hclog.Debug})
}

func TestDeadNodeLosesOnlyItsOwnJobs(t *testing.T) {
	for _, policy := range []string{"easy", "dfrs"} {
		a, b := nodetest.New(t), nodetest.New(t)
		s := start(t, onNodesSite(t, policy, 2*time.Second, a, b))
		holds, reruns := book{t.TempDir()}, book{t.TempDir()}
		one, other := holds.request("hold"), reruns.request("rerun")
		if policy == "dfrs" { // it cannot share memory
			one.Width, one.MemoryBytes, other.Width, other.MemoryBytes = 1, 600<<20, 1, 600<<20
		}
		first := s.submit(t, one)
		first = s.until(t, first.GetId(), running)
		second := s.submit(t, other)
		second = s.until(t, second.GetId(), running)
		holds.await(t, 1)
		reruns.await(t, 1)
		at := map[string]*nodetest.Daemon{a.Name: a, b.Name: b}
		dies, stays := at[first.GetNodes()[0]], at[second.GetNodes()[0]]
		if dies == stays {
			t.Fatalf("%s: both jobs run on %s", policy, dies.Name)
		}
		begun := time.Now()
		die(t, dies)
		lost := s.until(t, first.GetId(), failed)
		if took := time.Since(begun); took < 2*time.Second || took > 20*time.Second {
			t.Errorf("%s: lost after %v", policy, took)
		}
		if why := lost.GetOutcome().GetReason(); !strings.Contains(why,
			"node "+dies.Name+" did not answer for longer than its lease") {
			t.Errorf("%s: %q", policy, why)
		}
		die(t, stays)
		stays.Start()
		again := untilJob(t, s.client, second.GetId(), func(j *droverv1.Job) bool {
			return j.GetState() == running && j.GetAttempt() > second.GetAttempt()
		})
		if again.GetNodes()[0] != stays.Name {
			t.Errorf("%s: the second attempt is on the dead node %v", policy, again.GetNodes())
		}
		reruns.await(t, 2)
		reruns.end(t)
		s.until(t, second.GetId(), done)
		if n := len(reruns.runs(t)); n != 2 {
			t.Errorf("%s: ran %d times", policy, n)
		}
		if n := len(holds.runs(t)); n != 1 {
			t.Errorf("%s: the job that must run once ran %d times", policy, n)
		}
	}
}

func TestNodeRestartWithinTheLeaseLosesNothing(t *testing.T) {
	a := nodetest.New(t)
	s := start(t, onNodesSite(t, "easy", 20*time.Second, a))
	holds := book{t.TempDir()}
	j := s.submit(t, holds.request("hold"))
	s.until(t, j.GetId(), running)
	holds.await(t, 1)
	a.Stop(syscall.SIGKILL)
	a.Start()
	holds.end(t)
	j = s.until(t, j.GetId(), failed)
	if j.GetOutcome().GetExitCode() != 7 || len(holds.runs(t)) != 1 {
		t.Errorf("%v, ran %d times", j.GetOutcome(), len(holds.runs(t)))
	}
}
