package reallocation_test

import (
	"fmt"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

// grid is a number of sites under conservative backfilling at one instant.
type grid struct {
	sites []*place
	jobs  []*waiting
	log   []string
	// unsure is set for sites that say nothing of promises.
	unsure bool
	// alike is set if the jobs that are alike are known.
	alike bool
}

type place struct {
	policy batch.Policy
	drains bool // it takes no jobs
	width  int32
	next   batch.Handle
	of     map[batch.Handle]*waiting
}

// waiting is a job that waits, or has begun to run in a pass.
type waiting struct {
	menu   []batch.Shape
	like   int
	size   int64
	site   int
	handle batch.Handle
	shape  batch.Shape
	gone   bool
	past   reallocation.Past
}

func newGrid(t testing.TB, widths ...int32) *grid {
	t.Helper()
	g := &grid{}
	for _, w := range widths {
		p, err := cbf.New(batch.Processors(w), nil)
		if err != nil {
			t.Fatal(err)
		}
		g.sites = append(g.sites, &place{policy: p, width: w, next: 1, of: map[batch.Handle]*waiting{}})
	}
	return g
}

func rigid(width int32, seconds int64) []batch.Shape {
	return []batch.Shape{{Width: width, Walltime: batch.Duration(seconds) * batch.Second}}
}

// submit queues a shape at a site; job is nil for one of a local user.
func (g *grid) submit(s int, shape batch.Shape, job *waiting) batch.Handle {
	p := g.sites[s]
	h := p.next
	p.next++
	if p.of[h] = job; job != nil {
		job.site, job.handle, job.shape = s, h, shape
	}
	p.policy.Apply(0, &batch.Event{Kind: batch.Submit, Job: h, Spec: &batch.Job{Handle: h, Shape: shape}})
	g.pass(s)
	return h
}

// wait queues a job of the grid where it is to wait. Rigid jobs of a width are alike.
func (g *grid) wait(s int, menu []batch.Shape) {
	j := &waiting{menu: menu, like: int(menu[0].Width), size: int64(menu[0].Walltime)}
	if len(menu) > 1 {
		j.like = -1 // and moldable ones, as all are made alike
	}
	g.jobs = append(g.jobs, j)
	shape, _ := g.quote(menu, s, 0)
	g.submit(s, shape, j)
}

func (g *grid) pass(s int) {
	var out batch.Decisions
	g.sites[s].policy.Decide(0, &out)
	for _, d := range out.List {
		if j := g.sites[s].of[d.Job]; j != nil {
			j.gone = true
		}
	}
}

func (g *grid) remove(j *waiting) {
	g.sites[j.site].policy.Apply(0, &batch.Event{Kind: batch.Cancel, Job: j.handle})
}

func (g *grid) quote(menu []batch.Shape, s int, after batch.Duration) (batch.Shape, batch.Duration) {
	for len(menu) > 0 && menu[len(menu)-1].Width > g.sites[s].width {
		menu = menu[:len(menu)-1]
	}
	if len(menu) == 0 || g.sites[s].drains {
		return batch.Shape{}, batch.Forever
	}
	out := make([]batch.Estimate, 1)
	g.sites[s].policy.Estimate(0, []batch.Ask{{Job: &batch.Job{}, Shapes: menu, From: batch.Time(after)}}, out)
	best := 0
	for i := range menu {
		if out[0].End(i, menu[i].Walltime) < out[0].End(best, menu[best].Walltime) {
			best = i
		}
	}
	return menu[best], out[0].End(best, menu[best].Walltime).Sub(0)
}

func (g *grid) standing(j *waiting) batch.Duration {
	if j.gone {
		return batch.Forever
	}
	out := make([]batch.Estimate, 1)
	g.sites[j.site].policy.Estimate(0, []batch.Ask{{Job: &batch.Job{Handle: j.handle}, Shapes: []batch.Shape{j.shape}}},
		out)
	return out[0].End(0, j.shape.Walltime).Sub(0)
}

func (g *grid) move(j, to int) {
	from := g.jobs[j].site
	shape, _ := g.quote(g.jobs[j].menu, to, 0)
	g.remove(g.jobs[j])
	g.pass(from)
	g.submit(to, shape, g.jobs[j])
	g.log = append(g.log, fmt.Sprintf("%d>%d", j, to))
}

func (g *grid) hold(jobs []int) {
	for _, j := range jobs {
		g.remove(g.jobs[j])
	}
	for s := range g.sites {
		g.pass(s)
	}
}

func (g *grid) put(j, to int) {
	shape, _ := g.quote(g.jobs[j].menu, to, 0)
	g.submit(to, shape, g.jobs[j])
	g.log = append(g.log, fmt.Sprintf("%d=%d", j, to))
}

func (g *grid) seen() []reallocation.Job {
	var jobs []reallocation.Job
	for _, j := range g.jobs {
		jobs = append(jobs, reallocation.Job{
			Site: j.site, Width: j.shape.Width, Walltime: j.shape.Walltime, Past: j.past,
		})
		last := &jobs[len(jobs)-1]
		if g.unsure {
			last.Walltime = 0
		}
		if g.alike {
			last.Like, last.Size = j.like, j.size
		}
	}
	return jobs
}

// run makes a round.
func (g *grid) run(c reallocation.Config, transfer reallocation.Transfer) reallocation.Record {
	r := reallocation.NewRound(c, len(g.sites), g.seen(), transfer)
	for step := range r.Steps() {
		switch step.Kind {
		case reallocation.Ask:
			for _, q := range step.Questions {
				for i, j := range q.Jobs {
					if q.Standing {
						q.Completions[i] = g.standing(g.jobs[j])
					} else {
						_, q.Completions[i] = g.quote(g.jobs[j].menu, q.Site, q.After[i])
					}
				}
			}
		case reallocation.Hold:
			g.hold(step.Jobs)
		case reallocation.Move:
			g.jobs[step.Job].past = step.Past
			g.move(step.Job, step.To)
		case reallocation.Put:
			g.jobs[step.Job].past = step.Past
			g.put(step.Job, step.To)
		case reallocation.Back:
			g.submit(step.To, g.jobs[step.Job].shape, g.jobs[step.Job])
			g.log = append(g.log, fmt.Sprintf("%d back", step.Job))
		}
	}
	return r.Record()
}
