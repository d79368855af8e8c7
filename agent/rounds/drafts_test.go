package rounds_test

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/agent/rounds"
	"github.com/seed-9b8f70bb/drover/batch"
)

// toy is a grid of sites that run one job at a time, each as it comes in.
type toy struct {
	lengths [][]batch.Duration // by job, then site; 0: it cannot be there
	from    []batch.Duration   // by job: it does not start before
	queues  [][]int            // by site
}

func (g *toy) clone() *toy {
	c := &toy{lengths: g.lengths, from: slices.Clone(g.from)}
	for _, q := range g.queues {
		c.queues = append(c.queues, slices.Clone(q))
	}
	return c
}

// ends returns when a site has run its queue up to a job, or all of it.
func (g *toy) ends(site, upTo int) batch.Duration {
	var sum batch.Duration
	for _, j := range g.queues[site] {
		sum = max(sum, g.from[j]) + g.lengths[j][site]
		if j == upTo {
			break
		}
	}
	return sum
}

func (g *toy) standing(job, site int) batch.Duration {
	if !slices.Contains(g.queues[site], job) {
		return batch.Forever
	}
	return g.ends(site, job)
}

func (g *toy) asked(job, site int, after batch.Duration) batch.Duration {
	if g.lengths[job][site] == 0 {
		return batch.Forever
	}
	return max(g.ends(site, -1), after) + g.lengths[job][site]
}

func (g *toy) take(job, site int) bool {
	i := slices.Index(g.queues[site], job)
	if i < 0 {
		return false
	}
	g.queues[site] = slices.Delete(g.queues[site], i, i+1)
	return true
}

func (g *toy) put(job, site int, after batch.Duration) {
	g.queues[site] = append(g.queues[site], job)
	g.from[job] = after
}

// toyDrafts are drafts of a toy grid. Its sites stop answering at some call.
type toyDrafts struct {
	grid  *toy
	begun []*toy // by site
	calls []int  // by site
	lose  []int  // by site: the call that is not answered, nor any after it; 0: none
	full  []bool // by site: it refuses all that is put
	ended []bool
	wrong []string
}

func newToyDrafts(g *toy) *toyDrafts {
	n := len(g.queues)
	return &toyDrafts{
		grid: g, begun: make([]*toy, n), calls: make([]int, n), lose: make([]int, n),
		full: make([]bool, n), ended: make([]bool, n),
	}
}

func (d *toyDrafts) Call(calls []*rounds.Call) {
	seen := make(map[int]bool)
	for _, c := range calls {
		if seen[c.Site] {
			d.wrong = append(d.wrong, "two calls to one site at once")
		}
		seen[c.Site] = true
		d.call(c)
	}
}

func (d *toyDrafts) call(c *rounds.Call) {
	d.calls[c.Site]++
	if n := d.lose[c.Site]; n > 0 && d.calls[c.Site] >= n {
		if d.calls[c.Site] > n {
			d.wrong = append(d.wrong, "a site is called that is lost")
		}
		c.Failed = true
		return
	}
	if c.Begin == (d.begun[c.Site] != nil) || d.ended[c.Site] {
		d.wrong = append(d.wrong, "a draft is begun twice, not begun, or over")
	}
	if c.Begin {
		d.begun[c.Site] = d.grid.clone()
	}
	g := d.begun[c.Site]
	for _, e := range c.Edits {
		var a rounds.Answer
		switch {
		case !e.Put:
			a.Refused = !g.take(e.Job, c.Site)
		case d.full[c.Site]:
			a.Refused = true
		default:
			a.Completion = g.asked(e.Job, c.Site, e.After)
			g.put(e.Job, c.Site, e.After)
			a.Shape.Width = int32(c.Site) + 1
		}
		c.Edited = append(c.Edited, a)
	}
	for _, q := range c.Questions {
		a := rounds.Answer{Promised: true}
		if q.Standing {
			a.Completion = g.standing(q.Job, c.Site)
		} else {
			a.Completion = g.asked(q.Job, c.Site, q.After)
		}
		a.Refused = a.Completion == batch.Forever
		c.Answers = append(c.Answers, a)
	}
	d.ended[c.Site] = c.End
}
