package heuristic

import (
	"math/rand/v2"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

// world draws farms within the ranges of the paper's section 6.
type world struct {
	r     *rand.Rand
	s     farm.State
	order int64
}

func newWorld(seed uint64, machines, licenses int) *world {
	w := &world{r: rand.New(rand.NewPCG(seed, 10))}
	w.s.Now = batch.Time(1000 * batch.Second)
	for range machines {
		m := farm.Machine{Score: w.between(200, 600), CPUs: w.between(1, 8)}
		for l := range licenses {
			if w.r.IntN(100) < 90 {
				m.Licenses = m.Licenses.With(int32(l))
			}
		}
		w.s.Machines = append(w.s.Machines, m)
	}
	for range licenses {
		w.s.Licenses = append(w.s.Licenses, farm.License{Copies: max(1, int32(machines)*w.between(55, 65)/100)})
	}
	return w
}

func (w *world) between(a, b int32) int32 { return a + w.r.Int32N(b-a+1) }

// submit adds a job.
func (w *world) submit() {
	w.order++
	j := farm.Job{
		Order: w.order, Submit: w.s.Now, Estimate: batch.Duration(w.between(500, 3000)) * batch.Second,
		Reference: w.between(200, 600), CPUs: w.between(1, 8), Machine: farm.NoMachine, Last: farm.NoMachine,
	}
	if w.r.IntN(10) < 7 {
		rest := j.On(400)
		j.Deadline = w.s.Now.Add(rest + rest*batch.Duration(w.between(25, 150))/100)
	}
	for l := range w.s.Licenses {
		if w.r.IntN(100) < 20 {
			j.Licenses = append(j.Licenses, farm.Need{License: int32(l), Copies: 1})
		}
	}
	j.Input = []farm.Input{{Place: w.r.Int32N(int32(len(w.s.Machines))), Bytes: int64(w.between(100, 800)) << 20}}
	w.s.Jobs = append(w.s.Jobs, j)
}

// advance advances time; running jobs make progress.
func (w *world) advance(d batch.Duration) {
	w.s.Now = w.s.Now.Add(d)
	for i := range w.s.Jobs {
		if j := &w.s.Jobs[i]; j.Machine != farm.NoMachine {
			j.Done += d * batch.Duration(w.s.Machines[j.Machine].Score) / batch.Duration(max(j.Reference, 1))
		}
	}
}

// run starts waiting jobs on free machines, in order.
func (w *world) run() {
	taken := make([]bool, len(w.s.Machines))
	for i := range w.s.Jobs {
		if m := w.s.Jobs[i].Machine; m != farm.NoMachine {
			taken[m] = true
		}
	}
	for i := range w.s.Jobs {
		j := &w.s.Jobs[i]
		for m := range taken {
			if j.Machine == farm.NoMachine && !taken[m] && w.s.Eligible(j, int32(m)) {
				taken[m] = true
				j.Machine, j.Last = int32(m), int32(m)
			}
		}
	}
}

// end removes a job.
func (w *world) end(job int) { w.s.Jobs = slices.Delete(w.s.Jobs, job, job+1) }
