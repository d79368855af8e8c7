package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
	"github.com/seed-9b8f70bb/drover/batch/exec/node/pool"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// sharedRunner runs jobs that have shares of processors on virtual nodes of this host, each attempt
// in a control group.
//
//	exec ─▶ sharedRunner ─▶ batch/exec/node/pool ─▶ node.Host ─▶ supervisor, control groups
//	             └─ gauge: resource use of tasks ─▶ policy
type sharedRunner struct {
	host  *node.Host
	pool  *pool.Pool
	pins  [][]int // the host's processors of each virtual node; nil: not pinned
	gauge *gauge
	log   hclog.Logger

	followed attemptSet
}

// share creates the runner for a policy that shares processors.
func (s *Server) share() (*sharedRunner, error) {
	root, err := filepath.Abs(s.data.Root)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	name := sha256.Sum256([]byte(root))
	host, err := node.Open(s.life, node.Config{
		Dir: root, Program: s.cfg.Supervisor, Logger: s.log.Named("node"),
		Groups: cgroup.Config{Name: "site-" + hex.EncodeToString(name[:6]), StepAside: true},
	})
	if err != nil {
		return nil, err
	}
	worth := s.cfg.worth
	if worth == 0 {
		worth = worthOf(s.about.Platform.Width(), runtime.NumCPU())
	}
	pins := s.pins(host, worth)
	near := pool.Local(host, worth, pins)
	cfg := pool.Config{Grace: s.cfg.Grace, Logger: s.log.Named("pool")}
	for _, n := range s.about.Platform.Nodes {
		cfg.Names, cfg.Nodes = append(cfg.Names, n.Name), append(cfg.Nodes, near)
	}
	nodes, err := pool.New(cfg)
	if err != nil {
		return nil, errors.Join(err, host.Close())
	}
	for _, o := range host.Offers() {
		say := s.log.Info
		if o.Way == cgroup.None || o.Way == cgroup.Signals {
			say = s.log.Warn
		}
		say("resource limit", "resource", o.Ability, "enforced_by", o.Way, "reason", o.Why)
	}
	if worth < cgroup.Processor {
		s.log.Warn("site has more processors than its host; each gets a part of one", "processors",
			s.about.Platform.Width(), "host_processors", runtime.NumCPU(), "part",
			float64(worth)/float64(cgroup.Processor))
	}
	return &sharedRunner{
		host: host, pool: nodes, pins: pins, gauge: newGauge(nearMeter{host}, worth, nodes),
		log: s.log,
	}, nil
}

// pins assigns processors of the host to each virtual node exclusively, if the host has enough.
func (s *Server) pins(host *node.Host, worth cgroup.CPU) [][]int {
	if worth < cgroup.Processor {
		return nil // share has logged it
	}
	var has []int
	for _, n := range s.about.Platform.Nodes {
		has = append(has, int(n.Processors))
	}
	pins, err := host.Pin(has)
	if err != nil {
		s.log.Info("nodes not pinned; tasks run on any processor of the host", "reason", err)
		return nil
	}
	s.log.Info("nodes pinned to processors", "processors", pins)
	return pins
}

// worthOf returns the part of a host processor that each processor of the site gets.
func worthOf(width int32, has int) cgroup.CPU {
	if int(width) <= has {
		return cgroup.Processor
	}
	return max(1, cgroup.Processor*cgroup.CPU(has)/cgroup.CPU(width))
}

// measurements returns the source of the tasks' measured needs; nil without shared processors.
func (s *Server) measurements() exec.Measurements {
	if s.shared == nil {
		return nil
	}
	return s.shared.gauge
}

// follow reports lost and recovered nodes to the batch system.
func (k *sharedRunner) follow(ctx context.Context, system *exec.System) {
	k.pool.Follow(func(n int32, up bool) {
		if err := system.SetNode(ctx, n, up); err != nil && !errors.Is(err, exec.ErrClosed) && ctx.Err() == nil {
			k.log.Error("node state not reported", "node", n, "up", up, "error", err)
		}
	})
}

// Launch implements runner.
func (k *sharedRunner) Launch(_ context.Context, spec exec.Spec, j *site.Job) (exec.Launched, error) {
	k.followed.add(spec.Key) // even during the launch, so that it cannot be recovered meanwhile
	p, err := k.pool.Launch(spec)
	if err != nil {
		k.followed.remove(spec.Key)
		return nil, err
	}
	return k.task(spec.Key, j, spec.Allocation, p), nil
}

// Bar implements runner.
func (k *sharedRunner) Bar(key batch.Key) (won bool, err error) { return k.host.Bar(node.ID{Key: key}) }

// Attach implements runner.
func (k *sharedRunner) Attach(ctx context.Context, key batch.Key, j *site.Job) (attempt.Status, exec.Launched, error) {
	if k.followed.has(key) {
		return attempt.Status{}, nil, fmt.Errorf("attempt of %s: %w", key.Job, supervisor.ErrFollowed)
	}
	// any node will do: all are one host
	places, how := []batch.NodeAllocation{{Processors: 1, Share: batch.One}}, batch.LaunchOnce
	if j != nil && j.Run != nil && len(j.Run.Places) > 0 {
		how = j.Run.Launch
		places = slices.Clone(j.Run.Places)
		for i := range places { // the configuration may have fewer nodes by now
			places[i].Node = 0
		}
	}
	st, p, err := k.pool.Recover(ctx, key, how, places)
	switch {
	case err != nil || p == nil:
		return st, nil, err
	case j == nil:
		p.Detach() // no one waits for it
		return st, nil, nil
	}
	if j.Run != nil && len(j.Run.Places) > 0 {
		// Size and worth of its nodes may have changed.
		if err := p.SetShares(j.Run.Places); err != nil {
			k.log.Info("update of task shares failed", "job", key.Job, "error", err)
		}
	}
	return st, k.task(key, j, places, p), nil
}

// Age implements runner.
func (k *sharedRunner) Age(key batch.Key) (time.Duration, error) {
	return k.host.Age(node.ID{Key: key})
}

// Close implements runner.
func (k *sharedRunner) Close() {
	k.pool.Close()
	if err := k.host.Close(); err != nil {
		k.log.Warn("closing the node failed", "error", err)
	}
}

// sharedProcess is a process of the pool.
type sharedProcess interface {
	exec.Launched
	exec.Detacher
	exec.Sharer
}

// task is a running attempt.
type task struct {
	sharedProcess
	of  *sharedRunner
	key batch.Key
}

// task records an attempt that the batch system follows.
func (k *sharedRunner) task(key batch.Key, j *site.Job, places []batch.NodeAllocation, p exec.Launched) exec.Launched {
	process, able := p.(sharedProcess)
	if !able {
		return p
	}
	k.followed.add(key)
	launch := batch.LaunchOnce
	if j.Run != nil {
		launch = j.Run.Launch
	}
	k.gauge.enter(key, j.Spec(), j.Measured, launch, places)
	return &task{process, k, key}
}

// Wait implements exec.Launched.
func (t *task) Wait() exec.Exit {
	exit := t.sharedProcess.Wait()
	t.of.gauge.leave(t.key)
	t.of.followed.remove(t.key)
	return exit
}

// Signal implements exec.Launched.
func (t *task) Signal(sig syscall.Signal) error {
	switch sig {
	case syscall.SIGSTOP:
		t.of.gauge.pause(t.key, true)
	case syscall.SIGCONT:
		t.of.gauge.pause(t.key, false)
	}
	return t.sharedProcess.Signal(sig)
}

// SetShares implements exec.Sharer.
func (t *task) SetShares(places []batch.NodeAllocation) error {
	t.of.gauge.share(t.key, places)
	return t.sharedProcess.SetShares(places)
}
