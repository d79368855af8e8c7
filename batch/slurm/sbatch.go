package slurm

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Submission is a batch script and what Slurm is told about it.
type Submission struct {
	Script    []byte
	Name      string
	Comment   string
	Width     int32          // tasks, of one processor each
	Limit     batch.Duration // rounded up to whole minutes
	Partition string         // "": the default one
	Account   string
	QOS       string
	Memory    int64    // bytes for each processor; 0: the partition's
	Extra     []string // options of the site
	Dir       string
	Stdout    string // file; "": discarded
	Stderr    string
	Held      bool
	Delay     batch.Duration // not to be started before
}

// Submit hands a script over and returns the job's number. What is in the script's
// own #SBATCH lines holds where the options here do not say otherwise.
func (c *Commands) Submit(ctx context.Context, s *Submission) (string, error) {
	args := []string{"sbatch"}
	args = append(args, s.Extra...)
	args = append(
		args, "--parsable", "--no-requeue", "--job-name="+s.Name, "--comment="+s.Comment,
		"--ntasks="+strconv.Itoa(int(s.Width)), "--time="+strconv.FormatInt(Minutes(s.Limit), 10),
		"--output="+file(s.Stdout), "--error="+file(s.Stderr), "--open-mode=truncate",
	)
	for _, o := range [][2]string{{"--partition=", s.Partition}, {"--account=", s.Account}, {"--qos=", s.QOS}, {"--chdir=", s.Dir}} {
		if o[1] != "" {
			args = append(args, o[0]+o[1])
		}
	}
	if s.Memory > 0 {
		args = append(args, "--mem-per-cpu="+strconv.FormatInt((s.Memory+1<<20-1)>>20, 10)+"M")
	}
	if s.Delay > 0 {
		args = append(args, "--begin=now+"+strconv.FormatInt(int64(s.Delay.CeilSeconds()/batch.Second), 10)+"seconds")
	}
	if s.Held {
		args = append(args, "--hold")
	}
	out, err := c.run(ctx, s.Script, args...)
	if err != nil {
		return "", fmt.Errorf("submit: %w", err)
	}
	return parseSubmitted(out)
}

// parseSubmitted reads the answer of sbatch: a number and, on some clusters, a
// semicolon and the cluster's name. A plugin of the site may print before it.
func parseSubmitted(out string) (string, error) {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	id, _, _ := strings.Cut(last, ";")
	if n, ok := parseNumber(id); !ok || n == 0 {
		// It was taken, but who knows as what: the queue will say.
		return "", &UnreachableError{Command: "sbatch", Sent: true, Text: fmt.Sprintf("answer %.60q", last)}
	}
	return id, nil
}

// file is a path in which nothing stands for anything else; Slurm replaces what
// follows a percent sign.
func file(path string) string {
	if path == "" {
		return "/dev/null"
	}
	return strings.ReplaceAll(path, "%", "%%")
}

// Minutes returns a time limit in Slurm's unit, rounded up.
func Minutes(d batch.Duration) int64 {
	return int64((d + batch.Minute - 1) / batch.Minute)
}

// Limit returns the walltime that Slurm makes of one: whole minutes.
func Limit(d batch.Duration) batch.Duration {
	if d >= batch.Forever-batch.Minute {
		return batch.Forever
	}
	return batch.Duration(Minutes(d)) * batch.Minute
}
