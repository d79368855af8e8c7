package campaign

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestResultsAreTheSameWithAnyNumberOfWorkers(t *testing.T) {
	c := parsed(t, small)
	want := ""
	for _, workers := range []int{1, 2, 3, 16} {
		o := options(t.TempDir(), &fake{})
		o.Workers = workers
		got := mustRun(t, c, o)
		if want == "" {
			want = got
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%d workers:\n%s", workers, d)
		}
	}
	lines := strings.Split(want, "\n")
	if len(lines) != 22 || lines[0] != strings.Join(Columns, ",") ||
		!strings.HasPrefix(lines[1], "a,false,true,exhaustive,1,none,,,,,,") ||
		!strings.HasPrefix(lines[20], "b,false,true,exhaustive,2,all-cancellation,minmin,20,3600,60,3,") {
		t.Errorf("results:\n%s", want)
	}
}

func TestAReferenceHasNothingToCompareWith(t *testing.T) {
	o := options(t.TempDir(), &fake{})
	mustRun(t, parsed(t, small), o)
	for _, line := range strings.Split(strings.TrimSpace(fileText(t, o.Dir, ResultsName)), "\n")[1:] {
		row := strings.Split(line, ",")
		for i, name := range Columns {
			compares := slices.Contains([]string{
				"impacted", "impacted_share", "reallocations", "reallocations_share", "early", "early_share",
				"relative_response", "response_reference", "bounded_slowdown_reference",
			}, name)
			of := name == "early_share" || name == "relative_response"
			impacted := row[slices.Index(Columns, "impacted")]
			wantEmpty := row[5] == none && (compares || i > 5 && i < keys) || of && impacted == "0"
			if (row[i] == "") != wantEmpty {
				t.Errorf("%s is %q in %s", name, row[i], line)
			}
		}
	}
}

func TestTimingIsInItsOwnFile(t *testing.T) {
	o := options(t.TempDir(), &fake{})
	o.Workers = 1
	mustRun(t, parsed(t, small), o)
	lines := strings.Split(strings.TrimSpace(fileText(t, o.Dir, TimingName)), "\n")
	if len(lines) != 21 || !strings.HasSuffix(lines[0], "patience,wall_seconds,jobs_per_second") ||
		lines[1] != "a,false,true,exhaustive,1,none,,,,,,1.000,10" {
		t.Errorf("timing:\n%s", strings.Join(lines, "\n"))
	}
}

// TestCampaignResumesFromAnyTornJournal cuts the journal everywhere near the ends
// of its lines, and here and there between.
func TestCampaignResumesFromAnyTornJournal(t *testing.T) {
	c := parsed(t, "version: 1\nname: n\nscenarios: [a]\nseeds: 1..2\nheuristics: [mct, minmin]\n")
	o := options(t.TempDir(), &fake{})
	want := mustRun(t, c, o)
	whole := fileText(t, o.Dir, journalName)
	for n := range len(whole) + 1 {
		if near := whole[max(0, n-3):min(len(whole), n+3)]; !strings.Contains(near, "\n") && n%41 != 0 {
			continue
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, journalName), []byte(whole[:n]), 0o600); err != nil {
			t.Fatal(err)
		}
		r := &fake{}
		report, err := Run(t.Context(), c, options(dir, r))
		if err != nil {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
		if got := fileText(t, dir, ResultsName); got != want {
			t.Fatalf("cut after %d bytes:\n%s", n, cmp.Diff(want, got))
		}
		if lines := max(0, strings.Count(whole[:n], "\n")-1); report.Resumed != lines || len(r.ran) < 6-lines ||
			len(r.ran) > 6-lines+2 {
			t.Fatalf("cut after %d bytes: %d experiments were resumed, want %d, and %v ran", n, report.Resumed, lines,
				r.ran)
		}
		if got := fileText(t, dir, journalName); strings.Count(got, "\n") != 7 {
			t.Fatalf("cut after %d bytes: journal\n%s", n, got)
		}
	}
}

func TestFinishedCampaignRunsNothing(t *testing.T) {
	c, o := parsed(t, small), options(t.TempDir(), &fake{})
	want := mustRun(t, c, o)
	if err := os.Remove(filepath.Join(o.Dir, ResultsName)); err != nil {
		t.Fatal(err)
	}
	r := &fake{}
	o.runner = r
	if got := mustRun(t, c, o); got != want || len(r.ran) > 0 || len(r.prepared) > 0 {
		t.Errorf("ran %v, prepared %v\n%s", r.ran, r.prepared, cmp.Diff(want, got))
	}
}

func TestInterruptedCampaignKeepsItsRowsAndSaysHowToResume(t *testing.T) {
	c, dir := parsed(t, small), t.TempDir()
	want := mustRun(t, c, options(t.TempDir(), &fake{}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	o := options(dir, &fake{before: func(ctx context.Context, _ *Experiment) error { return ctx.Err() }})
	o.Progress = func(p Progress) {
		if n = p.Done; n == 7 {
			cancel()
		}
	}
	_, err := Run(ctx, c, o)
	interrupted, ok := errors.AsType[*InterruptedError](err)
	if !ok || !errors.Is(err, context.Canceled) || interrupted.Done < 7 || interrupted.Done > 9 ||
		interrupted.Total != 20 {
		t.Fatalf("error %v", err)
	}
	if !strings.Contains(err.Error(), "of 20 experiments are in "+dir+"; the same command resumes") {
		t.Error(err)
	}
	// What is done is there, in order.
	got := strings.Split(fileText(t, dir, ResultsName), "\n")
	rest := strings.Split(want, "\n")
	for _, line := range got {
		k := slices.Index(rest, line)
		if k < 0 {
			t.Fatalf("row %s is none of the campaign, or out of order", line)
		}
		rest = rest[k:]
	}
	if len(got) != interrupted.Done+2 {
		t.Errorf("%d lines, want %d rows", len(got), interrupted.Done)
	}
	if got := mustRun(t, c, options(dir, &fake{})); got != want {
		t.Error(cmp.Diff(want, got))
	}
}

func TestFailedExperimentIsNamedAndTheOthersAreKept(t *testing.T) {
	c, dir := parsed(t, small), t.TempDir()
	broken := errors.New("broken")
	o := options(dir, &fake{before: func(_ context.Context, e *Experiment) error {
		if e.Key[0] == "b" && e.Key[6] == "minmin" {
			return broken
		}
		return nil
	}})
	o.Workers = 1
	_, err := Run(t.Context(), c, o)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "b, seed 1, regular, minmin") {
		t.Errorf("error %v", err)
	}
	if rows := strings.Count(fileText(t, dir, ResultsName), "\n") - 1; rows != 12 {
		t.Errorf("%d rows are kept, want 12", rows)
	}
}

func TestScenarioIsPreparedOnceAndEachWorkerHoldsOneReference(t *testing.T) {
	c := parsed(t, strings.Replace(small, "1..2", "1..6", 1))
	for _, workers := range []int{1, 2, 5} {
		var mu sync.Mutex
		open, most := map[string]int{}, 0 // groups, with the experiments that are to come
		r := &fake{before: func(_ context.Context, e *Experiment) error {
			mu.Lock()
			defer mu.Unlock()
			group := e.Key[0] + e.Key[4]
			if e.Reference {
				open[group] = 4
				most = max(most, len(open))
			} else if open[group]--; open[group] == 0 {
				delete(open, group)
			}
			return nil
		}}
		o := options(t.TempDir(), r)
		o.Workers = workers
		mustRun(t, c, o)
		if r.prepared["a"] != 1 || r.prepared["b"] != 1 || most > workers {
			t.Errorf("%d workers: prepared %v, %d references at once", workers, r.prepared, most)
		}
		if len(r.ran) != 60 {
			t.Errorf("%d workers: %d experiments ran", workers, len(r.ran))
		}
	}
}

func TestAllWorkersHelpWithTheLastGroup(t *testing.T) {
	c := parsed(t, strings.Replace(strings.Replace(small, "1..2", "[1]", 1), "[a, b]", "[a]", 1))
	var mu sync.Mutex
	together := 0
	both := make(chan struct{})
	r := &fake{before: func(ctx context.Context, e *Experiment) error {
		if e.Reference {
			return nil
		}
		mu.Lock()
		if together++; together == 2 {
			close(both)
		}
		mu.Unlock()
		select {
		case <-both: // two experiments of the group have begun
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := Run(ctx, c, options(t.TempDir(), r)); err != nil {
		t.Error(err)
	}
}

func TestProgressReportsEachExperimentAndEstimatesTheRest(t *testing.T) {
	o := options(t.TempDir(), &fake{})
	o.Workers = 1
	n := 0
	o.Progress = func(p Progress) {
		if p.Done != n || p.Total != 20 || (p.Last == nil) != (n == 0) || p.Known != (n > 0) {
			t.Errorf("progress %+v, want %d done", p, n)
		}
		// Each experiment takes a second of the clock.
		if want := time.Duration(20-n) * time.Second; p.Known && p.Left != want {
			t.Errorf("after %d %v are left, want %v", n, p.Left, want)
		}
		n++
	}
	mustRun(t, parsed(t, small), o)
	if n != 21 {
		t.Errorf("%d calls", n)
	}
}

func TestWorkersAreBounded(t *testing.T) {
	for _, workers := range []int{-1, MaxWorkers + 1} {
		o := options(t.TempDir(), &fake{})
		o.Workers = workers
		if _, err := Run(t.Context(), parsed(t, small), o); err == nil ||
			!strings.Contains(err.Error(), "accepted: 1..1024") {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}
