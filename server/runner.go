package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/node/pool"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/server/store"
)

// runner runs attempts in other processes, so that they outlive the server.
type runner interface {
	Launch(ctx context.Context, spec exec.Spec, j *site.Job) (exec.Launched, error)
	// Bar makes the server's claim, see Server.bar.
	Bar(key batch.Key) (won bool, err error)
	// Attach returns what became of an attempt. The job is nil if this process did not launch it.
	Attach(ctx context.Context, key batch.Key, j *site.Job) (attempt.Status, exec.Launched, error)
	// Age returns the age of an attempt's process.
	Age(key batch.Key) (time.Duration, error)
	Close()
}

// nodeFollower is a runner that observes nodes. follow reports lost and recovered nodes to the
// batch system; before it returns it has reported the nodes that are down.
type nodeFollower interface {
	follow(ctx context.Context, system *exec.System)
}

// wholeRunner runs jobs that have whole processors; it needs only the supervisor.
type wholeRunner struct {
	client *supervisor.Client
	data   *dataDir
}

// Launch implements runner.
func (p wholeRunner) Launch(ctx context.Context, spec exec.Spec, _ *site.Job) (exec.Launched, error) {
	process, err := p.client.Spawn(ctx, spec, p.data.Attempts(spec.Key.Job))
	if err != nil {
		return nil, err // not a nil *supervisor.Attempt
	}
	return process, nil
}

// Bar implements runner.
func (p wholeRunner) Bar(key batch.Key) (won bool, err error) { return p.data.bar(key) }

// bar makes the claim of an attempt in the job's directory.
func (d *dataDir) bar(key batch.Key) (won bool, err error) {
	if err := os.MkdirAll(d.Job(key.Job), 0o700); err != nil {
		return false, fmt.Errorf("job directory: %w", err)
	}
	won, state, err := journal.Claim(d.Attempts(key.Job), journal.Name(key.Epoch, key.Attempt),
		journal.Claimer{Kind: journal.Server}, time.Now())
	return won || state.End.Kind == journal.Never, err
}

// Attach implements runner.
func (p wholeRunner) Attach(ctx context.Context, key batch.Key, _ *site.Job) (attempt.Status, exec.Launched, error) {
	st, process, err := p.client.Attach(ctx, key, p.data.Attempts(key.Job))
	if err != nil || process == nil {
		return st, nil, err // not a nil *supervisor.Attempt
	}
	return st, process, nil
}

// Age implements runner.
func (p wholeRunner) Age(key batch.Key) (time.Duration, error) {
	state, err := journal.Read(p.data.Attempts(key.Job), journal.Name(key.Epoch, key.Attempt))
	if err != nil {
		return 0, err
	}
	return state.Run.Age()
}

// Close implements runner.
func (p wholeRunner) Close() { p.client.Close() }

// openRunner creates the runner for the jobs of an embedded batch system.
func (s *Server) openRunner() error {
	if s.cfg.distant() {
		far, err := s.reach()
		if err != nil {
			return err
		}
		s.runner, s.shared = far, far.sharedRunner
		return nil
	}
	if s.cfg.traits().Shares {
		shared, err := s.share()
		if err != nil {
			return err
		}
		s.runner, s.shared = shared, shared
		return nil
	}
	c, err := supervisor.Connect(supervisor.Config{
		Dir: s.data.Root, Program: s.cfg.Supervisor,
		Logger: s.log,
	})
	if err != nil {
		return err
	}
	s.runner = wholeRunner{c, s.data}
	return nil
}

// metaRunner is the store's key for the kind of runner, present if any job ran.
const metaRunner = "runner"

// The kinds of runners.
const (
	runsWhole   = "whole"
	runsShared  = "shared"
	runsOnNodes = "nodes"
)

// runnerKind returns the kind of this server's runner.
func (s *Server) runnerKind() string {
	switch {
	case s.cfg.distant():
		return runsOnNodes
	case s.shared != nil:
		return runsShared
	}
	return runsWhole
}

// describeRunnerChange describes the old and the new kind of runner.
func (s *Server) describeRunnerChange(was, is string) string {
	switch runsOnNodes {
	case was:
		return "run on nodes with addresses, and the configuration has none: start with the nodes that they began on"
	case is:
		return "run on this host, and the configuration has nodes with addresses: start with the nodes that they " +
			"began on"
	}
	return fmt.Sprintf("run with %s processors, and policy %s gives %s ones: "+
		"start with the policy that they began with", was, s.cfg.policyName(), is)
}

// checkRunner refuses to adopt jobs of another kind of runner: their claims are elsewhere, and the
// jobs would run twice. Otherwise it records the kind.
func (s *Server) checkRunner(core *site.Site) error {
	n := len(core.Unsettled())
	is, was := s.runnerKind(), runsWhole
	said, err := s.store.Meta(metaRunner)
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return fmt.Errorf("read the store: %w", err)
	default:
		was = string(said)
	}
	if is != was && n > 0 {
		return fmt.Errorf("configuration: %d jobs %s; then wait for the jobs or cancel them", n,
			s.describeRunnerChange(was, is))
	}
	var b store.Batch
	if is != was {
		b.SetMeta(metaRunner, []byte(is))
	}
	if err := s.checkLease(n, &b); err != nil {
		return err
	}
	if b.Len() == 0 {
		return nil
	}
	return s.store.Commit(&b)
}

// metaLease is the store's key for the lease of nodes with addresses.
const metaLease = "lease"

// checkLease refuses a lease shorter than the lease under which jobs run: the server would declare
// them dead too early.
func (s *Server) checkLease(jobs int, b *store.Batch) error {
	if !s.cfg.distant() {
		return nil
	}
	is := cmp.Or(s.cfg.Lease, pool.DefaultLease)
	said, err := s.store.Meta(metaLease)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("read the store: %w", err)
	}
	if was, err := time.ParseDuration(string(said)); err == nil && is < was && jobs > 0 {
		return fmt.Errorf("configuration: %d jobs run under a lease of %v, but the lease is now %v: "+
			"start with at least %[2]v, then wait for the jobs or cancel them", jobs, was, is)
	}
	if string(said) != is.String() {
		b.SetMeta(metaLease, []byte(is.String()))
	}
	return nil
}
