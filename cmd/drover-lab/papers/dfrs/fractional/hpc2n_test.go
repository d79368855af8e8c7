package fractional

import (
	"compress/gzip"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// hpc2nLog returns the log, read once. Without it a test is skipped, and says so.
func hpc2nLog(t testing.TB) *swf.Trace {
	t.Helper()
	log, err := readHPC2N()
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("NOT COMPARED WITH THE PAPER'S LOG: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return log
}

var readHPC2N = sync.OnceValues(func() (*swf.Trace, error) {
	path, err := swf.FindTrace(HPC2NFile)
	if err != nil {
		return nil, err
	}
	return swf.ReadFile(path)
})

func TestAJobOfTheLogBecomesTasks(t *testing.T) {
	const node = 2 << 20 // KB
	for name, c := range map[string]struct {
		job  swf.Job
		want Job
	}{
		"even, little memory": {
			swf.Job{ReqProcs: 6, ReqMem: node / 4, UsedMem: -1},
			Job{Tasks: 3, Need: batch.One, Memory: 1 << 30},
		},
		"even, nothing known": {
			swf.Job{ReqProcs: 2, ReqMem: -1, UsedMem: -1},
			Job{Tasks: 1, Need: batch.One, Memory: 2 * (2 << 30 / 10)},
		},
		"even, used is larger": {
			swf.Job{ReqProcs: 2, ReqMem: node / 8, UsedMem: node / 4},
			Job{Tasks: 1, Need: batch.One, Memory: 1 << 30},
		},
		"even, exactly half": {
			swf.Job{ReqProcs: 4, ReqMem: node / 2},
			Job{Tasks: 4, Need: batch.One / 2, Memory: 1 << 30},
		},
		"even, more than half": {
			swf.Job{ReqProcs: 2, ReqMem: node}, Job{Tasks: 2, Need: batch.One / 2, Memory: 2 << 30},
		},
		"odd, below a tenth": {
			swf.Job{ReqProcs: 3, UsedMem: 1},
			Job{Tasks: 3, Need: batch.One / 2, Memory: 2 << 30 / 10},
		},
		"what it got is not read": {
			swf.Job{ReqProcs: 1, UsedProcs: 2},
			Job{Tasks: 1, Need: batch.One / 2, Memory: 2 << 30 / 10},
		},
	} {
		c.job.Submit, c.job.Run = 7, 5
		c.want.Submit, c.want.Runtime = batch.Time(4*batch.Second), 5*batch.Second
		if diff := cmp.Diff(c.want, hpc2nJob(&c.job, 3)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestALogIsCutIntoWeeksFromItsInstant0(t *testing.T) {
	job := func(submit int64) swf.Job { return swf.Job{Submit: submit, Run: 1, ReqProcs: 1} }
	log := &swf.Trace{Jobs: []swf.Job{
		job(3), job(week - 1), job(week), job(3*week + 2),
		{Submit: 9 * week, Run: -1, ReqProcs: 1},
	}}
	got := map[int][]int64{}
	for _, in := range Weeks(log) {
		if err := in.Validate(); err != nil {
			t.Error(err)
		}
		for i := range in.Jobs {
			got[in.Trace] = append(got[in.Trace], int64(in.Jobs[i].Submit)/int64(batch.Second))
		}
	}
	if diff := cmp.Diff(map[int][]int64{0: {3, week - 1}, 1: {0}, 3: {2}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The paper has 182 weeks, and of EASY 0.064 as the mean over them and 8% over the log
// in one piece, of an older cleaning of the log.
func TestTheLogHasThePapersWeeksAndEASYsUnderutilization(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the whole log twice")
	}
	log := hpc2nLog(t)
	weeks := Weeks(log)
	jobs, sum := 0, 0.
	for _, in := range weeks {
		if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		jobs += len(in.Jobs)
		row, err := Run(t.Context(), in, EASY, 0, 300*batch.Second, Options{})
		if err != nil {
			t.Fatal(err)
		}
		sum += row.Underutilization()
	}
	row, err := Run(t.Context(), InOnePiece(log), EASY, 0, 0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	mean, whole := sum/float64(len(weeks)), row.Underutilization()
	t.Logf("%d weeks, %d jobs; underutilization of EASY: mean over weeks %.6f, in one piece %.6f", len(weeks), jobs,
		mean,
		whole)
	if len(weeks) != 182 || jobs != 202_871 || math.Abs(mean-0.0650) > 0.00005 || math.Abs(whole-0.0786) > 0.00005 {
		t.Error("want 182 weeks, 202871 jobs, 0.0650 and 0.0786")
	}
}

// Its second job has more memory than a node.
func TestALogWithAJobThatCanNeverRunIsRefused(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(swf.TracesEnv, dir)
	file, err := os.Create(filepath.Join(dir, HPC2NFile))
	if err != nil {
		t.Fatal(err)
	}
	packed := gzip.NewWriter(file)
	const log = "1 0 -1 9 1 -1 -1 1 9 -1 1 1 1 1 1 -1 -1 -1\n2 0 -1 9 1 -1 9000000 1 9 -1 1 1 1 1 1 -1 -1 -1\n"
	if _, err := packed.Write([]byte(log)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(packed.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = (&Plan{Sets: []string{HPC2N}}).Load(t.Context())
	if job, ok := errors.AsType[*JobError](err); !ok || job.Number != 2 || job.Field != "memory" {
		t.Errorf("%v", err)
	}
}
