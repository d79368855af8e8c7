package farm

import (
	"time"

	model "github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/heuristic"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/license"
)

// How knapsacks are compared: at every so many instants, with so many nodes of branch
// and bound for each cluster at most.
const (
	pairsEvery = 40
	ExactNodes = 300
)

// Comparison is what the greedy and branch and bound made of the same knapsacks: those
// that come up while an algorithm, the greedy's, schedules a stream.
type Comparison struct {
	Calls  int   `json:"calls"`  // instants with a critical license
	Proven int   `json:"proven"` // of them, those where branch and bound ended by itself
	Greedy Usage `json:"greedy"`
	Exact  Usage `json:"exact"`
	// Value is the mean of the greedy's value over branch and bound's, Worst the least.
	Value float64 `json:"value"`
	Worst float64 `json:"worst"`
	// Bound is the mean of branch and bound's value over its bound: 1 where it was proven.
	Bound float64 `json:"bound"`
}

// Usage is what a choice uses of the copies of critical licenses, 0..1, over all calls.
type Usage struct {
	Smallest float64 `json:"smallest"`
	Mean     float64 `json:"mean"`
	Best     float64 `json:"best"`
}

func (u *Usage) add(part float64, calls int) {
	if calls == 0 || part < u.Smallest {
		u.Smallest = part
	}
	u.Best = max(u.Best, part)
	u.Mean += part
}

// timer adds up time; its clock may be nil.
type timer struct {
	clock func() time.Duration
	spent time.Duration
}

func (t *timer) measure(do func()) {
	if t.clock == nil {
		do()
		return
	}
	from := t.clock()
	do()
	t.spent += t.clock() - from
}

func (t *timer) seconds() float64 { return t.spent.Seconds() }

// pairs puts the same knapsacks to the greedy and to branch and bound. Values are those
// of the paper's heuristics with its constants.
type pairs struct {
	in            *Instance
	state         model.State
	matrix        model.Matrix
	heuristics    *heuristic.Collection
	copies        []int64
	knapsack      license.Knapsack
	greedy, exact timer
	sum           Comparison
}

func newPairs(in *Instance, clock func() time.Duration) *pairs {
	p := &pairs{
		in: in, heuristics: heuristic.Collect(heuristic.Paper().Heuristics()...),
		greedy: timer{clock: clock}, exact: timer{clock: clock},
	}
	for i := range in.Machines {
		m := &in.Machines[i]
		p.state.Machines = append(p.state.Machines, model.Machine{
			Score: m.Score, CPUs: m.CPUs,
			Licenses: model.NewSet(m.Licenses...),
		})
	}
	for l, copies := range in.Copies {
		p.state.Licenses = append(p.state.Licenses, model.License{Name: LicenseName(int32(l)), Copies: copies})
		p.copies = append(p.copies, int64(copies))
	}
	return p
}

// look compares both on the jobs that are in the system.
func (p *pairs) look(m *meter) {
	p.state.Now = m.now
	p.state.Jobs = p.state.Jobs[:0]
	clusters := license.New(p.copies)
	for i := range m.jobs {
		if m.jobs[i].state == absent {
			continue
		}
		p.state.Jobs = append(p.state.Jobs, p.job(m, i))
		clusters.Add(int64(i), needs(p.in.Jobs[i].Licenses))
	}
	p.heuristics.Fill(&p.state, &p.matrix)
	values := map[int64]int64{}
	for k := range p.state.Jobs {
		values[p.state.Jobs[k].Order] = p.matrix.Row(k).Mean()
	}
	var call call
	for _, c := range clusters.List() {
		p.cluster(&c, values, &call)
	}
	if call.copies == 0 {
		return
	}
	s := &p.sum
	s.Greedy.add(float64(call.greedy)/float64(call.copies), s.Calls)
	s.Exact.add(float64(call.exact)/float64(call.copies), s.Calls)
	value := 1.0
	if call.exactValue > 0 {
		value = float64(call.greedyValue) / float64(call.exactValue)
		s.Bound += float64(call.exactValue) / float64(call.bound)
	} else {
		s.Bound++
	}
	if s.Calls == 0 || value < s.Worst {
		s.Worst = value
	}
	s.Value += value
	s.Calls++
	if !call.cut {
		s.Proven++
	}
}

// call is what both have made of the clusters of one instant.
type call struct {
	copies, greedy, exact          int64 // of critical licenses: all, and those in use
	greedyValue, exactValue, bound int64
	cut                            bool // branch and bound ran out of nodes
}

func (p *pairs) cluster(c *license.Cluster, values map[int64]int64, to *call) {
	items := make([]license.Item, len(c.Jobs))
	for i, order := range c.Jobs {
		items[i] = license.Item{Value: values[order], Needs: needs(p.in.Jobs[order].Licenses)}
	}
	critical := make([]bool, len(p.copies))
	for _, l := range c.Licenses {
		critical[l] = true
		to.copies += p.copies[l]
	}
	keep := make([]bool, len(items))
	chosen := func() (value, used int64) {
		for i := range items {
			if !keep[i] {
				continue
			}
			value += items[i].Value
			for _, n := range items[i].Needs {
				if critical[n.License] {
					used += int64(n.Copies)
				}
			}
		}
		return value, used
	}
	p.greedy.measure(func() { p.knapsack.Greedy(items, p.copies, keep) })
	value, used := chosen()
	to.greedyValue, to.greedy = to.greedyValue+value, to.greedy+used
	var best license.Result
	p.exact.measure(func() { best = p.knapsack.BranchAndBound(items, p.copies, ExactNodes, keep) })
	value, used = chosen()
	to.exactValue, to.exact, to.bound = to.exactValue+value, to.exact+used, to.bound+best.Bound
	to.cut = to.cut || !best.Proven
}

// job returns a job as the heuristics see it.
func (p *pairs) job(m *meter, i int) model.Job {
	j, w := &p.in.Jobs[i], &m.jobs[i]
	job := model.Job{
		Order: int64(i), Submit: j.Submit, Deadline: j.Deadline, Estimate: j.Estimate, Reference: j.Reference,
		Done: w.done, CPUs: j.CPUs, Input: []model.Input{{Place: j.Place, Bytes: j.Input}},
		Machine: model.NoMachine, Last: model.NoMachine,
	}
	for _, l := range j.Licenses {
		job.Licenses = append(job.Licenses, model.Need{License: l, Copies: 1})
	}
	if w.state == running {
		job.Machine, job.Last = w.machine, w.machine
		job.Done = min(j.Estimate, w.done+m.progress(i, m.now.Sub(w.since)))
	}
	return job
}

func needs(licenses []int32) []license.Need {
	all := make([]license.Need, len(licenses))
	for i, l := range licenses {
		all[i] = license.Need{License: l, Copies: 1}
	}
	return all
}

// comparison returns the means.
func (p *pairs) comparison() *Comparison {
	c := p.sum
	if n := float64(c.Calls); n > 0 {
		c.Greedy.Mean /= n
		c.Exact.Mean /= n
		c.Value /= n
		c.Bound /= n
	}
	return &c
}
