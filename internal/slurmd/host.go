package slurmd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Patience is the limit for steps that usually take moments.
const Patience = 30 * time.Second

// programs are the daemons and client programs of a cluster.
var programs = []string{"munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "sacct", "sinfo"}

// Lacks returns the reason why clusters cannot run here, or "". more are additional programs
// that the caller needs.
func Lacks(more ...string) string {
	var missing []string
	for _, name := range append(append([]string(nil), programs...), more...) {
		if _, err := find(name); err != nil {
			missing = append(missing, name)
		}
	}
	switch {
	case len(missing) > 0:
		return "no Slurm here (" + strings.Join(missing, ", ") + "): internal/slurmtest/install.sh installs it"
	case os.Geteuid() != 0:
		return "Slurm's daemons need root"
	}
	return ""
}

// Host runs clusters. It must not be used by several goroutines at once.
type Host struct {
	dir        string
	munge      *daemon
	accounting *Accounting // nil without Account
	clusters   []*Cluster
}

// Open makes the directory of clusters and starts munged. The directory's name is short,
// because socket names are limited.
func Open(ctx context.Context) (_ *Host, err error) {
	dir, err := os.MkdirTemp("/tmp", "slurm")
	if err != nil {
		return nil, fmt.Errorf("directory of clusters: %w", err)
	}
	h := &Host{dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("clusters: %w", err), h.Close())
		}
	}()
	// munged requires that other accounts can enter it.
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	return h, h.startMunge(ctx)
}

// Dir is the directory of the host, with those of its clusters.
func (h *Host) Dir() string { return h.dir }

// Socket is the path of munged's socket.
func (h *Host) Socket() string { return filepath.Join(h.dir, "munge", "sock") }

// Close ends all clusters and the jobs that they left, and removes the directory.
func (h *Host) Close() error {
	for _, c := range h.clusters {
		c.end()
	}
	if h.accounting != nil {
		h.accounting.end()
	}
	if h.munge != nil {
		h.munge.stop()
	}
	return os.RemoveAll(h.dir)
}

func (h *Host) startMunge(ctx context.Context) error {
	dir := filepath.Join(h.dir, "munge")
	if err := os.MkdirAll(filepath.Join(dir, "log"), 0o755); err != nil {
		return err
	}
	key := make([]byte, 128)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "key"), key, 0o600); err != nil {
		return err
	}
	var err error
	h.munge, err = launch(dir, nil, "munged", "--foreground", "--num-threads=4",
		"--socket="+h.Socket(), "--key-file="+filepath.Join(dir, "key"), "--pid-file="+filepath.Join(dir, "pid"),
		"--log-file="+filepath.Join(dir, "munged.log"), "--seed-file="+filepath.Join(dir, "seed"))
	if err != nil {
		return err
	}
	return until(ctx, "munged listens", func() bool {
		_, err := os.Stat(h.Socket())
		return err == nil
	})
}

// Start starts clusters and returns when all their nodes are up.
func (h *Host) Start(ctx context.Context, configs ...Config) ([]*Cluster, error) {
	var started []*Cluster
	names := make([]string, len(configs))
	for i := range configs {
		names[i] = configs[i].Name
	}
	if h.accounting != nil {
		if err := h.accounting.register(ctx, names...); err != nil {
			return nil, err
		}
	}
	for _, cfg := range configs {
		if h.accounting != nil {
			cfg.Lines = append(h.accounting.lines(), cfg.Lines...)
		}
		c, err := h.begin(ctx, cfg)
		if err != nil {
			return nil, fmt.Errorf("cluster %s: %w", cfg.Name, err)
		}
		started = append(started, c)
	}
	for _, c := range started {
		if err := c.Await(ctx); err != nil {
			return nil, err
		}
	}
	if h.accounting != nil {
		return started, h.accounting.awaitControllers(ctx, names...)
	}
	return started, nil
}

// begin starts the daemons of a cluster without waiting for them.
func (h *Host) begin(ctx context.Context, cfg Config) (*Cluster, error) {
	if cfg.CPUs == 0 {
		cfg.CPUs = 1
	}
	if cfg.MinJobAge == 0 {
		cfg.MinJobAge = 86400
	}
	c := &Cluster{Config: cfg, dir: filepath.Join(h.dir, strconv.Itoa(len(h.clusters))), socket: h.Socket()}
	for _, sub := range []string{"state", "spool", "log", "run"} {
		if err := os.MkdirAll(filepath.Join(c.dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	text, err := c.text(ctx)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(c.Conf(), []byte(text), 0o644); err != nil {
		return nil, err
	}
	if cfg.Cgroups != "" {
		if err := os.WriteFile(filepath.Join(c.dir, "cgroup.conf"), []byte(cfg.Cgroups), 0o644); err != nil {
			return nil, err
		}
	}
	h.clusters = append(h.clusters, c)
	if err := c.StartController(); err != nil {
		return nil, err
	}
	for i := range cfg.Nodes {
		if err := c.startNode(i); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// until waits until a condition holds, at most for Patience.
func until(ctx context.Context, what string, holds func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, Patience, fmt.Errorf("not within %v: %s", Patience, what))
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
