package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
	"github.com/seed-9b8f70bb/drover/batch/policy/fcfs"
)

// rounds submits jobs in groups of 100, waits for their ends, and reports jobs per second.
func rounds(b *testing.B, s *System, run batch.Program) {
	b.Helper()
	const jobs = 100
	var at batch.Cursor
	var n int
	for b.Loop() {
		for range jobs {
			n++
			do(b, s, submission(strconv.Itoa(n), 1, run))
		}
		for ended := 0; ended < jobs; {
			got, err := s.Watch(context.Background(), at)
			if err != nil {
				b.Fatal(err)
			}
			for _, f := range got.Jobs {
				if f.Phase == batch.PhaseEnded {
					ended++
				}
			}
			at = got.Next
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "jobs/s")
}

// BenchmarkHundredProcesses runs real short programs.
func BenchmarkHundredProcesses(b *testing.B) {
	rounds(b, open(b, Config{}), batch.Program{Args: []string{"/bin/true"}})
}

// BenchmarkHundredWithoutProcess measures only the loop.
func BenchmarkHundredWithoutProcess(b *testing.B) {
	rounds(b, open(b, Config{Launcher: instant{}}), batch.Program{Args: []string{"x"}})
}

var longPolicies = []struct {
	name string
	make batch.Factory
}{{"fcfs", fcfs.New}, {"easy", easy.New}, {"cbf", cbf.New}}

// long is a system of 640 processors, one of them free. One job holds the others for an
// hour, and the first waiting job needs all. Very many jobs wait behind it; those of one
// processor fit now, but their walltimes would delay the first job.
type long struct {
	*System
	keys []batch.Key
	r    *rand.Rand
}

func newLong(b *testing.B, factory batch.Factory, waiting int) *long {
	b.Helper()
	l := &long{r: rand.New(rand.NewPCG(1, 2)), keys: make([]batch.Key, waiting)}
	for i := range l.keys {
		l.keys[i] = key(fmt.Sprintf("%036d", i)) // as long as a UUID
	}
	platform := batch.Processors(640)
	policy, err := factory(platform, nil)
	if err != nil {
		b.Fatal(err)
	}
	l.System = open(b, Config{Policy: policy, Platform: platform, Launcher: newFakes(), Programs: shaped{}, Grace: 1})
	return l
}

// fill submits all jobs, a few in each call.
func (l *long) fill(b *testing.B) {
	for _, width := range []int32{639, 640} {
		shape := batch.Shape{Width: width, Walltime: batch.Hour}
		do(b, l.System, batch.Command{Kind: batch.CmdSubmit, Key: key(shape.String()), Job: &batch.Job{Shape: shape}})
	}
	cmds := make([]batch.Command, 0, 100)
	for i, k := range l.keys {
		if cmds = append(cmds, l.submission(k)); len(cmds) == cap(cmds) || i == len(l.keys)-1 {
			do(b, l.System, cmds...)
			cmds = cmds[:0]
		}
	}
}

// submission returns a job of 1 to 64 processors, rarely of up to 512.
func (l *long) submission(k batch.Key) batch.Command {
	width := int32(1) << l.r.IntN(7)
	if l.r.IntN(50) == 0 {
		width *= 8
	}
	wall := batch.Duration(61+l.r.IntN(600)) * batch.Minute
	return batch.Command{
		Kind: batch.CmdSubmit, Key: k, Job: &batch.Job{Shape: batch.Shape{Width: width, Walltime: wall}},
	}
}

func heapBytes() uint64 {
	runtime.GC()
	runtime.GC() // frees what the first collection left
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkWaiting reports the memory of a waiting job: executor, policy and batch.Job,
// without the text of its ID, which the server holds anyway.
func BenchmarkWaiting(b *testing.B) {
	const jobs = 100_000
	for _, p := range longPolicies {
		b.Run(p.name, func(b *testing.B) {
			l := newLong(b, p.make, jobs)
			before := heapBytes()
			l.fill(b)
			for b.Loop() { // only the memory is measured
			}
			b.ReportMetric(float64(heapBytes()-before)/jobs, "B/job")
			runtime.KeepAlive(l)
		})
	}
}

// BenchmarkSubmit adds a job behind very many waiting jobs, submitted or reserved and
// confirmed, and removes it again.
func BenchmarkSubmit(b *testing.B) {
	for _, p := range longPolicies {
		for _, waiting := range []int{100, 10_000, 100_000} {
			l := newLong(b, p.make, waiting)
			l.fill(b)
			n := 0
			next := func(kind batch.CommandKind) (batch.Command, batch.Key) {
				n++
				cmd := l.submission(key(strconv.Itoa(n)))
				cmd.Kind = kind
				return cmd, cmd.Key
			}
			b.Run(fmt.Sprintf("submit/%s/%d", p.name, waiting), func(b *testing.B) {
				for b.Loop() {
					cmd, _ := next(batch.CmdSubmit)
					do(b, l.System, cmd)
				}
			})
			b.Run(fmt.Sprintf("reserve+confirm/%s/%d", p.name, waiting), func(b *testing.B) {
				for b.Loop() {
					cmd, k := next(batch.CmdReserve)
					do(b, l.System, cmd)
					do(b, l.System, batch.Command{Kind: batch.CmdConfirm, Key: k})
				}
			})
			b.Run(fmt.Sprintf("cancel/%s/%d", p.name, waiting), func(b *testing.B) {
				for b.Loop() {
					cmd, k := next(batch.CmdSubmit)
					do(b, l.System, cmd)
					do(b, l.System, batch.Command{Kind: batch.CmdCancel, Key: k})
				}
			})
			if err := l.Close(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkDraft measures the time for which a copy blocks the loop, and the first estimate
// on the copy, which blocks only its caller.
func BenchmarkDraft(b *testing.B) {
	for _, p := range longPolicies {
		for _, waiting := range []int{1000, 10_000, 100_000} {
			l := newLong(b, p.make, waiting)
			l.fill(b)
			b.Run(fmt.Sprintf("copy/%s/%d", p.name, waiting), func(b *testing.B) {
				for b.Loop() {
					if err := l.ask(context.Background(), func(batch.Time) {
						l.policy.Fork()
						l.drafted()
					}); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("draft+question/%s/%d", p.name, waiting), func(b *testing.B) {
				for b.Loop() {
					d, err := l.Draft(context.Background())
					if err != nil {
						b.Fatal(err)
					}
					d.Standing(l.keys[waiting-1:], make([]batch.Standing, 1))
				}
			})
			if err := l.Close(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	}
}
