package slurmtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Patience is how long anything of a cluster may take that usually takes a moment.
const Patience = 30 * time.Second

// Config is what a cluster is.
type Config struct {
	Name  string // of the cluster, and the first part of its nodes' names
	Nodes int    // at least 1
	CPUs  int    // of each node; 0 means 1
	// MinJobAge is how long the controller remembers jobs that have ended, in
	// seconds; 0 means a day.
	MinJobAge int
	// Partitions replaces the one partition, main, of all nodes. Lines are
	// slurm.conf's, with ALL for the nodes.
	Partitions []string
	// Lines are added to slurm.conf, and replace those with the same key.
	Lines []string
	// Cgroups is the text of a cgroup.conf; "": there is none.
	Cgroups string
}

// Cluster is a Slurm cluster that runs.
type Cluster struct {
	Config
	dir        string
	munge      string // its socket
	controller *daemon
	nodes      []*daemon
}

// Start runs clusters until the test ends, and returns when all their nodes are
// up. It skips the test where it cannot.
func Start(t testing.TB, configs ...Config) []*Cluster {
	t.Helper()
	demand(t)
	root := shortDir(t)
	return startAll(t, root, startMunge(t, root), configs)
}

// startAll starts clusters in subdirectories of root.
func startAll(t testing.TB, root, socket string, configs []Config) []*Cluster {
	t.Helper()
	clusters := make([]*Cluster, len(configs))
	for i, cfg := range configs {
		clusters[i] = newCluster(t, cfg, filepath.Join(root, strconv.Itoa(i)), socket)
	}
	for _, c := range clusters {
		c.Await(t)
	}
	return clusters
}

func newCluster(t testing.TB, cfg Config, dir, socket string) *Cluster {
	t.Helper()
	if cfg.CPUs == 0 {
		cfg.CPUs = 1
	}
	if cfg.MinJobAge == 0 {
		cfg.MinJobAge = 86400
	}
	c := &Cluster{Config: cfg, dir: dir, munge: socket}
	for _, sub := range []string{"state", "spool", "log", "run"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(c.Conf(), []byte(c.text(t)), 0o644); err != nil {
		t.Fatal(err)
	}
	if cfg.Cgroups != "" {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.conf"), []byte(cfg.Cgroups), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { c.end(t) })
	c.StartController(t)
	for i := range cfg.Nodes {
		name := c.node(i)
		if err := os.MkdirAll(filepath.Join(dir, "spool", name), 0o755); err != nil {
			t.Fatal(err)
		}
		c.nodes = append(c.nodes, start(t, dir, "slurmd", "-D", "-f", c.Conf(), "-N", name))
	}
	return c
}

func (c *Cluster) node(i int) string { return c.Name + "n" + strconv.Itoa(i+1) }

// Conf returns the path of the cluster's slurm.conf.
func (c *Cluster) Conf() string { return filepath.Join(c.dir, "slurm.conf") }

// JobComp returns the path of the file of completed jobs.
func (c *Cluster) JobComp() string { return filepath.Join(c.dir, "jobcomp.txt") }

// Command returns a Slurm command about this cluster.
func (c *Cluster) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+c.Conf())
	return cmd
}

// Run runs a Slurm command about this cluster, which has to succeed, and returns
// what it prints, trimmed.
func (c *Cluster) Run(t testing.TB, args ...string) string {
	t.Helper()
	out, err := c.Try(args...)
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	return out
}

// Try runs a Slurm command about this cluster and returns what it prints, trimmed.
func (c *Cluster) Try(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	cmd := c.Command(ctx, args...)
	var errText strings.Builder
	cmd.Stderr = &errText
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(errText.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// StartController starts the slurmctld, at first or after Stop or Kill, and does
// not wait for it.
func (c *Cluster) StartController(t testing.TB) {
	t.Helper()
	c.controller = start(t, c.dir, "slurmctld", "-D", "-f", c.Conf())
}

// Stop ends the slurmctld gracefully: it saves its state.
func (c *Cluster) Stop(t testing.TB) {
	t.Helper()
	c.controller.stop()
}

// Kill ends the slurmctld as a crash of its machine would.
func (c *Cluster) Kill(t testing.TB) {
	t.Helper()
	c.controller.kill()
}

// Await returns when the controller answers and all nodes are up.
func (c *Cluster) Await(t testing.TB) {
	t.Helper()
	resumed := false
	Until(t, "cluster "+c.Name+" is up", func() bool {
		out, err := c.Try("sinfo", "-h", "-N", "-o", "%N %t")
		if err != nil {
			return false
		}
		up := make(map[string]bool)
		for line := range strings.Lines(out) {
			name, state, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch state {
			case "idle", "alloc", "mix", "comp":
				up[name] = true
			case "drain", "down", "drng":
				// A killed controller may find nodes with jobs that it does not know.
				if !resumed {
					resumed = true
					_, _ = c.Try("scontrol", "update", "NodeName=ALL", "State=RESUME") // not yet possible, perhaps
				}
			}
		}
		return len(up) == c.Nodes
	})
}

// Until waits until a condition holds, and fails the test if it never does.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(Patience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", Patience, what)
		}
		<-tick.C
	}
}

// Log returns the end of a daemon's log, for a test that failed.
func (c *Cluster) Log() string {
	const most = 4 << 10
	text, err := os.ReadFile(filepath.Join(c.dir, "log", "slurmctld.log"))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}

// Forget takes away the state of a controller that does not run: what it has been
// told it will not know any more.
func (c *Cluster) Forget(t testing.TB) {
	t.Helper()
	state := filepath.Join(c.dir, "state")
	if err := os.RemoveAll(state); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(state, 0o755); err != nil {
		t.Fatal(err)
	}
}
