package bench

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/slurmd"
)

// Slurm is a set of clusters and what is submitted to them.
type Slurm struct {
	Clusters []*slurmd.Cluster
	Script   string // file with Script in it
	Notes    string // the file that jobs write into
}

// ErrCannotRun says that no cluster would ever run a job.
var ErrCannotRun = errors.New("no cluster can run it")

// options are those of a job at every cluster.
func options(j *Job) []string {
	return []string{
		"--job-name=" + j.ID, "--ntasks=" + strconv.Itoa(j.Width), "--time=" + strconv.Itoa(int(j.Walltime.Minutes())),
		"--output=/dev/null", "--no-requeue",
	}
}

func (s *Slurm) arguments(j *Job) []string {
	return []string{s.Script, j.ID, strconv.FormatFloat(j.Runtime.Seconds(), 'f', 1, 64), s.Notes}
}

// Ask returns when each cluster would start a job, asked one after the other; zero for
// one that never would.
func (s *Slurm) Ask(ctx context.Context, j *Job) ([]time.Time, error) {
	starts := make([]time.Time, len(s.Clusters))
	for i, c := range s.Clusters {
		args := append(append([]string{"sbatch", "--test-only"}, options(j)...), s.arguments(j)...)
		cmd := c.Command(ctx, args...)
		cmd.Env = append(cmd.Env, "SLURM_TIME_FORMAT=standard", "TZ=UTC")
		out, err := cmd.CombinedOutput()
		if start, ok := parseTest(string(out)); ok {
			starts[i] = start
			continue
		}
		if strings.Contains(string(out), "allocation failure") {
			continue
		}
		if err == nil {
			err = errors.New("an answer without a start")
		}
		return nil, fmt.Errorf("sbatch --test-only at %s: %w: %.200s", c.Name, err, out)
	}
	return starts, nil
}

var tested = regexp.MustCompile(`(?m)\bJob \d+ to start at (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d) using `)

// parseTest reads what sbatch --test-only says, in UTC.
func parseTest(out string) (time.Time, bool) {
	m := tested.FindStringSubmatch(out)
	if m == nil {
		return time.Time{}, false
	}
	t, err := time.Parse("2006-01-02T15:04:05", m[1])
	return t, err == nil
}

// Earliest returns the cluster that would start a job first, at a tie the first one;
// -1 for none.
func Earliest(starts []time.Time) int {
	best := -1
	for i, t := range starts {
		if !t.IsZero() && (best < 0 || t.Before(starts[best])) {
			best = i
		}
	}
	return best
}

// Submit hands a job to one cluster.
func (s *Slurm) Submit(ctx context.Context, j *Job, cluster int) error {
	c := s.Clusters[cluster]
	out, err := c.Command(ctx, append(append([]string{"sbatch", "--parsable"}, options(j)...),
		s.arguments(j)...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("sbatch %s at %s: %w: %.200s", j.ID, c.Name, err, out)
	}
	return nil
}

// ByRule submits a job where it would start first, and notes what was said.
func (s *Slurm) ByRule(ctx context.Context, r *Run) error {
	starts, err := s.Ask(ctx, &r.Job)
	if err != nil {
		return err
	}
	if r.Cluster = Earliest(starts); r.Cluster < 0 {
		return fmt.Errorf("job %s: %w", r.Job.ID, ErrCannotRun)
	}
	r.Test = starts[r.Cluster]
	return s.Submit(ctx, &r.Job, r.Cluster)
}

// ByClusters submits a job by sbatch --clusters, from the first cluster. The clusters
// need slurmdbd. sbatch does not print the starts it got.
func (s *Slurm) ByClusters(ctx context.Context, r *Run) error {
	j := &r.Job
	names := make([]string, len(s.Clusters))
	for i, c := range s.Clusters {
		names[i] = c.Name
	}
	args := append([]string{"sbatch", "--parsable", "--clusters=" + strings.Join(names, ",")}, options(j)...)
	out, err := s.Clusters[0].Command(ctx, append(args, s.arguments(j)...)...).Output()
	if err != nil {
		return fmt.Errorf("sbatch --clusters %s: %w: %.200s", j.ID, err, stderrOf(err))
	}
	_, name, _ := strings.Cut(strings.TrimSpace(string(out)), ";")
	if r.Cluster = slices.Index(names, name); r.Cluster < 0 {
		return fmt.Errorf("sbatch --clusters %s: answer %.60q, accepted: a number and one of %v", j.ID, out, names)
	}
	return nil
}

// stderrOf is what a command that failed has said.
func stderrOf(err error) []byte {
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.Stderr
	}
	return nil
}
