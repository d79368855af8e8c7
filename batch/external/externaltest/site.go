package externaltest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sys/unix"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/external"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
)

// SiteName is the name of every Site.
const SiteName = "a"

// ClaimedExit is the exit code of a script that finds its attempt claimed.
const ClaimedExit = 99

// patience is how long a step of a test can take that usually takes moments.
const patience = 30 * time.Second

// Site is a System on a cluster. It is the Programs and the AttemptFiles of the System:
// its scripts claim attempts and record what they do in files of Dir.
type Site struct {
	*external.System
	Cluster external.Cluster
	Dir     string

	t        testing.TB
	interval time.Duration

	mu      sync.Mutex
	scripts map[batch.JobID]string // what they do after the claim
	log     []string
}

// NewSite makes a System on a cluster that it polls at an interval. It is released at
// the end of the test.
func NewSite(t testing.TB, cluster external.Cluster, interval time.Duration) *Site {
	t.Helper()
	s := &Site{Cluster: cluster, Dir: t.TempDir(), t: t, interval: interval, scripts: make(map[batch.JobID]string)}
	s.Open(nil)
	return s
}

// Open makes a System on the cluster, like a server process that starts.
func (s *Site) Open(change func(*external.Config)) {
	s.t.Helper()
	cfg := external.Config{
		Site: SiteName, Cluster: s.Cluster, Interval: s.interval, StopTimeout: time.Second,
		Programs: s, Files: s, ClaimedExit: ClaimedExit,
		Policy: easy.New, Forecasters: func() external.Forecaster { return &forecast.Forecaster{} },
		Logger: hclog.New(&hclog.LoggerOptions{Output: testLog{s}, Level: hclog.Debug}),
	}
	if change != nil {
		change(&cfg)
	}
	system, err := external.New(cfg)
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

// StopServer ends the System like a server process that is killed.
func (s *Site) StopServer() {
	s.t.Helper()
	if err := s.Release(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// Restart is StopServer and Open.
func (s *Site) Restart(change func(*external.Config)) {
	s.t.Helper()
	s.StopServer()
	s.Open(change)
}

// Adopting makes a System adopt attempts of one shape.
func Adopting(shape batch.Shape, keys ...batch.Key) func(*external.Config) {
	return func(c *external.Config) {
		for _, key := range keys {
			c.Adopt = append(c.Adopt, external.Adopted{Key: key, Job: &batch.Job{Shape: shape}})
		}
	}
}

// testLog writes to the test's log while the test runs, and keeps all lines.
type testLog struct{ s *Site }

func (l testLog) Write(p []byte) (int, error) {
	if l.s.t.Context().Err() == nil {
		l.s.t.Log(strings.TrimSpace(string(p)))
	}
	l.s.mu.Lock()
	l.s.log = append(l.s.log, string(p))
	l.s.mu.Unlock()
	return len(p), nil
}

// Logged returns how many log lines contain all words.
func (s *Site) Logged(words ...string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, line := range s.log {
		all := true
		for _, word := range words {
			all = all && strings.Contains(line, word)
		}
		if all {
			n++
		}
	}
	return n
}

// Reported returns how many errors about a job the log has.
func (s *Site) Reported(key batch.Key) int { return s.Logged("[ERROR]", string(key.Job)) }

// File returns a file of an attempt: "runs", "end", "out", "stop".
func (s *Site) File(key batch.Key, kind string) string {
	return filepath.Join(s.Dir, external.Name(key)+"."+kind)
}

// SetScript sets what a job's script does after its claim; default: nothing.
func (s *Site) SetScript(key batch.Key, do string) {
	s.mu.Lock()
	s.scripts[key.Job] = do
	s.mu.Unlock()
}

// Script implements external.Programs.
func (s *Site) Script(key batch.Key, _ batch.Shape) (external.Script, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do := s.scripts[key.Job]
	text := fmt.Sprintf(`#!/bin/sh
echo run > %[1]s.$$ && ln %[1]s.$$ %[1]s || { [ "$(cat %[1]s)" = bar ] || echo > %[5]s.$$; exit %[6]d; }
echo begin >> %[2]s
(%[3]s)
code=$?
echo $code > %[4]s.new && mv %[4]s.new %[4]s
exit $code
`, s.File(key, "claim"), s.File(key, "runs"), do, s.File(key, "end"), s.File(key, "notice"), ClaimedExit)
	out := s.File(key, "out")
	return external.Script{Text: []byte(text), Owner: "bob", Dir: s.Dir, Stdout: out, Stderr: out}, nil
}

// Read implements external.AttemptFiles.
func (s *Site) Read(key batch.Key) (external.Progress, error) {
	var p external.Progress
	claim, err := os.ReadFile(s.File(key, "claim"))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return p, nil
	case err != nil:
		return p, err
	case string(claim) == "bar\n":
		return external.Progress{Barred: true}, nil
	}
	p.Claimed = true
	if info, err := os.Stat(s.File(key, "runs")); err == nil {
		p.Began = info.ModTime()
	}
	end, err := os.ReadFile(s.File(key, "end"))
	if err != nil {
		return p, nil //nolint:nilerr // not yet
	}
	info, err := os.Stat(s.File(key, "end"))
	if err != nil {
		return p, err
	}
	p.Ended = info.ModTime()
	code, err := strconv.Atoi(strings.TrimSpace(string(end)))
	switch {
	case code > 128:
		name := unix.SignalName(syscall.Signal(code - 128))
		p.Outcome = batch.Outcome{End: batch.EndFailed, Signal: name, Reason: "signal " + name}
	case code != 0:
		p.Outcome = batch.Outcome{End: batch.EndFailed, ExitCode: code, Reason: "exit status " + strconv.Itoa(code)}
	default:
		p.Outcome = batch.Outcome{End: batch.EndDone}
	}
	return p, err
}

// Claim implements external.AttemptFiles.
func (s *Site) Claim(key batch.Key) (external.Progress, error) {
	mine := s.File(key, "bar")
	if err := os.WriteFile(mine, []byte("bar\n"), 0o600); err != nil {
		return external.Progress{}, err
	}
	if err := os.Link(mine, s.File(key, "claim")); err != nil && !errors.Is(err, os.ErrExist) {
		return external.Progress{}, err
	}
	return s.Read(key)
}

// Stop implements external.AttemptFiles. Only scripts that look for the file stop.
func (s *Site) Stop(key batch.Key) error { return os.WriteFile(s.File(key, "stop"), nil, 0o600) }

// Notices implements external.AttemptFiles.
func (s *Site) Notices() ([]external.Notice, error) {
	files, err := filepath.Glob(filepath.Join(s.Dir, "*.notice.*"))
	var all []external.Notice
	for _, f := range files {
		name, pid, _ := strings.Cut(filepath.Base(f), ".notice.")
		if key, ok := external.ParseName(name); ok {
			all = append(all, external.Notice{Key: key, By: pid})
		}
	}
	return all, err
}

// Forget implements external.AttemptFiles.
func (s *Site) Forget(n external.Notice) error {
	return os.Remove(s.File(n.Key, "notice") + "." + n.By)
}

// Runs returns how often a job has begun.
func (s *Site) Runs(key batch.Key) int {
	text, err := os.ReadFile(s.File(key, "runs"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	return strings.Count(string(text), "begin")
}

// AttemptOf returns the key of the first attempt of the nth job.
func AttemptOf(n int) batch.Key {
	return batch.Key{Job: batch.JobID(fmt.Sprintf("0190f2d4-1111-7abc-8def-%012d", n)), Epoch: 1, Attempt: 1}
}

// Submit submits the nth job.
func (s *Site) Submit(n int, width int32, walltime batch.Duration, do string) batch.Key {
	s.t.Helper()
	key := AttemptOf(n)
	s.SetScript(key, do)
	job := &batch.Job{Shape: batch.Shape{Width: width, Walltime: walltime}}
	s.Order(batch.Command{Kind: batch.CmdSubmit, Key: key, Job: job})
	return key
}

// Order carries out commands, which must succeed.
func (s *Site) Order(cmds ...batch.Command) {
	s.t.Helper()
	if err := s.Do(s.t.Context(), cmds); err != nil {
		s.t.Fatal(err)
	}
}

// State returns what the System knows about an attempt; the zero Found for nothing.
func (s *Site) State(key batch.Key) batch.Found {
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

// AwaitPhase waits until an attempt is in a phase.
func (s *Site) AwaitPhase(key batch.Key, phase batch.Phase) batch.Found {
	s.t.Helper()
	what := fmt.Sprintf("job %s reaches phase %d from %+v", key.Job, phase, s.State(key))
	Until(s.t, what, func() bool { return s.State(key).Phase == phase })
	return s.State(key)
}

// AwaitEnd waits for the end of an attempt that must have run once.
func (s *Site) AwaitEnd(key batch.Key, end batch.End) batch.Found {
	s.t.Helper()
	f := s.AwaitPhase(key, batch.PhaseEnded)
	if n := s.Runs(key); f.Outcome.End != end || n != 1 {
		s.t.Errorf("job %s: %+v after %d runs, want end %d after 1", key.Job, f, n, end)
	}
	return f
}

// Gate is a shell command that waits until a file exists, and the function that creates
// the file.
func (s *Site) Gate(name string) (wait string, open func()) {
	file := filepath.Join(s.Dir, name)
	return "while [ ! -e " + file + " ]; do sleep 0.1; done", func() {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

// Until waits until a condition holds, and fails the test if it does not in time.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
		<-tick.C
	}
}
