package faults

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Result is the result of one seed.
type Result struct {
	Seed   uint64
	Counts Counts
	Wrong  string // the violation; empty if there is none
	Trace  string // of a failure, or of a run with a trace
}

// Run runs a seed. A failed seed runs a second time to get its trace.
func Run(seed uint64, plant Plant) Result {
	r, _ := try(seed, plant, nil)
	if r.Wrong != "" {
		return Trace(seed, plant)
	}
	return r
}

// Trace runs a seed and keeps its trace.
func Trace(seed uint64, plant Plant) Result {
	t := &trace{}
	r, w := try(seed, plant, t)
	r.Trace = t.text(w.culprit(r.Wrong))
	return r
}

// try runs a seed up to its first violation.
func try(seed uint64, plant Plant, t *trace) (r Result, w *world) {
	w = newWorld(seed, plant, t)
	r.Seed = seed
	defer func() {
		r.Counts = w.counts
		switch p := recover().(type) {
		case nil:
		case violation:
			r.Wrong = string(p)
		case string: // a panic of the engine or its ledger
			r.Wrong = p
		default:
			panic(p)
		}
		if t != nil && r.Wrong != "" {
			t.add(w.now, nil, nil, "WRONG: "+r.Wrong)
		}
	}()
	w.run()
	return r, w
}

// culprit returns the job of a violation; nil if it is about none.
func (w *world) culprit(wrong string) *jobTruth {
	for _, f := range w.truths {
		if strings.HasPrefix(wrong, fmt.Sprintf("job j%d:", f.n)) {
			return f
		}
	}
	return nil
}

// chunk is the number of seeds that a worker takes at once.
const chunk = 32

// Sweep runs n seeds from one on, on all cores. It passes the results to each in the order of
// the seeds, until each returns false or ctx ends.
func Sweep(ctx context.Context, from uint64, n int, plant Plant, each func(*Result) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type work struct {
		from uint64
		out  chan []Result
	}
	workers := runtime.GOMAXPROCS(0)
	todo := make(chan work)
	order := make(chan work, 2*workers)
	for range workers {
		go func() {
			for w := range todo {
				results := make([]Result, 0, chunk)
				for seed := w.from; seed < min(w.from+chunk, from+uint64(n)) && ctx.Err() == nil; seed++ {
					results = append(results, Run(seed, plant))
				}
				w.out <- results
			}
		}()
	}
	go func() {
		defer close(order)
		defer close(todo)
		for seed := from; seed < from+uint64(n); seed += chunk {
			w := work{seed, make(chan []Result, 1)}
			select {
			case order <- w:
			case <-ctx.Done():
				return
			}
			select {
			case todo <- w:
			case <-ctx.Done():
				w.out <- nil
				return
			}
		}
	}()
	stopped := false
	for w := range order { // receives all results, so that no worker is left behind
		results := <-w.out
		for i := range results {
			if stopped {
				break
			}
			if !each(&results[i]) {
				stopped = true
				cancel()
			}
		}
	}
	if stopped {
		return nil
	}
	return ctx.Err()
}

// trace is the list of events, for people.
type trace struct{ lines []line }

type line struct {
	at   batch.Time
	site int32 // -1 for none
	job  int32 // number; -1: no job
	what string

	again int // repetitions until then
	until batch.Time
}

func (t *trace) add(at batch.Time, s *server, f *jobTruth, what string) {
	l := line{at: at, site: -1, job: -1, what: what}
	if s != nil {
		l.site = int32(s.node)
	}
	if f != nil {
		l.job = int32(f.n)
	}
	t.lines = append(t.lines, l)
}

// longest is the maximum number of lines shown of a trace: the last ones.
const longest = 300

// near is how many lines back fold looks for an equal line.
const near = 4

// text returns the trace; with a job, only the lines of the job and those of no job. A repeated
// line is shown once.
func (t *trace) text(f *jobTruth) string {
	var kept []line
	for _, l := range t.lines {
		if f == nil || l.job < 0 || int(l.job) == f.n {
			kept = fold(kept, l)
		}
	}
	var b strings.Builder
	if n := len(kept) - longest; n > 0 {
		fmt.Fprintf(&b, "(%d lines before)\n", n)
		kept = kept[n:]
	}
	for i := range kept {
		kept[i].print(&b)
	}
	return b.String()
}

// fold adds a line, or counts it if a line near the end says the same of the same job.
func fold(kept []line, l line) []line {
	for i := len(kept) - 1; i >= max(0, len(kept)-near) && l.job >= 0; i-- {
		if k := &kept[i]; k.site == l.site && k.job == l.job && k.what == l.what {
			k.again, k.until = k.again+1, l.at
			return kept
		}
	}
	return append(kept, l)
}

func (l *line) print(b *strings.Builder) {
	site, job := "", ""
	if l.site >= 0 {
		site = fmt.Sprintf("s%d", l.site)
	}
	if l.job >= 0 {
		job = fmt.Sprintf("j%d", l.job)
	}
	fmt.Fprintf(b, "%12.6f  %-3s %-3s %s", batch.Duration(l.at).Seconds(), site, job, l.what)
	if l.again > 0 {
		fmt.Fprintf(b, " (again, %d times until %.6f)", l.again, batch.Duration(l.until).Seconds())
	}
	b.WriteByte('\n')
}
