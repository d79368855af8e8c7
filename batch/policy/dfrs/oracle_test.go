package dfrs_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/pack"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/share"
)

// oracle implements the paper's section 4 literally and slowly: it recomputes everything each
// time, task by task. It pauses every job that moves, and ignores earlier targets of the same
// instant. Only packing and yields come from the packages below, from scratch.
type oracle struct {
	algorithm dfrs.Algorithm
	period    batch.Duration
	platform  batch.Platform
	jobs      map[batch.Handle]*slow
	came      []batch.Handle
	ended     bool
	packed    batch.Time
}

type slow struct {
	spec      *batch.Job
	submitted batch.Time
	nodes     []int32 // nodes of its tasks; nil: none
	real      []int32 // present nodes
	home      []int32 // permanent nodes
	ran       bool
	yield     batch.Share
	since     batch.Time
	awaited   bool  // not confirmed by Resumed yet
	virtual   int64 // in 2^-20 µs
}

// accrue updates the virtual time.
func (j *slow) accrue(now batch.Time) {
	if !j.awaited {
		j.virtual += int64(now-j.since) * int64(j.yield)
	}
	j.since = now
}

func (o *oracle) Wake() batch.Time {
	if o.algorithm.Period == dfrs.NoPeriod || len(o.jobs) == 0 {
		return batch.Never
	}
	return (o.packed/batch.Time(o.period) + 1) * batch.Time(o.period)
}

func (o *oracle) Estimate(batch.Time, []batch.Ask, []batch.Estimate) batch.Runnable { return nil }
func (o *oracle) Fork() batch.Policy                                                { panic("not asked for") }

func (o *oracle) Apply(now batch.Time, ev *batch.Event) {
	switch ev.Kind {
	case batch.Submit:
		o.jobs[ev.Job] = &slow{spec: ev.Spec, submitted: now, since: now}
		o.came = append(o.came, ev.Job)
	case batch.Resumed:
		o.jobs[ev.Job].accrue(now)
		o.jobs[ev.Job].awaited = false
	case batch.Finish:
		delete(o.jobs, ev.Job)
		o.ended = true
	}
}

// list returns jobs by descending priority: those with a target, or those that wait.
func (o *oracle) list(now batch.Time, which func(batch.Handle, *slow) bool) []batch.Handle {
	var l []batch.Handle
	for h, j := range o.jobs {
		if which(h, j) {
			l = append(l, h)
		}
	}
	slices.SortFunc(l, func(a, b batch.Handle) int {
		x, y := o.jobs[a], o.jobs[b]
		v, w := big.NewInt(x.virtual>>20), big.NewInt(y.virtual>>20)
		if v.Sign() == 0 || w.Sign() == 0 {
			if v.Sign() != w.Sign() {
				return v.Sign() - w.Sign()
			}
			return int(a - b)
		}
		left := new(big.Int).Mul(big.NewInt(int64(now-x.submitted)), w.Mul(w, w))
		right := new(big.Int).Mul(big.NewInt(int64(now-y.submitted)), v.Mul(v, v))
		return cmp.Or(right.Cmp(left), int(a-b))
	})
	return l
}

// free returns the free memory and the load of a node under the targets.
func (o *oracle) free(node int32) (memory, load int64) {
	memory = o.platform.Nodes[node].Memory
	for _, j := range o.jobs {
		for _, n := range j.nodes {
			if n == node {
				load += int64(j.spec.CPU)
			}
			if n == node && j.home == nil {
				memory -= j.spec.Memory
			}
		}
	}
	return memory - o.kept(node), load
}

// kept returns the memory of a node that pinned jobs keep.
func (o *oracle) kept(node int32) (memory int64) {
	for _, j := range o.jobs {
		for _, n := range j.home {
			if n == node {
				memory += j.spec.Memory
			}
		}
	}
	return memory
}

// alone reports whether a job fits beside the pinned jobs.
func (o *oracle) alone(j *slow) bool {
	fit := int64(0)
	for n := range int32(len(o.platform.Nodes)) {
		fit += (o.platform.Nodes[n].Memory - o.kept(n)) / max(1, j.spec.Memory)
	}
	return j.home != nil || j.spec.Memory == 0 || fit >= int64(j.spec.Shape.Width)
}

// greedy maps a job to nodes, if it fits.
func (o *oracle) greedy(j *slow) bool {
	if j.home != nil {
		j.nodes = j.home
		return true
	}
	for range j.spec.Shape.Width {
		best, least := int32(-1), int64(0)
		for n := range int32(len(o.platform.Nodes)) {
			if memory, load := o.free(n); memory >= j.spec.Memory && (best < 0 || load < least) {
				best, least = n, load
			}
		}
		if best < 0 {
			j.nodes = nil
			return false
		}
		j.nodes = append(j.nodes, best)
	}
	slices.Sort(j.nodes)
	return true
}

// fits reports whether greedy would map the job.
func (o *oracle) fits(j *slow) bool {
	ok := o.greedy(j)
	j.nodes = nil
	return ok
}

func (o *oracle) submit(now batch.Time, h batch.Handle) {
	j, how := o.jobs[h], o.algorithm.Submission
	if o.greedy(j) || how == dfrs.Greedy {
		return
	}
	placed := o.list(now, func(_ batch.Handle, j *slow) bool { return j.nodes != nil && j.home == nil })
	was := map[batch.Handle][]int32{}
	for i := len(placed) - 1; i >= 0 && !o.fits(j); i-- {
		was[placed[i]], o.jobs[placed[i]].nodes = o.jobs[placed[i]].nodes, nil
	}
	if !o.fits(j) {
		for h, nodes := range was {
			o.jobs[h].nodes = nodes
		}
		return
	}
	for _, x := range placed {
		if nodes, marked := was[x]; marked {
			if o.jobs[x].nodes = nodes; !o.fits(j) {
				o.jobs[x].nodes = nil
			} else {
				delete(was, x)
			}
		}
	}
	o.greedy(j)
	for _, x := range placed {
		if _, marked := was[x]; marked && how == dfrs.GreedyPM {
			o.greedy(o.jobs[x])
		}
	}
}

func (o *oracle) mcb8(now batch.Time) {
	all := o.list(now, func(_ batch.Handle, j *slow) bool { return j.home != nil })
	all = append(all, o.list(now, func(_ batch.Handle, j *slow) bool {
		return j.home == nil && (j.nodes != nil || o.alone(j))
	})...)
	var in []pack.Job
	for _, h := range all {
		j := o.jobs[h]
		one := pack.Job{
			Order: int64(h), Groups: []pack.Group{{Tasks: j.spec.Shape.Width, CPU: j.spec.CPU, Memory: j.spec.Memory}},
		}
		young := o.algorithm.Limit == dfrs.MinVT && batch.Duration(j.virtual>>20) < o.algorithm.Bound ||
			o.algorithm.Limit == dfrs.MinFT && now.Sub(j.submitted) < o.algorithm.Bound
		if j.nodes != nil && young {
			one.Pinned = tally(j.nodes)
		}
		if j.home != nil {
			one.Pinned, one.Groups[0].Memory = tally(j.home), 0
		}
		in = append(in, one)
	}
	first := &o.platform.Nodes[0]
	m := pack.Machine{
		Nodes: int32(len(o.platform.Nodes)), CPU: int64(first.Processors) * int64(batch.One), Memory: first.Memory,
	}
	for n := range m.Nodes {
		m.Taken = append(m.Taken, o.kept(n))
	}
	var p pack.Packer
	kept, _ := p.Yield(&m, in)
	for i, h := range all {
		j := o.jobs[h]
		j.nodes = nil
		if i < kept {
			for _, at := range p.Placements(i) {
				for range at.Tasks {
					j.nodes = append(j.nodes, at.Node)
				}
			}
		}
	}
}

// tally counts tasks per node.
func tally(nodes []int32) []pack.Placement {
	var places []pack.Placement
	for _, n := range nodes {
		if last := len(places) - 1; last >= 0 && places[last].Node == n {
			places[last].Tasks++
		} else {
			places = append(places, pack.Placement{Node: n, Tasks: 1})
		}
	}
	return places
}

func (o *oracle) Decide(now batch.Time, out *batch.Decisions) {
	for _, j := range o.jobs {
		j.accrue(now)
	}
	came := o.came
	o.came = nil
	anew := false
	if o.ended && o.algorithm.Completion {
		if anew = o.algorithm.Submission == dfrs.MCB8; !anew {
			for _, h := range o.list(now, func(h batch.Handle, j *slow) bool {
				return j.nodes == nil && !slices.Contains(came, h)
			}) {
				o.greedy(o.jobs[h])
			}
		}
	}
	o.ended = false
	for _, h := range came {
		switch o.algorithm.Submission {
		case dfrs.MCB8:
			anew = true
		case dfrs.Greedy, dfrs.GreedyP, dfrs.GreedyPM:
			o.submit(now, h)
		}
	}
	if o.algorithm.Period == dfrs.Per && int64(now)%int64(o.period) == 0 && o.packed != now {
		anew = true
	}
	if anew {
		o.mcb8(now)
	}
	o.packed = now
	handles := slices.Sorted(maps.Keys(o.jobs))
	paused := false
	for _, h := range handles {
		if j := o.jobs[h]; j.real != nil && !slices.Equal(j.real, j.nodes) {
			out.Add(batch.Pause, h)
			j.real, j.yield, j.ran, paused = nil, 0, true, true
		}
	}
	if !paused {
		o.carryOut(handles, out)
	}
}

// carryOut starts and resumes jobs, and sets all shares.
func (o *oracle) carryOut(handles []batch.Handle, out *batch.Decisions) {
	pool := share.New(int32(len(o.platform.Nodes)), int64(o.platform.Nodes[0].Processors)*int64(batch.One))
	for _, h := range handles {
		j := o.jobs[h]
		if j.nodes == nil {
			continue
		}
		pool.Put(int32(h), []pack.Group{{Tasks: j.spec.Shape.Width, CPU: j.spec.CPU}}, tally(j.nodes))
	}
	switch o.algorithm.Opt {
	case dfrs.Avg:
		pool.Average()
	case dfrs.Equal:
		pool.Equal()
	default:
		pool.MaxMin()
	}
	tell := func(which func(j *slow, y batch.Share) batch.DecisionKind) {
		for _, h := range handles {
			j := o.jobs[h]
			y := max(1, pool.Yield(int32(h)))
			if j.nodes == nil {
				continue
			}
			kind := which(j, y)
			if kind == 0 {
				continue
			}
			var where []batch.NodeAllocation
			for _, p := range tally(j.nodes) {
				where = append(where, batch.NodeAllocation{
					Node: p.Node, Processors: p.Tasks, Share: max(1, share.Of(y, j.spec.CPU)),
				})
			}
			out.Add(kind, h, where...)
			j.awaited = j.awaited || kind == batch.Resume
			if j.real, j.yield = j.nodes, y; j.spec.Resident {
				j.home = j.nodes
			}
		}
	}
	tell(func(j *slow, y batch.Share) batch.DecisionKind {
		if j.real != nil && y < j.yield {
			return batch.SetShare
		}
		return 0
	})
	tell(func(j *slow, y batch.Share) batch.DecisionKind {
		switch {
		case j.real != nil && y == j.yield:
			return 0
		case j.real != nil:
			return batch.SetShare
		case j.ran:
			return batch.Resume
		}
		return batch.Start
	})
}

// chart records the jobs and shares after each instant. Of instants within rounding of each
// other the last one counts.
type chart struct {
	now  map[batch.Handle]string
	rows []row
}

// row is the state from one instant on.
type row struct {
	At    batch.Time
	State string
}

// soon is the tolerance for an end: each change of a job's share rounds its progress down once
// more.
const soon = 20

func (c *chart) Started(batch.Time, *batch.Job, []batch.NodeAllocation) {}
func (c *chart) Ended(_ batch.Time, job *batch.Job, _ bool)             { delete(c.now, job.Handle) }

func (c *chart) Decided(_ batch.Time, job *batch.Job, d *batch.Decision) {
	if d.Kind == batch.Pause {
		delete(c.now, job.Handle)
		return
	}
	c.now[job.Handle] = fmt.Sprint(d.Allocation)
}

func drawCharts(p batch.Policy, platform batch.Platform, jobs []arrival, penalty batch.Duration) []row {
	c := &chart{now: map[batch.Handle]string{}}
	e := engine.New(p, c, engine.NewLedger(platform))
	e.Penalty = penalty
	for next := 0; ; {
		now := e.Next()
		if next < len(jobs) {
			now = min(now, jobs[next].at)
		}
		if now == batch.Never {
			return c.rows
		}
		e.Advance(now)
		for ; next < len(jobs) && jobs[next].at == now; next++ {
			e.Submit(&jobs[next].spec, jobs[next].work)
		}
		e.Pass()
		if last := len(c.rows) - 1; last >= 0 && now-c.rows[last].At <= soon {
			c.rows = c.rows[:last]
		}
		c.rows = append(c.rows, row{now, fmt.Sprint(c.now)})
	}
}

func small(t *rapid.T) (batch.Platform, []arrival) {
	nodes := rapid.IntRange(1, 5).Draw(t, "nodes")
	platform := cluster(nodes, 10)
	processors := int32(rapid.IntRange(1, 2).Draw(t, "processors"))
	for i := range platform.Nodes {
		platform.Nodes[i].Processors = processors
	}
	residents := rapid.SampledFrom([]int{0, 1, 3}).Draw(t, "residents")
	jobs := make([]arrival, rapid.IntRange(1, 14).Draw(t, "jobs"))
	at := batch.Time(0)
	for i := range jobs {
		at += batch.Time(rapid.SampledFrom([]int{0, 0, 1, 3, 5, 9}).Draw(t, "later")) * batch.Time(batch.Second)
		memory := rapid.IntRange(0, 10).Draw(t, "memory")
		most := 8
		if memory > 0 {
			most = min(most, nodes*(10/memory))
		}
		jobs[i] = arrival{
			at: at, work: batch.Duration(rapid.IntRange(1, 12).Draw(t, "work")) * batch.Second, spec: batch.Job{
				Handle: batch.Handle(i + 1), Memory: int64(memory),
				CPU: rapid.SampledFrom([]batch.Share{batch.One, batch.One / 2, batch.One / 4, 300_000}).Draw(t,
					"cpu"),
				Shape:    batch.Shape{Width: int32(rapid.IntRange(1, most).Draw(t, "tasks")), Walltime: batch.Minute},
				Resident: rapid.IntRange(0, 3).Draw(t, "resident") < residents,
			},
		}
	}
	return platform, jobs
}

// near compares instants within the tolerance of rounding.
var near = gocmp.Comparer(func(a, b batch.Time) bool { return max(a, b)-min(a, b) <= soon })

func TestDecisionsMatchALiteralImplementationOfThePaper(t *testing.T) {
	var algorithms []dfrs.Algorithm
	for _, a := range append(dfrs.All(), dfrs.EquiPartition) {
		if a.Period == dfrs.StretchPer || a.Limit != dfrs.NoLimit && a.Bound > 300*batch.Second {
			continue
		}
		a.Bound /= 100 // of the same magnitude as the jobs
		algorithms = append(algorithms, a)
	}
	rapid.Check(t, func(t *rapid.T) {
		platform, jobs := small(t)
		a := rapid.SampledFrom(algorithms).Draw(t, "algorithm")
		period := rapid.SampledFrom([]string{"2s", "5s", "7s"}).Draw(t, "period")
		p, err := dfrs.New(platform, batch.Settings{"algorithm": a.String(), "period": period})
		if err != nil {
			t.Fatal(err)
		}
		o := &oracle{algorithm: a, platform: platform, jobs: map[batch.Handle]*slow{}, packed: -1}
		o.period = map[string]batch.Duration{"2s": 2, "5s": 5, "7s": 7}[period] * batch.Second
		// With a penalty longer than the period jobs might never make progress.
		penalty := rapid.SampledFrom([]batch.Duration{0, batch.Second, batch.Second * 3 / 2}).Draw(t, "penalty")
		want := drawCharts(o, platform, slices.Clone(jobs), penalty)
		if diff := gocmp.Diff(want, drawCharts(p, platform, jobs, penalty), near); diff != "" {
			t.Fatalf("%v (-oracle +policy):\n%s", a, diff)
		}
	})
}
