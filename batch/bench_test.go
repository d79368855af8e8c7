package batch_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
)

// busy is a machine of 640 processors with a constant number of waiting jobs.
type busy struct {
	e      *engine.Engine
	r      *rand.Rand
	specs  []batch.Job // by handle, reused
	unused []batch.Handle
	wait   int
	ends   int
}

func (m *busy) Started(batch.Time, *batch.Job, []batch.NodeAllocation) { m.wait-- }

func (m *busy) Ended(_ batch.Time, job *batch.Job, _ bool) {
	m.unused = append(m.unused, job.Handle)
	m.ends++
}

func newBusy(b *testing.B, factory batch.Factory, waiting int) *busy {
	platform := batch.Processors(640)
	p, err := factory(platform, nil)
	if err != nil {
		b.Fatal(err)
	}
	m := &busy{r: rand.New(rand.NewPCG(1, 2)), specs: make([]batch.Job, waiting+1000)}
	for h := len(m.specs) - 1; h > 0; h-- {
		m.unused = append(m.unused, batch.Handle(h))
	}
	m.e = engine.New(p, m, nil)
	m.fill(waiting)
	for m.ends < 300 { // the machine is full and jobs have ended early
		m.cycle(waiting)
	}
	return m
}

// fill submits jobs of 1 to 64 processors, and a few of up to 512, that end before their
// walltime, and triggers a pass.
func (m *busy) fill(waiting int) {
	for m.wait < waiting {
		h := m.unused[len(m.unused)-1]
		m.unused = m.unused[:len(m.unused)-1]
		width := 1 << m.r.IntN(7)
		if m.r.IntN(50) == 0 {
			width *= 8
		}
		wall := batch.Duration(1+m.r.IntN(600)) * batch.Minute
		m.specs[h] = batch.Job{Handle: h, Shape: batch.Shape{Width: int32(width), Walltime: wall}}
		m.wait++
		m.e.Submit(&m.specs[h], 1+wall*batch.Duration(1+m.r.IntN(100))/100)
	}
	m.e.Pass()
}

// cycle advances to the next end and refills the queue.
func (m *busy) cycle(waiting int) {
	m.e.Advance(m.e.Next())
	m.fill(waiting)
}

// BenchmarkPass measures one end, the submissions that refill the queue, and the
// scheduling pass.
func BenchmarkPass(b *testing.B) {
	for _, p := range []struct {
		name string
		make batch.Factory
	}{{"easy", easy.New}, {"cbf", cbf.New}} {
		for _, waiting := range []int{100, 1000, 10000} {
			b.Run(fmt.Sprintf("%s/%d", p.name, waiting), func(b *testing.B) {
				m := newBusy(b, p.make, waiting)
				b.ReportAllocs()
				for b.Loop() {
					m.cycle(waiting)
				}
			})
		}
	}
}

// BenchmarkEstimate estimates all widths of a moldable job with perfect speedup in a CBF
// plan.
func BenchmarkEstimate(b *testing.B) {
	for _, waiting := range []int{100, 10000} {
		b.Run(fmt.Sprintf("cbf/%d", waiting), func(b *testing.B) {
			m := newBusy(b, cbf.New, waiting)
			shapes := make([]batch.Shape, 640)
			for i := range shapes {
				shapes[i] = batch.Shape{
					Width: int32(i + 1), Walltime: (100 * batch.Hour / batch.Duration(i+1)).CeilSeconds(),
				}
			}
			asks := []batch.Ask{{Job: &batch.Job{}, Shapes: shapes}}
			out := make([]batch.Estimate, 1)
			p, now := m.e.Policy(), m.e.Now()
			p.Estimate(now, asks, out)
			b.ReportAllocs()
			for b.Loop() {
				p.Estimate(now, asks, out)
			}
		})
	}
}
