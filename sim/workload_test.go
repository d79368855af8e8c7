package sim_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/sim"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

func TestFromTraceTakesWidthAndWalltimeByTheRules(t *testing.T) {
	const s = batch.Second
	job := func(submit batch.Time, runtime, walltime batch.Duration, width int32) []sim.Job {
		return []sim.Job{{ID: 7, Submit: submit, Runtime: runtime, Walltime: walltime, Width: width, User: 1, App: -1}}
	}
	for _, c := range []struct {
		name     string
		line     string
		jobs     []sim.Job
		rejected sim.Rejected
	}{
		{"requested width before allocated", line(7, 3, 50, 4, 8, 60), job(3e6, 50*s, 60*s, 8), sim.Rejected{}},
		{"requested width below allocated", line(7, 3, 50, 8, 4, 60), job(3e6, 50*s, 60*s, 4), sim.Rejected{}},
		{"allocated width where none is requested", line(7, 0, 50, 4, -1, 60), job(0, 50*s, 60*s, 4), sim.Rejected{}},
		{"a requested width of 0 is none", line(7, 0, 50, 4, 0, 60), job(0, 50*s, 60*s, 4), sim.Rejected{}},
		{"runtime where no walltime is requested", line(7, 0, 50, 4, 4, -1), job(0, 50*s, 50*s, 4), sim.Rejected{}},
		{"a requested walltime of 0 is none", line(7, 0, 50, 4, 4, 0), job(0, 50*s, 50*s, 4), sim.Rejected{}},
		{"a walltime below the runtime stays", line(7, 0, 50, 4, 4, 20), job(0, 50*s, 20*s, 4), sim.Rejected{}},
		{"runtime 0 stays", line(7, 0, 0, 4, 4, 60), job(0, 0, 60*s, 4), sim.Rejected{}},
		{"walltime is at least a second", line(7, 0, 0, 4, 4, -1), job(0, 0, s, 4), sim.Rejected{}},
		{"unknown runtime", line(7, 0, -1, 4, 4, 60), nil, sim.Rejected{UnknownRuntime: 1}},
		{"no width", line(7, 0, 50, -1, -1, 60), nil, sim.Rejected{NoWidth: 1}},
		{"width 0", line(7, 0, 50, 0, 0, 60), nil, sim.Rejected{NoWidth: 1}},
		{"neither runtime nor width counts once", line(7, 0, -1, -1, -1, 60), nil, sim.Rejected{UnknownRuntime: 1}},
		{"as wide as the machine", line(7, 0, 50, 16, 16, 60), job(0, 50*s, 60*s, 16), sim.Rejected{}},
		{"too wide", line(7, 0, 50, 4, 17, 60), nil, sim.Rejected{TooWide: 1}},
		{"allocated too wide", line(7, 0, 50, 17, -1, 60), nil, sim.Rejected{TooWide: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			trace, err := swf.Read(strings.NewReader(c.line))
			if err != nil {
				t.Fatal(err)
			}
			w := sim.FromTrace(trace, 16)
			if d := cmp.Diff(c.jobs, w.Jobs[:len(w.Jobs):len(w.Jobs)],
				cmp.Transformer("nil", func(j []sim.Job) []sim.Job { return append([]sim.Job(nil), j...) })); d != "" {
				t.Errorf("jobs (-want +got):\n%s", d)
			}
			if w.Rejected != c.rejected {
				t.Errorf("rejected %+v, want %+v", w.Rejected, c.rejected)
			}
		})
	}
}

func TestLeftOutJobsAreCountedAndTheOthersRun(t *testing.T) {
	r := replay(t, sim.Single{Procs: 4, Policy: "fcfs"},
		rigid(1, 0, -1, 4, 10), rigid(2, 0, 10, 5, 10), rigid(3, 0, 10, 4, 10), rigid(4, 0, 10, -1, 10),
		rigid(5, 1, 10, 4, 10), rigid(6, 1, 10, 99, 10), rigid(7, 1, 10, 100, 10))
	wantSchedule(t, r, "3@0-10 5@10-20")
	want := sim.Rejected{UnknownRuntime: 1, NoWidth: 1, TooWide: 3}
	if got := r.Summary.Rejected; got != want || got.Total() != 5 || r.Summary.Sites[0].Rejected != want {
		t.Errorf("rejected %+v, at the site %+v, want %+v", got, r.Summary.Sites[0].Rejected, want)
	}
}

func TestOverrunKillsAtTheWalltimeOrExtends(t *testing.T) {
	for _, policy := range []string{"fcfs", "easy", "cbf"} {
		lines := []string{rigid(1, 0, 100, 4, 60), rigid(2, 0, 50, 4, 50), rigid(3, 5, 7, 4, 20)}
		for overrun, want := range map[sim.Overrun]string{
			sim.Kill:   "1@0-60! 2@60-110 3@110-117",
			sim.Extend: "1@0-100 2@100-150 3@150-157",
		} {
			r := replay(t, sim.Single{Procs: 4, Policy: policy, Overrun: overrun}, lines...)
			wantSchedule(t, r, want)
			killed := 0
			if overrun == sim.Kill {
				killed = 1
			}
			if r.Summary.Killed != killed {
				t.Errorf("%s: %d killed, want %d", policy, r.Summary.Killed, killed)
			}
		}
	}
}

func TestJobWithoutRuntimeEndsAtOnceAndFreesItsProcessors(t *testing.T) {
	for _, policy := range []string{"fcfs", "easy", "cbf"} {
		r := replay(t, sim.Single{Procs: 4, Policy: policy}, rigid(1, 5, 0, 4, 60), rigid(2, 5, 10, 4, 10),
			rigid(3, 5, 0, 1, 1))
		wantSchedule(t, r, "1@5-5 2@5-15 3@15-15")
	}
}

// Job 1 ends early at 50, when job 4 comes. With the end taken first job 3 moves
// to 60, and job 4 does not fit before it. Were job 4 taken first it would be
// reserved at 60, keep job 3 at 100, and then start at 50.
//
//	2 ┤ 1 1 1 1 1 .  3 4 4 4 4
//	1 ┤ 2 2 2 2 2 2  3 . . . .
//	  0              60 70
func TestEndsComeBeforeSubmissionsOfTheSameInstant(t *testing.T) {
	r := replay(t, sim.Single{Procs: 2, Policy: "cbf"},
		rigid(1, 0, 50, 1, 100), rigid(2, 0, 60, 1, 60), rigid(3, 1, 10, 2, 10), rigid(4, 50, 40, 1, 40))
	wantSchedule(t, r, "1@0-50 2@0-60 3@60-70 4@70-110")
}

// Jobs 1 and 2 end at 100; job 2 would have been allowed to run until 200. One
// pass sees the whole machine free for job 3. A pass after the end of job 1
// alone backfills job 4.
func TestPassesPerInstantOrPerEvent(t *testing.T) {
	lines := []string{
		rigid(1, 0, 100, 2, 100), rigid(2, 0, 100, 2, 200), rigid(3, 1, 10, 4, 10), rigid(4, 2, 10, 2, 10),
	}
	wantSchedule(t, replay(t, sim.Single{Procs: 4, Policy: "easy"}, lines...), "1@0-100 2@0-100 3@100-110 4@110-120")
	wantSchedule(t, replay(t, sim.Single{Procs: 4, Policy: "easy", PassEachEvent: true}, lines...),
		"1@0-100 2@0-100 3@110-120 4@100-110")
}

func TestGzippedAndReorderedTracesAreTheSameWorkload(t *testing.T) {
	first, second := rigid(1, 3, 20, 4, 60), rigid(2, 9, 10, 4, 10)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write([]byte("; comment\n" + first + second)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	dir := files(t, map[string]string{"a.swf": first + second, "b.swf": second + first, "c.swf.gz": zipped.String()})
	for _, name := range []string{"a.swf", "b.swf", "c.swf.gz"} {
		s := sim.Single{Trace: filepath.Join(dir, name), Procs: 4, Policy: "cbf"}
		r, err := s.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		wantSchedule(t, r, "1@3-23 2@23-33")
	}
}

func TestRunReportsProgressAndStopsWithItsContext(t *testing.T) {
	var lines strings.Builder
	for i := range 2500 {
		lines.WriteString(rigid(i+1, i, 1, 1, 1))
	}
	var reported []int
	ctx, stop := context.WithCancel(context.Background())
	progress := func(done, total int) {
		reported = append(reported, done)
		if total != 2500 {
			t.Errorf("%d of %d jobs, want of 2500", done, total)
		}
		if done == 1000 {
			stop()
		}
	}
	const scenario = "version: 1\nsites: [{name: a, trace: t.swf, procs: 4, policy: cbf}]\n"
	dir := files(t, map[string]string{"t.swf": lines.String(), "s.yaml": scenario})
	for name, run := range map[string]func() (*sim.Result, error){
		"single": func() (*sim.Result, error) {
			s := sim.Single{Trace: filepath.Join(dir, "t.swf"), Procs: 4, Policy: "cbf", Progress: progress}
			return s.Run(ctx)
		},
		"grid": func() (*sim.Result, error) {
			path := filepath.Join(dir, "s.yaml")
			s, err := sim.ReadScenario(path)
			if err != nil {
				t.Fatal(err)
			}
			return s.Run(ctx, path, progress)
		},
	} {
		reported = nil
		ctx, stop = context.WithCancel(context.Background())
		if r, err := run(); r != nil || err != context.Canceled { //nolint:errorlint // it is returned as it is
			t.Errorf("%s: result %v, error %v, want it cancelled", name, r, err)
		}
		if d := cmp.Diff([]int{0, 1000}, reported); d != "" {
			t.Errorf("%s: progress (-want +got):\n%s", name, d)
		}
	}
	stop()
}
