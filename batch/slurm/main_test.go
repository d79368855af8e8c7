package slurm

import (
	"errors"
	"fmt"
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
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a System on a real cluster, whose scripts claim a file and write down
// what they do: the claim is a link, as a server's programs make it.
type site struct {
	t *testing.T
	*System
	cluster *slurmtest.Cluster
	dir     string

	mu      sync.Mutex
	scripts map[batch.JobID]string // what they do after they have begun; default: nothing
	errors  []string               // lines that were logged at that level
}

func newSite(t *testing.T, c *slurmtest.Cluster) *site {
	t.Helper()
	s := &site{t: t, cluster: c, dir: t.TempDir(), scripts: make(map[batch.JobID]string)}
	s.open(nil)
	return s
}

// open makes the system, with what an earlier one had.
func (s *site) open(change func(*Config)) {
	s.t.Helper()
	cfg := Config{
		Site: "a", Commands: Commands{Conf: s.cluster.Conf(), JobComp: s.cluster.JobComp(), Timeout: 2 * time.Second}, Interval: 300 * time.Millisecond,
		Programs: s, Witness: s, Taken: 99, Parting: time.Second, Policy: easy.New, Forecasters: func() Forecaster { return &forecast.Forecaster{} },
		Logger: hclog.New(&hclog.LoggerOptions{Output: testLog{s}, Level: hclog.Debug}),
	}
	if change != nil {
		change(&cfg)
	}
	system, err := New(cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	s.System = system
	s.t.Cleanup(func() {
		if err := system.Release(s.t.Context()); err != nil {
			s.t.Error(err)
		}
	})
}

// testLog writes to a test's log, as long as there is one, and keeps what is serious.
type testLog struct{ s *site }

func (l testLog) Write(p []byte) (int, error) {
	if l.s.t.Context().Err() == nil {
		l.s.t.Log(strings.TrimSpace(string(p)))
	}
	if strings.Contains(string(p), "[ERROR]") {
		l.s.mu.Lock()
		l.s.errors = append(l.s.errors, string(p))
		l.s.mu.Unlock()
	}
	return len(p), nil
}

// reported returns how many lines of level ERROR are about a job.
func (s *site) reported(key batch.Key) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, line := range s.errors {
		if strings.Contains(line, string(key.Job)) {
			n++
		}
	}
	return n
}

func (s *site) file(key batch.Key, what string) string {
	return filepath.Join(s.dir, Name(key)+"."+what)
}

// Script counts its beginnings in a file of its own.
func (s *site) Script(key batch.Key, _ batch.Shape) (Script, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do := s.scripts[key.Job]
	text := fmt.Sprintf(`#!/bin/sh
echo run > %[1]s.$$ && ln %[1]s.$$ %[1]s || { [ "$(cat %[1]s)" = bar ] || echo > %[5]s.$$; exit 99; }
echo begin >> %[2]s
(%[3]s)
code=$?
echo $code > %[4]s.new && mv %[4]s.new %[4]s
exit $code
`, s.file(key, "claim"), s.file(key, "runs"), do, s.file(key, "end"), s.file(key, "again"))
	return Script{Text: []byte(text), Owner: "bob", Dir: s.dir, Stdout: s.file(key, "out"), Stderr: s.file(key, "out")}, nil
}

func (s *site) Look(key batch.Key) (Testimony, error) {
	var t Testimony
	claim, err := os.ReadFile(s.file(key, "claim"))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return t, nil
	case err != nil:
		return t, err
	case string(claim) == "bar\n":
		return Testimony{Barred: true}, nil
	}
	t.Claimed = true
	if info, err := os.Stat(s.file(key, "runs")); err == nil {
		t.Began = info.ModTime()
	}
	end, err := os.ReadFile(s.file(key, "end"))
	if err != nil {
		return t, nil //nolint:nilerr // not yet
	}
	info, err := os.Stat(s.file(key, "end"))
	if err != nil {
		return t, err
	}
	t.Ended = info.ModTime()
	code, err := strconv.Atoi(strings.TrimSpace(string(end)))
	switch {
	case code > 128:
		t.Outcome = batch.Outcome{End: batch.EndFailed, Signal: signalName(code - 128), Reason: "signal " + signalName(code-128)}
	case code != 0:
		t.Outcome = batch.Outcome{End: batch.EndFailed, ExitCode: code, Reason: "exit status " + strconv.Itoa(code)}
	default:
		t.Outcome = batch.Outcome{End: batch.EndDone}
	}
	return t, err
}

func (s *site) Bar(key batch.Key) (Testimony, error) {
	mine := s.file(key, "bar")
	if err := os.WriteFile(mine, []byte("bar\n"), 0o600); err != nil {
		return Testimony{}, err
	}
	if err := os.Link(mine, s.file(key, "claim")); err != nil && !errors.Is(err, os.ErrExist) {
		return Testimony{}, err
	}
	return s.Look(key)
}

// Stop is Witness'. Scripts do not listen unless they are made to.
func (s *site) Stop(key batch.Key) error { return os.WriteFile(s.file(key, "stop"), nil, 0o600) }

// Again and Forget are Witness'.
func (s *site) Again() ([]Start, error) {
	files, err := filepath.Glob(filepath.Join(s.dir, "*.again.*"))
	var all []Start
	for _, f := range files {
		text, pid, _ := strings.Cut(filepath.Base(f), ".again.")
		if key, ok := identify("a", text, ""); ok {
			all = append(all, Start{Key: key, By: pid})
		}
	}
	return all, err
}

func (s *site) Forget(start Start) error {
	return os.Remove(s.file(start.Key, "again") + "." + start.By)
}

// runs returns how often a job has begun.
func (s *site) runs(key batch.Key) int {
	text, err := os.ReadFile(s.file(key, "runs"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	return strings.Count(string(text), "begin")
}

// attemptOf is the first attempt of the nth job.
func attemptOf(n int) batch.Key {
	return batch.Key{Job: batch.JobID(fmt.Sprintf("0190f2d4-1111-7abc-8def-%012d", n)), Epoch: 1, Attempt: 1}
}

func (s *site) submit(n int, width int32, walltime batch.Duration, do string) batch.Key {
	s.t.Helper()
	key := attemptOf(n)
	s.mu.Lock()
	s.scripts[key.Job] = do
	s.mu.Unlock()
	s.order(batch.Command{Kind: batch.CmdSubmit, Key: key, Job: &batch.Job{Shape: batch.Shape{Width: width, Walltime: walltime}}})
	return key
}

func (s *site) order(cmds ...batch.Command) {
	s.t.Helper()
	if err := s.Do(s.t.Context(), cmds); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) find(key batch.Key) batch.Found {
	s.t.Helper()
	found, err := s.Find(s.t.Context(), []batch.Key{key})
	if err != nil {
		s.t.Fatal(err)
	}
	if len(found) == 0 {
		return batch.Found{}
	}
	return found[0]
}

// await waits until an attempt is in a phase.
func (s *site) awaitPhase(key batch.Key, phase batch.Phase) batch.Found {
	s.t.Helper()
	slurmtest.Until(s.t, fmt.Sprintf("job %s is in phase %d, not %+v", key.Job, phase, s.find(key)), func() bool { return s.find(key).Phase == phase })
	return s.find(key)
}

// queued returns how many jobs of this site Slurm has, waiting and running.
func (s *site) queued() int {
	s.t.Helper()
	return len(strings.Fields(s.cluster.Run(s.t, "squeue", "-h", "-o", "%i")))
}
