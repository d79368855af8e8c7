package engine_test

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
	"github.com/seed-9b8f70bb/drover/batch/policy/fcfs"
)

// golden opens a file of the golden schedules, in DROVER_GOLDEN or in ../shared/golden next to
// the checkout. If there is none, the test is skipped with a message.
func golden(t *testing.T, name string) io.Reader {
	t.Helper()
	dir := os.Getenv("DROVER_GOLDEN")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "golden")
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Skipf("GOLDEN SCHEDULES NOT COMPARED: %v (set DROVER_GOLDEN to their folder)", err)
	}
	t.Cleanup(func() { _ = f.Close() })
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// goldenJob is a line of the workload; its handle is its job number.
type goldenJob struct {
	submit batch.Time
	shape  batch.Shape
	work   batch.Duration
}

// goldenJobs reads the workload: fields 2, 4, 8 and 9 of the Standard Workload
// Format, all of them present.
func goldenJobs(t *testing.T) []goldenJob {
	var jobs []goldenJob
	lines := bufio.NewScanner(golden(t, "syn1000.swf.gz"))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) == 0 || f[0] == ";" || strings.HasPrefix(f[0], ";") {
			continue
		}
		number := func(field int) int64 {
			n, err := strconv.ParseInt(f[field-1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if number(1) != int64(len(jobs)+1) {
			t.Fatalf("job %d stands at %d", number(1), len(jobs)+1)
		}
		wall := batch.Duration(number(9)) * batch.Second
		jobs = append(jobs, goldenJob{
			batch.Time(number(2)) * batch.Time(batch.Second),
			batch.Shape{Width: int32(number(8)), Walltime: wall},
			min(batch.Duration(number(4))*batch.Second, wall),
		})
	}
	return jobs
}

// startsOf is an engine.Observer that keeps the starts, by handle, in seconds.
type startsOf map[batch.Handle]int64

func (s startsOf) Started(now batch.Time, job *batch.Job, _ []batch.NodeAllocation) {
	s[job.Handle] = int64(now) / int64(batch.Second)
}

func (s startsOf) Ended(batch.Time, *batch.Job, bool) {}

func replay(p batch.Policy, l *engine.Ledger, jobs []goldenJob) startsOf {
	got := startsOf{}
	e := engine.New(p, got, l)
	for i := 0; ; {
		next := e.Next()
		if i < len(jobs) {
			next = min(next, jobs[i].submit)
		}
		if next == batch.Never {
			return got
		}
		e.Advance(next)
		for ; i < len(jobs) && jobs[i].submit == next; i++ {
			e.Submit(&batch.Job{Handle: batch.Handle(i + 1), Shape: jobs[i].shape}, jobs[i].work)
		}
		e.Pass()
	}
}

// TestGoldenSchedules compares with the schedules of an established simulator. Three starts of
// EASY depend on whether the events of one second are processed separately or together.
func TestGoldenSchedules(t *testing.T) {
	for _, c := range []struct {
		name  string
		make  batch.Factory
		least int
	}{{"fcfs", fcfs.New, 1000}, {"easy", easy.New, 995}, {"cons", cbf.New, 1000}} {
		t.Run(c.name, func(t *testing.T) {
			jobs := goldenJobs(t)
			rows, err := csv.NewReader(golden(t, "syn1000_"+c.name+".csv.gz")).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			platform := batch.Processors(256)
			p, err := c.make(platform, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := replay(p, engine.NewLedger(platform), jobs)
			agree := 0
			for _, row := range rows[1:] {
				id, _ := strconv.Atoi(row[0])
				want, err := strconv.ParseFloat(row[2], 64)
				if err != nil {
					t.Fatal(err)
				}
				if start, ok := got[batch.Handle(id)]; ok && start == int64(want) {
					agree++
				} else if c.least == len(rows)-1 {
					t.Errorf("job %d starts at %d, want %v", id, start, want)
				}
			}
			t.Logf("%d of %d starts agree", agree, len(rows)-1)
			if len(rows)-1 != 1000 || agree < c.least {
				t.Errorf("%d of %d starts agree, want %d of 1000", agree, len(rows)-1, c.least)
			}
		})
	}
}
