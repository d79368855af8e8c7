package slurmd

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

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

// Processors is how many the cluster has.
func (c *Config) Processors() int { return c.Nodes * max(c.CPUs, 1) }

// Cluster is a Slurm cluster that runs.
type Cluster struct {
	Config
	dir        string
	socket     string // of the authentication
	controller *daemon
	nodes      []*daemon
}

func (c *Cluster) node(i int) string { return c.Name + "n" + strconv.Itoa(i+1) }

// Dir is the cluster's directory.
func (c *Cluster) Dir() string { return c.dir }

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

// Try runs a Slurm command about this cluster and returns what it prints, trimmed.
func (c *Cluster) Try(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
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

// StartController starts the slurmctld, at first or after StopController or
// KillController, and does not wait for it.
func (c *Cluster) StartController() (err error) {
	c.controller, err = launch(c.dir, nil, "slurmctld", "-D", "-f", c.Conf())
	return err
}

// StopController ends the slurmctld gracefully: it saves its state.
func (c *Cluster) StopController() { c.controller.stop() }

// KillController ends the slurmctld as a crash of its machine would.
func (c *Cluster) KillController() { c.controller.kill() }

// KillNode ends the slurmd of a node, from 0, as a crash of it would. Its jobs run on.
func (c *Cluster) KillNode(i int) { c.nodes[i].kill() }

func (c *Cluster) startNode(i int) error {
	name := c.node(i)
	if err := os.MkdirAll(filepath.Join(c.dir, "spool", name), 0o755); err != nil {
		return err
	}
	d, err := launch(c.dir, nil, "slurmd", "-D", "-f", c.Conf(), "-N", name)
	if err == nil {
		c.nodes = append(c.nodes, d)
	}
	return err
}

// Await returns when the controller answers and all nodes are up.
func (c *Cluster) Await(ctx context.Context) error {
	resumed := false
	err := until(ctx, "it is up", func() bool {
		out, err := c.Try(ctx, "sinfo", "-h", "-N", "-o", "%N %t")
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
					_, _ = c.Try(ctx, "scontrol", "update", "NodeName=ALL", "State=RESUME") // not yet possible, perhaps
				}
			}
		}
		return len(up) == c.Nodes
	})
	if err != nil {
		return fmt.Errorf("cluster %s: %w; the end of its log:\n%s", c.Name, err, c.Log())
	}
	return nil
}

// Log returns the end of the controller's log.
func (c *Cluster) Log() string {
	const most = 4 << 10
	text, err := os.ReadFile(filepath.Join(c.dir, "log", "slurmctld.log"))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}
