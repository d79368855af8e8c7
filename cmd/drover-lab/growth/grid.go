package growth

import (
	"fmt"
	"math/rand/v2"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

// widest is the width of the widest job.
const widest = 64

// Grid is a number of full sites at one instant.
type Grid struct {
	sites []site
	jobs  []job
	asks  []batch.Ask
	specs []batch.Job
	out   []batch.Estimate
	pass  batch.Decisions
}

type site struct {
	policy batch.Policy
	last   batch.Handle
	of     map[batch.Handle]int // jobs that wait, or have waited
}

type job struct {
	shape  [1]batch.Shape
	site   int
	handle batch.Handle
	gone   bool // it has begun to run
}

// NewGrid makes a grid; the same seed makes the same one.
func NewGrid(sites, jobs int, seed uint64) (*Grid, error) {
	random := rand.New(rand.NewPCG(seed, 0))
	g := &Grid{sites: make([]site, sites), jobs: make([]job, jobs)}
	for s := range g.sites {
		width := widest + random.Int32N(4*widest)
		p, err := cbf.New(batch.Processors(width), nil)
		if err != nil {
			return nil, fmt.Errorf("site %d: %w", s, err)
		}
		g.sites[s] = site{policy: p, of: map[batch.Handle]int{}}
		for free := width; free > 0; {
			n := min(free, 1+random.Int32N(widest/2))
			g.submit(s, batch.Shape{Width: n, Walltime: batch.Duration(600+random.Int64N(36_000)) * batch.Second})
			free -= n
		}
		g.schedule(s)
	}
	for j := range g.jobs {
		s := random.IntN(sites)
		if random.IntN(4) > 0 {
			s -= s % 3
		}
		shape := batch.Shape{
			Width:    1 + random.Int32N(widest),
			Walltime: batch.Duration(60+random.Int64N(36_000)) * batch.Second,
		}
		g.jobs[j].shape[0] = shape
		g.put(j, s)
	}
	return g, nil
}

func (g *Grid) submit(s int, shape batch.Shape) batch.Handle {
	p := &g.sites[s]
	p.last++
	p.policy.Apply(0, &batch.Event{Kind: batch.Submit, Job: p.last, Spec: &batch.Job{Handle: p.last, Shape: shape}})
	return p.last
}

// put queues a job at a site.
func (g *Grid) put(j, s int) {
	w := &g.jobs[j]
	w.site, w.handle = s, g.submit(s, w.shape[0])
	g.sites[s].of[w.handle] = j
	g.schedule(s)
}

// remove takes a job out of its site's plan.
func (g *Grid) remove(j int) {
	w := &g.jobs[j]
	g.sites[w.site].policy.Apply(0, &batch.Event{Kind: batch.Cancel, Job: w.handle})
	delete(g.sites[w.site].of, w.handle)
}

func (g *Grid) schedule(s int) {
	g.pass.List = g.pass.List[:0]
	g.sites[s].policy.Decide(0, &g.pass)
	for _, d := range g.pass.List {
		if j, ok := g.sites[s].of[d.Job]; ok {
			g.jobs[j].gone = true
		}
	}
}

// answer fills in the completions of a question.
func (g *Grid) answer(q *reallocation.Question) {
	n := len(q.Jobs)
	for len(g.asks) < n {
		g.asks = append(g.asks, batch.Ask{})
		g.specs = append(g.specs, batch.Job{})
		g.out = append(g.out, batch.Estimate{})
	}
	for i, j := range q.Jobs {
		g.specs[i] = batch.Job{}
		if q.Standing {
			g.specs[i].Handle = g.jobs[j].handle
		}
		g.asks[i] = batch.Ask{Job: &g.specs[i], Shapes: g.jobs[j].shape[:], From: batch.Time(q.After[i])}
	}
	g.sites[q.Site].policy.Estimate(0, g.asks[:n], g.out[:n])
	for i, j := range q.Jobs {
		q.Completions[i] = g.out[i].End(0, g.jobs[j].shape[0].Walltime).Sub(0)
		if q.Standing && g.jobs[j].gone {
			q.Completions[i] = batch.Forever
		}
	}
}

// carryOut does what a step asks for.
func (g *Grid) carryOut(step *reallocation.Step) {
	switch step.Kind {
	case reallocation.Ask:
		for i := range step.Questions {
			g.answer(&step.Questions[i])
		}
	case reallocation.Hold:
		for _, j := range step.Jobs {
			g.remove(j)
		}
		for s := range g.sites {
			g.schedule(s)
		}
	case reallocation.Move:
		g.remove(step.Job)
		g.schedule(step.From)
		g.put(step.Job, step.To)
	case reallocation.Put, reallocation.Back:
		g.put(step.Job, step.To)
	}
}
