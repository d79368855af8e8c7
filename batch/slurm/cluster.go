package slurm

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/external"
)

// Config is what New makes a Cluster from.
type Config struct {
	Conf    string        // path of slurm.conf; "": Slurm's default
	Dir     string        // directory of the client programs; "": looked up in PATH
	Timeout time.Duration // of each command; 0: external.DefaultTimeout

	Partition string // "": the default partition
	Account   string
	QOS       string
	Extra     []string // sbatch options of every job

	// Interval is the time between polls: Describe warns if Slurm forgets jobs sooner.
	Interval time.Duration
}

// Cluster is a Slurm cluster. Its methods may be called from several goroutines, except
// for Use, which comes first.
type Cluster struct {
	cfg      Config
	database bool   // sacct has the records of jobs
	jobComp  string // file of jobcomp/filetxt; "": none
}

var _ external.Cluster = (*Cluster)(nil)

// New returns a cluster. It runs nothing yet.
func New(c Config) *Cluster { return &Cluster{cfg: c} }

// Title implements external.Cluster.
func (c *Cluster) Title() string { return "Slurm" }

// minutes returns a time limit in Slurm's unit, rounded up.
func minutes(d batch.Duration) int64 {
	return int64((d + batch.Minute - 1) / batch.Minute)
}

// Limit implements external.Cluster: time limits are whole minutes.
func (c *Cluster) Limit(d batch.Duration) batch.Duration {
	if d >= batch.Forever-batch.Minute {
		return batch.Forever
	}
	return batch.Duration(minutes(d)) * batch.Minute
}

// options are the sbatch options by which the site says where its jobs run.
func (c *Cluster) options() []string {
	var args []string
	for _, o := range [][2]string{
		{"--partition=", c.cfg.Partition}, {"--account=", c.cfg.Account}, {"--qos=", c.cfg.QOS},
	} {
		if o[1] != "" {
			args = append(args, o[0]+o[1])
		}
	}
	return args
}

// Submit implements external.Cluster with sbatch. #SBATCH lines of the script apply
// where no option here overrides them.
func (c *Cluster) Submit(ctx context.Context, s *external.Submission) (string, error) {
	args := []string{"sbatch"}
	args = append(append(args, s.Extra...), c.cfg.Extra...) // the last one counts
	args = append(
		args, "--parsable", "--no-requeue", "--job-name="+s.Name, "--comment="+s.Comment,
		"--ntasks="+strconv.Itoa(int(s.Width)), "--time="+strconv.FormatInt(minutes(s.Limit), 10),
		"--output="+outputFile(s.Stdout), "--error="+outputFile(s.Stderr), "--open-mode=truncate",
	)
	args = append(args, c.options()...)
	if s.Dir != "" {
		args = append(args, "--chdir="+s.Dir)
	}
	if s.Memory > 0 {
		args = append(args, "--mem-per-cpu="+strconv.FormatInt((s.Memory+1<<20-1)>>20, 10)+"M")
	}
	if s.Delay > 0 {
		args = append(args, "--begin=now+"+strconv.FormatInt(int64(s.Delay.CeilSeconds()/batch.Second), 10)+"seconds")
	}
	out, err := c.run(ctx, s.Text, args...)
	if err != nil {
		return "", fmt.Errorf("submit: %w", err)
	}
	return parseSubmitted(out)
}

// parseSubmitted reads the answer of sbatch: the job ID and, on some clusters, a
// semicolon and the cluster's name. Plugins of the site can print lines before it.
func parseSubmitted(out string) (string, error) {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	id, _, _ := strings.Cut(last, ";")
	if n, ok := parseNumber(id); !ok || n == 0 {
		// Slurm took the job, under an ID that the queue will show.
		return "", &external.UnreachableError{Command: "sbatch", Sent: true, Text: fmt.Sprintf("answer %.60q", last)}
	}
	return id, nil
}

// outputFile returns a path as sbatch takes it, which replaces what follows a percent
// sign.
func outputFile(path string) string {
	if path == "" {
		return "/dev/null"
	}
	return strings.ReplaceAll(path, "%", "%%")
}

// Control implements external.Cluster. Slurm does not report that a job to be cancelled
// is unknown or has ended, and does not always report that a job to be held has started.
func (c *Cluster) Control(ctx context.Context, action external.Action, ids []string) error {
	var verb string
	var args []string
	switch action {
	case external.Cancel:
		verb, args = "cancel", append([]string{"scancel", "--quiet"}, ids...)
	case external.Hold:
		verb, args = "hold", []string{"scontrol", "uhold", strings.Join(ids, ",")}
	case external.Release:
		verb, args = "release", []string{"scontrol", "release", strings.Join(ids, ",")}
	default:
		return fmt.Errorf("action %d", action)
	}
	if _, err := c.run(ctx, nil, args...); err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return nil
}

// CancelNamed implements external.Cluster.
func (c *Cluster) CancelNamed(ctx context.Context, id, name string) error {
	if _, err := c.run(ctx, nil, "scancel", "--quiet", "--name="+name, id); err != nil {
		return fmt.Errorf("cancel: %w", err)
	}
	return nil
}

// Nodes implements external.Cluster, with one sinfo for all partitions.
func (c *Cluster) Nodes(ctx context.Context) (*external.Nodes, error) {
	mark := token()
	out, err := c.run(ctx, nil, "sinfo", "--noheader", "--Node", "--all",
		"--format="+mark+strings.Join([]string{"%N", "%c", "%m", "%t", "%P"}, mark))
	if err != nil {
		return nil, fmt.Errorf("nodes: %w", err)
	}
	return parseNodes(out, mark, c.cfg.Partition)
}

// parseNodes reads records of a node and a partition each; an asterisk marks the
// default partition.
func parseNodes(out, mark, partition string) (*external.Nodes, error) {
	records, err := split("sinfo", out, mark, 5)
	if err != nil {
		return nil, err
	}
	nodes := &external.Nodes{Partitions: make(map[string]bool)}
	ours := make(map[string]bool)
	for _, f := range records {
		name, isDefault := strings.CutSuffix(f[4], "*")
		if name != partition && (partition != "" || !isDefault) {
			continue
		}
		nodes.Partitions[name] = true
		if ours[f[0]] {
			continue
		}
		ours[f[0]] = true
		n, err := parseNode(f)
		if err != nil {
			return nil, err
		}
		nodes.List = append(nodes.List, n)
	}
	if len(nodes.List) == 0 {
		return nil, &FormatError{Source: "sinfo", Field: "nodes of partition", Value: partition}
	}
	for _, f := range records {
		if ours[f[0]] {
			nodes.Partitions[strings.TrimSuffix(f[4], "*")] = true
		}
	}
	return nodes, nil
}

// usableStates are those of nodes on which jobs run or can run.
var usableStates = []string{
	"idle", "alloc", "mix", "comp", "allocated", "mixed", "completing", "resv", "plnd", "planned", "reserved",
}

// parseNode reads a name, processors, megabytes and a state. Signs behind the state mark
// conditions; an asterisk a node that does not answer.
func parseNode(f []string) (external.Node, error) {
	n := external.Node{Name: f[0], State: strings.TrimRight(f[3], "*~#!%$@^+-")}
	cpus, okC := parseCount(strings.TrimSuffix(f[1], "+"))
	megabytes, okM := parseNumber(strings.TrimSuffix(f[2], "+"))
	if !okC || !okM || n.Name == "" || megabytes > 1<<40 {
		return external.Node{}, &FormatError{Source: "sinfo", Field: "node", Value: strings.Join(f, " ")}
	}
	n.Processors, n.Memory = cpus, megabytes<<20
	n.Usable = slices.Contains(usableStates, n.State) && !strings.HasSuffix(f[3], "*")
	return n, nil
}
