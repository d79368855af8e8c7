package fcfs_test

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/fcfs"
)

// A live driver's timer can be late: a job that should have arrived by then arrives now.
func TestALatePassRebuildsThePlan(t *testing.T) {
	p, err := fcfs.New(batch.Processors(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	spec := &batch.Job{Handle: 1, Shape: batch.Shape{Width: 1, Walltime: 10}, EarliestStart: 5}
	p.Apply(0, &batch.Event{Kind: batch.Submit, Job: 1, Spec: spec})
	p.Decide(0, &batch.Decisions{})
	ask := []batch.Ask{{Job: &batch.Job{}, Shapes: []batch.Shape{{Width: 1, Walltime: 1}}}}
	for _, c := range []struct{ now, want batch.Time }{{0, 0}, {4, 4}, {5, 15}, {8, 18}} {
		out := make([]batch.Estimate, 1)
		p.Estimate(c.now, ask, out)
		if got := out[0].Starts[0]; got != c.want {
			t.Errorf("asked at %d: start %d, want %d", c.now, got, c.want)
		}
	}
}

// In a long queue a submission must not visit all waiting jobs again.
func BenchmarkOneMoreJob(b *testing.B) {
	const waiting = 100_000
	for _, kept := range []bool{true, false} {
		name := "plan=kept"
		if !kept {
			name = "plan=anew"
		}
		b.Run(name, func(b *testing.B) {
			p, err := fcfs.New(batch.Processors(640), nil)
			if err != nil {
				b.Fatal(err)
			}
			specs := make([]batch.Job, waiting+1)
			for i := range specs {
				h := batch.Handle(i + 1)
				specs[i] = batch.Job{Handle: h, Shape: batch.Shape{
					Width: 1 << (i % 7), Walltime: batch.Duration(61+i*7919%600) * batch.Minute,
				}}
				if i < waiting {
					p.Apply(0, &batch.Event{Kind: batch.Submit, Job: h, Spec: &specs[i]})
				}
			}
			p.Decide(0, &batch.Decisions{})
			last := &specs[waiting]
			asks := []batch.Ask{{Job: &batch.Job{}, Shapes: []batch.Shape{last.Shape}}}
			out := make([]batch.Estimate, 1)
			p.Estimate(0, asks, out)
			b.ReportAllocs()
			for b.Loop() {
				if kept {
					p.Estimate(0, asks, out)
					continue
				}
				p.Apply(0, &batch.Event{Kind: batch.Submit, Job: last.Handle, Spec: last})
				p.Estimate(0, asks, out)
				p.Apply(0, &batch.Event{Kind: batch.Cancel, Job: last.Handle})
			}
		})
	}
}
