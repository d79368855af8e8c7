package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/slurmd"
)

func TestParseTestReadsTheStart(t *testing.T) {
	for _, tc := range []struct {
		out  string
		want string
	}{
		{
			"sbatch: Job 3 to start at 2026-11-22T03:20:01 using 4 processors on nodes an[1-2] in partition main\n",
			"2026-11-22T03:20:01",
		},
		{"sbatch: a plugin's word\nsbatch: Job 17 to start at 2026-11-22T03:20:01 using 1 processors on nodes b in " +
			"partition main\n", "2026-11-22T03:20:01"},
		{"allocation failure: Requested node configuration is not available\n", ""},
		{"sbatch: Job 3 to start at tomorrow using 4 processors", ""},
		{"sbatch: Job 3 to start at 2026-13-22T03:20:01 using 4 processors", ""},
		{"", ""},
	} {
		start, ok := parseTest(tc.out)
		if got := start.Format("2006-01-02T15:04:05"); ok != (tc.want != "") || ok && got != tc.want {
			t.Errorf("%q: %s, %v", tc.out, got, ok)
		}
	}
}

func FuzzParseTest(f *testing.F) {
	f.Add("sbatch: Job 3 to start at 2026-11-22T03:20:01 using 4 processors on nodes an[1-2] in partition main\n")
	f.Fuzz(func(t *testing.T, out string) {
		if start, ok := parseTest(out); ok && start.IsZero() {
			t.Errorf("%q starts never", out)
		}
	})
}

func TestTheEarliestStartIsChosenAndTheFirstClusterAtATie(t *testing.T) {
	at := func(s int) time.Time { return epoch.Add(time.Duration(s) * time.Second) }
	never := time.Time{}
	for _, tc := range []struct {
		starts []time.Time
		want   int
	}{
		{[]time.Time{at(3), at(2), at(4)}, 1},
		{[]time.Time{at(2), at(2), at(1)}, 2},
		{[]time.Time{at(2), at(2), at(2)}, 0},
		{[]time.Time{never, at(9), at(9)}, 1},
		{[]time.Time{never, never}, -1},
		{nil, -1},
	} {
		if got := Earliest(tc.starts); got != tc.want {
			t.Errorf("%v: %d, want %d", tc.starts, got, tc.want)
		}
	}
}

// startSlurm starts clusters, or skips the test where there can be none.
func startSlurm(t *testing.T, accounted bool, configs ...slurmd.Config) *Slurm {
	var more []string
	if accounted {
		more = slurmd.AccountingPrograms
	}
	if why := slurmd.Lacks(more...); why != "" {
		if os.Getenv("SLURMTEST_REQUIRED") != "" && !accounted {
			t.Fatal(why)
		}
		t.Skip("SKIPPED WITHOUT A CLUSTER: " + why)
	}
	h, err := slurmd.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &Slurm{Script: filepath.Join(h.Dir(), "job.sh"), Notes: filepath.Join(h.Dir(), "notes")}
	if err := os.WriteFile(s.Script, []byte(Script), 0o755); err != nil {
		t.Fatal(err)
	}
	if accounted {
		if err := h.Account(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if s.Clusters, err = h.Start(t.Context(), configs...); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheRuleSubmitsWhereSlurmSaysItWouldStartFirst(t *testing.T) {
	s := startSlurm(t, false, slurmd.Config{Name: "a", Nodes: 1, CPUs: 2}, slurmd.Config{Name: "b", Nodes: 1, CPUs: 4})
	jobs := []Job{
		{ID: "both", Width: 2, Runtime: 5 * time.Second, Walltime: time.Minute, Cluster: Anywhere},
		{
			ID: "full", At: 1500 * time.Millisecond, Width: 2, Runtime: time.Second, Walltime: time.Minute,
			Cluster: Anywhere,
		},
		{
			ID: "wide", At: 1600 * time.Millisecond, Width: 4, Runtime: time.Second, Walltime: time.Minute,
			Cluster: Anywhere,
		},
		{ID: "local", At: 1700 * time.Millisecond, Width: 1, Runtime: time.Second, Walltime: time.Minute, Cluster: 0},
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	runs, err := Play(ctx, jobs, s, SideFunc(s.ByRule), func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 1, 1, 0} { // a tie, a is full, a is too small, no choice
		r := &runs[i]
		if r.Cluster != want || r.Times != 1 {
			t.Errorf("%s ran %d times at cluster %d, want once at %d", r.Job.ID, r.Times, r.Cluster, want)
		}
		if (r.Job.Cluster == Anywhere) == r.Test.IsZero() {
			t.Errorf("%s: Slurm has said %v", r.Job.ID, r.Test)
		}
	}
	if _, err := Play(ctx, []Job{{ID: "huge", Width: 5, Walltime: time.Minute, Cluster: Anywhere}}, s,
		SideFunc(s.ByRule),
		func(int, int) {}); !errors.Is(err, ErrCannotRun) {
		t.Errorf("a job that fits nowhere: %v", err)
	}
}

func TestASubmissionThatFailsEndsThePlay(t *testing.T) {
	broken := errors.New("broken")
	jobs := []Job{{ID: "a", Cluster: Anywhere}, {ID: "b", At: time.Hour, Cluster: Anywhere}}
	side := SideFunc(func(context.Context, *Run) error { return broken })
	_, err := Play(t.Context(), jobs, &Slurm{Notes: filepath.Join(t.TempDir(), "none")}, side, func(int, int) {})
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// awaitConsidered returns when all jobs of a cluster run, or wait for a reason.
func awaitConsidered(t *testing.T, c *slurmd.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), slurmd.Patience)
	defer cancel()
	for {
		out, err := c.Try(ctx, "squeue", "--noheader", "--format=%T %r")
		if err != nil {
			t.Fatal(err)
		}
		considered := true
		for line := range strings.Lines(out) {
			switch strings.TrimSpace(line) {
			case "RUNNING None", "PENDING Resources", "PENDING Priority":
			default:
				considered = false
			}
		}
		if considered {
			return
		}
		if !pause(ctx, 50*time.Millisecond) {
			t.Fatalf("jobs of %s are not considered:\n%s", c.Name, out)
		}
	}
}

// Both ways of the rule choose alike: with clusters free, busy and too small, and at
// ties. Nothing starts or ends between the two questions about a job.
func TestWillRunAndClustersChooseTheSame(t *testing.T) {
	s := startSlurm(
		t, true, slurmd.Config{Name: "a", Nodes: 1, CPUs: 2}, slurmd.Config{
			Name: "b", Nodes: 1,
			CPUs: 8,
		}, slurmd.Config{Name: "c", Nodes: 2, CPUs: 2},
	)
	chosen := make(map[int]int)
	for i, width := range []int{1, 3, 2, 4, 1, 2, 5, 3, 1} {
		r := Run{Job: Job{
			ID: fmt.Sprintf("j%d", i), Width: width, Runtime: time.Hour,
			Walltime: time.Duration(60+10*i) * time.Minute, Cluster: Anywhere,
		}}
		starts, err := s.Ask(t.Context(), &r.Job)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.ByClusters(t.Context(), &r); err != nil {
			t.Fatal(err)
		}
		if want := Earliest(starts); r.Cluster != want {
			t.Errorf("job %d of width %d: sbatch --clusters chooses %d, the earliest is %d of %v", i, width, r.Cluster,
				want,
				starts)
		}
		chosen[r.Cluster]++
		awaitConsidered(t, s.Clusters[r.Cluster])
	}
	if len(chosen) != 3 {
		t.Errorf("not all clusters were chosen: %v", chosen)
	}
	huge := Run{Job: Job{ID: "huge", Width: 9, Runtime: time.Second, Walltime: time.Minute, Cluster: Anywhere}}
	if err := s.ByClusters(t.Context(), &huge); err == nil {
		t.Error("a job that fits nowhere is taken")
	}
}
