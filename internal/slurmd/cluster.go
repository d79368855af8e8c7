package slurmd

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/internal/freeport"
)

// Config is the configuration of a cluster.
type Config struct {
	Name  string // also the prefix of its nodes' names
	Nodes int    // at least 1
	CPUs  int    // of each node; 0 means 1
	// MinJobAge is how long the controller remembers ended jobs, in seconds; 0 means a
	// day.
	MinJobAge int
	// Partitions are slurm.conf lines instead of the single partition main. ALL stands
	// for the nodes.
	Partitions []string
	// Lines are further slurm.conf lines. They replace default lines with the same key.
	Lines []string
	// Cgroups is the text of cgroup.conf; "": none.
	Cgroups string
}

// Processors returns the number of processors of all nodes.
func (c *Config) Processors() int { return c.Nodes * max(c.CPUs, 1) }

// Cluster is a running Slurm cluster.
type Cluster struct {
	Config
	dir        string
	socket     string // of munged
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

// Command returns a Slurm command for this cluster.
func (c *Cluster) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+c.Conf())
	return cmd
}

// Try runs a Slurm command for this cluster and returns its trimmed output.
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

// StartController starts the slurmctld, also after StopController or KillController. It
// does not wait for it.
func (c *Cluster) StartController() (err error) {
	c.controller, err = launch(c.dir, nil, "slurmctld", "-D", "-f", c.Conf())
	return err
}

// StopController ends the slurmctld gracefully, with its state saved.
func (c *Cluster) StopController() { c.controller.stop() }

// KillController ends the slurmctld like a crash.
func (c *Cluster) KillController() { c.controller.kill() }

// KillNode ends the slurmd of a node, counted from 0, like a crash. Its jobs continue.
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
	err := until(ctx, "all nodes are up", func() bool {
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
				// A restarted controller can find jobs on nodes that it does not know.
				if !resumed {
					resumed = true
					_, _ = c.Try(ctx, "scontrol", "update", "NodeName=ALL", "State=RESUME") // it may be too early
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
	const longest = 4 << 10
	text, err := os.ReadFile(filepath.Join(c.dir, "log", "slurmctld.log"))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-longest):])
}

// text returns the cluster's slurm.conf. Scheduling is as fast as possible: backfilling
// every 2 seconds, and a scheduling pass at every event.
func (c *Cluster) text(ctx context.Context) (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", err
	}
	ports := make([]string, c.Nodes+1) // controller, nodes
	for i := range ports {
		if ports[i], err = port(ctx); err != nil {
			return "", err
		}
	}
	host, _, _ = strings.Cut(host, ".")
	in := func(parts ...string) string { return filepath.Join(append([]string{c.dir}, parts...)...) }
	pairs := [][2]string{
		{"ClusterName", c.Name},
		{"SlurmctldHost", host + "(127.0.0.1)"},
		{"SlurmctldPort", ports[0]},
		{"SlurmUser", "root"},
		{"SlurmdUser", "root"},
		{"AuthType", "auth/munge"},
		{"CredType", "cred/munge"},
		{"AuthInfo", "socket=" + c.socket + ",cred_expire=120"},
		{"CommunicationParameters", "NoInAddrAny,NoCtldInAddrAny"},
		{"StateSaveLocation", in("state")},
		{"SlurmdSpoolDir", in("spool", "%n")},
		{"SlurmctldPidFile", in("run", "slurmctld.pid")},
		{"SlurmdPidFile", in("run", "slurmd-%n.pid")},
		{"SlurmctldLogFile", in("log", "slurmctld.log")},
		{"SlurmdLogFile", in("log", "slurmd-%n.log")},
		{"SlurmctldDebug", "info"},
		{"SlurmdDebug", "info"},
		{"SwitchType", "switch/none"},
		{"MpiDefault", "none"},
		{"ProctrackType", "proctrack/linuxproc"},
		{"TaskPlugin", "task/none"},
		{"JobAcctGatherType", "jobacct_gather/none"},
		{"AccountingStorageType", "accounting_storage/none"},
		{"AccountingStoreFlags", "job_comment"},
		{"JobCompType", "jobcomp/filetxt"},
		{"JobCompLoc", c.JobComp()},
		{"SelectType", "select/cons_tres"},
		{"SelectTypeParameters", "CR_CPU"},
		{"PriorityType", "priority/basic"},
		{"SchedulerType", "sched/backfill"},
		{"SchedulerParameters", "bf_interval=2,bf_resolution=1,bf_window=10080,bf_continue,batch_sched_delay=0," +
			"sched_interval=5,bf_max_job_test=1000,default_queue_depth=1000"},
		{"SlurmdParameters", "config_overrides"},
		{"ReturnToService", "2"},
		{"MinJobAge", strconv.Itoa(c.MinJobAge)},
		{"MaxJobCount", "20000"},
		{"InactiveLimit", "0"},
		{"KillWait", "3"},
		{"OverTimeLimit", "0"},
		{"EnforcePartLimits", "ALL"},
		{"Waittime", "0"},
		{"SlurmctldTimeout", "30"},
		{"SlurmdTimeout", "60"},
		{"MessageTimeout", "10"},
		{"JobRequeue", "0"},
		{"MailProg", "/bin/true"},
		{"PropagateResourceLimits", "NONE"},
		{"GetEnvTimeout", "2"},
	}
	var b strings.Builder
	replaced := make(map[string]bool)
	for _, line := range c.Lines {
		key, _, _ := strings.Cut(line, "=")
		replaced[strings.ToLower(key)] = true
		fmt.Fprintln(&b, line)
	}
	for _, p := range pairs {
		if !replaced[strings.ToLower(p[0])] {
			fmt.Fprintf(&b, "%s=%s\n", p[0], p[1])
		}
	}
	for i := range c.Nodes {
		fmt.Fprintf(&b, "NodeName=%s NodeAddr=127.0.0.1 NodeHostname=%s Port=%s CPUs=%d RealMemory=1024 "+
			"State=UNKNOWN\n",
			c.node(i), host, ports[i+1], c.CPUs)
	}
	if c.Partitions == nil {
		fmt.Fprintln(&b, "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=60 OverSubscribe=NO "+
			"State=UP")
	}
	for _, p := range c.Partitions {
		fmt.Fprintln(&b, p)
	}
	return b.String(), nil
}

// port returns a free port that stays reserved across restarts of the cluster.
func port(ctx context.Context) (string, error) {
	address, err := freeport.Find(ctx)
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(address)
	return port, err
}
