package batch_test

import (
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
	"github.com/seed-9b8f70bb/drover/batch/policy/dynp"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
	"github.com/seed-9b8f70bb/drover/batch/policy/fcfs"
	"github.com/seed-9b8f70bb/drover/batch/policy/overbook"
)

// policies are the embedded policies that count processors.
var policies = []struct {
	name   string
	make   batch.Factory
	oracle func(procs int, jobs []task) []int
}{
	{"fcfs", fcfs.New, fcfsOracle},
	{"easy", easy.New, easyOracle},
	{"cbf", cbf.New, cbfOracle},
	{"dynp-fcfs", ordered("FCFS"), replanOracle(func(_, _ task) int { return 0 })},
	{"dynp-sjf", ordered("SJF"), replanOracle(func(a, b task) int { return a.Walltime - b.Walltime })},
	{"dynp", dynp.New, nil},               // its own tests have an oracle
	{"overbook", overbook.New, cbfOracle}, // jobs without an owner are not overbooked
}

// ordered returns dynP with a single queue order.
func ordered(policy string) batch.Factory {
	return func(p batch.Platform, _ batch.Settings) (batch.Policy, error) {
		return dynp.New(p, batch.Settings{"policies": policy})
	}
}

// task is a job of a workload; times are in seconds. Its handle is its index plus one.
type task struct{ Submit, Width, Walltime, Runtime int }

// workload draws jobs in order of submission. Times come from a small range, so that many
// events coincide; runtimes can be 0.
func workload(procs int) *rapid.Generator[[]task] {
	return rapid.Custom(func(t *rapid.T) []task {
		at := 0
		jobs := make([]task, rapid.IntRange(1, 30).Draw(t, "jobs"))
		for i := range jobs {
			at += rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 5}).Draw(t, "gap")
			wall := rapid.IntRange(1, 12).Draw(t, "walltime")
			run := wall
			if rapid.Bool().Draw(t, "early") {
				run = rapid.IntRange(0, wall).Draw(t, "runtime")
			}
			jobs[i] = task{at, rapid.IntRange(1, procs).Draw(t, "width"), wall, run}
		}
		return jobs
	})
}

func secs(n int) batch.Time { return batch.Time(n) * batch.Time(batch.Second) }

// starts is an engine.Observer that records the start times and the numbers of starts and
// ends, by index.
type starts struct {
	at             []int
	started, ended []int
}

func newStarts(n int) *starts {
	s := &starts{at: make([]int, n), started: make([]int, n), ended: make([]int, n)}
	for i := range s.at {
		s.at[i] = -1
	}
	return s
}

func (s *starts) Started(now batch.Time, job *batch.Job, _ []batch.NodeAllocation) {
	s.at[job.Handle-1] = int(now / batch.Time(batch.Second))
	s.started[job.Handle-1]++
}

func (s *starts) Ended(_ batch.Time, job *batch.Job, _ bool) { s.ended[job.Handle-1]++ }

// replay runs a workload through a policy, under a ledger, and returns the start of each
// job.
func replay(p batch.Policy, platform batch.Platform, jobs []task) *starts {
	seen := newStarts(len(jobs))
	e := engine.New(p, seen, engine.NewLedger(platform))
	for i := 0; ; {
		next := e.Next()
		if i < len(jobs) {
			next = min(next, secs(jobs[i].Submit))
		}
		if next == batch.Never {
			return seen
		}
		e.Advance(next)
		for ; i < len(jobs) && secs(jobs[i].Submit) == next; i++ {
			j := jobs[i]
			shape := batch.Shape{Width: int32(j.Width), Walltime: batch.Duration(secs(j.Walltime))}
			e.Submit(&batch.Job{Handle: batch.Handle(i + 1), Shape: shape}, batch.Duration(secs(j.Runtime)))
		}
		e.Pass()
	}
}
