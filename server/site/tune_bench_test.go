package site

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy"
)

// crowd is a machine with waiting moldable jobs of the paper's four types.
type crowd struct {
	f     forecast.Forecaster
	p     batch.Policy
	now   batch.Time
	asks  []Request
	site  *Site
	ended []batch.Handle
}

func (c *crowd) Started(batch.Time, *batch.Job, []batch.NodeAllocation) {}
func (c *crowd) Ended(_ batch.Time, job *batch.Job, _ bool)             { c.ended = append(c.ended, job.Handle) }

func (c *crowd) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	return c.f.Estimate(now, c.p, asks, out)
}

// amdahl returns the menu of a job by Amdahl's law, with the given sequential runtime and
// parallel fraction. Each width is faster than all narrower ones.
func amdahl(alone batch.Duration, parallel float64, limit int32) []batch.Shape {
	var menu []batch.Shape
	for w := int32(1); w <= limit; w++ {
		d := batch.Duration(float64(alone) * (1 - parallel + parallel/float64(w))).CeilSeconds()
		if w == 1 || d < menu[len(menu)-1].Walltime {
			menu = append(menu, batch.Shape{Width: w, Walltime: d})
		}
	}
	return menu
}

// draw returns a job of a random type, in the paper's proportions.
func draw(r *rand.Rand) *Request {
	k := r.IntN(100)
	t := []struct {
		below    int
		parallel float64
		limit    int32
	}{{50, 0.8, 32}, {80, 0.9, 96}, {95, 0.99, 256}, {100, 0.999, 650}}
	for i := range t {
		if k < t[i].below {
			alone := batch.Duration(1<<r.IntN(12)) * 100 * batch.Second
			return &Request{Service: "trace", Menu: amdahl(alone, t[i].parallel, t[i].limit)}
		}
	}
	panic("no type")
}

func newCrowd(t testing.TB, name string, tuning Tuning, waiting int) *crowd {
	const processors = 338
	p, err := policy.New(name, batch.Processors(processors), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{Platform: batch.Processors(processors), Speed: 1_200_000, Tuning: tuning})
	if err != nil {
		t.Fatal(err)
	}
	c := &crowd{p: p, site: s}
	e := engine.New(p, c, nil)
	r := rand.New(rand.NewPCG(1, 2))
	for h := 1; h <= waiting+500; h++ {
		q, err := s.Quote(e.Now(), Question{Request: draw(r)}, c)
		if err != nil {
			t.Fatal(err)
		}
		e.Submit(&batch.Job{Handle: batch.Handle(h), Shape: q.Shape},
			1+q.Shape.Walltime*batch.Duration(1+r.IntN(100))/100)
		e.Pass()
		for h-len(c.ended) > waiting { // running jobs count as waiting: they are few
			e.Advance(e.Next())
			e.Pass()
		}
	}
	c.now = e.Now()
	for range 64 {
		c.asks = append(c.asks, *draw(r))
	}
	return c
}

// BenchmarkTune asks a site for quotes of moldable jobs of the paper's types.
func BenchmarkTune(b *testing.B) {
	for _, policy := range []string{"cbf", "easy", "fcfs"} {
		for _, waiting := range []int{10, 100, 1000} {
			for _, tuning := range []Tuning{Binary, Exhaustive} {
				b.Run(fmt.Sprintf("%s/%d/%v", policy, waiting, tuning), func(b *testing.B) {
					c := newCrowd(b, policy, tuning, waiting)
					b.ReportAllocs()
					for i := 0; b.Loop(); i++ {
						if _, err := c.site.Quote(c.now, Question{Request: &c.asks[i%len(c.asks)]}, c); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
