package dfrs

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/pack"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/share"
)

// Policy is DFRS. It implements batch.Policy and forecast.Runnable.
type Policy struct {
	set      settings
	machine  pack.Machine
	up       int32 // nodes
	machines int   // counts changes of the machine: nodes leave and join
	jobs     []job // by handle
	seq      int64
	history  *history
	counts   Counts

	// Capacity under the targets.
	free []int64 // memory of each node; 0 if memory is not counted
	load []int64 // sum of the needs on each node

	placed  []batch.Handle
	fresh   []batch.Handle // waiting jobs without virtual time, by submission
	resting []batch.Handle // waiting jobs with virtual time
	parked  []batch.Handle // by earliest start, then submission
	arrived []batch.Handle // not mapped since their arrival
	pending []batch.Handle // may not be at their targets
	learned []batch.Handle // with measured needs to adopt; may have ended since

	// Capacity really in use.
	held    []int64 // memory of each node
	leaving []int32 // tasks on each node that are to leave it
	leavers int     // jobs with such tasks
	homed   int     // jobs with a home
	left    []int64 // memory of each node beside jobs with homes; nil: there were none
	pool    *share.Pool
	dirty   bool // yields must be recomputed

	freed  bool       // a job left since the last mapping
	due    batch.Time // the next periodic mapping
	ticked batch.Time // the last one

	watch   func(*pack.Machine, []pack.Job) // called with each packing's input; may be nil
	packer  *pack.Packer
	ranks   []ranked
	order   []ranked
	marked  []ranked
	packing []pack.Job
	options []option
	sums    []int32 // tasks on each node; all 0 between calls
	refused []refusal
	begun   []begin
	moving  []batch.Handle
	raised  []batch.Handle
	lowered []batch.Handle
	altered []had // jobs with changed needs since the last allocation
	where   []batch.NodeAllocation
}

// New returns the policy for a platform of equal nodes.
func New(p batch.Platform, s batch.Settings) (batch.Policy, error) {
	set, err := parse(s)
	if err != nil {
		return nil, err
	}
	m, err := machineOf(p)
	if err != nil {
		return nil, err
	}
	return newPolicy(m, set), nil
}

func newPolicy(m pack.Machine, set settings) *Policy {
	p := &Policy{
		set: set, machine: m, up: m.Nodes, machines: 1, jobs: make([]job, 1), history: newHistory(),
		free: make([]int64, m.Nodes), load: make([]int64, m.Nodes), held: make([]int64, m.Nodes),
		leaving: make([]int32, m.Nodes), sums: make([]int32, m.Nodes),
		pool: share.New(m.Nodes, max(1, m.CPU)), due: batch.Never, ticked: -1,
	}
	for n := range p.free {
		p.free[n] = m.Memory
	}
	return p
}

// Fork returns an independent copy.
func (p *Policy) Fork() batch.Policy {
	return &Policy{
		set: p.set, machine: pack.Machine{
			Nodes: p.machine.Nodes, CPU: p.machine.CPU, Memory: p.machine.Memory, Down: slices.Clone(p.machine.Down),
		},
		up: p.up, machines: p.machines, jobs: slices.Clone(p.jobs), seq: p.seq, history: p.history.fork(),
		counts: p.counts,
		free:   slices.Clone(p.free), load: slices.Clone(p.load),
		placed: slices.Clone(p.placed), fresh: slices.Clone(p.fresh), resting: slices.Clone(p.resting),
		parked: slices.Clone(p.parked), arrived: slices.Clone(p.arrived), pending: slices.Clone(p.pending),
		held: slices.Clone(p.held), leaving: slices.Clone(p.leaving), leavers: p.leavers,
		pool: p.pool.Clone(), dirty: p.dirty,
		homed: p.homed, left: slices.Clone(p.left), learned: slices.Clone(p.learned),
		freed: p.freed, due: p.due, ticked: p.ticked, sums: make([]int32, p.machine.Nodes),
	}
}

// Learn adds a job that has run before, elsewhere or in a trace.
func (p *Policy) Learn(owner, application string, estimate, runtime batch.Duration) {
	p.history.learn(owner, application, estimate, runtime)
}

// Decide maps new jobs, remaps others if a job has left or the period is over, and carries
// out what is possible now.
func (p *Policy) Decide(now batch.Time, out *batch.Decisions) {
	p.unpark(now)
	a := &p.set.algorithm
	pack := false
	if p.freed && a.Completion {
		if pack = a.Submission == MCB8; !pack {
			p.fill(now)
		}
	}
	if len(p.arrived) > 0 {
		pack = p.arrive(now) || pack
	}
	if tick := a.Period != NoPeriod && p.tick(now); tick || pack {
		p.remap(now, a.Period == StretchPer)
	}
	p.freed = false
	p.carryOut(now, out)
	p.due = batch.Never
	if a.Period != NoPeriod && p.busy() {
		p.due = p.after(now)
	}
}

// arrive maps new jobs in turn, and reports whether all jobs must be remapped.
func (p *Policy) arrive(now batch.Time) (pack bool) {
	slices.SortFunc(p.arrived, func(a, b batch.Handle) int { return int(p.jobs[a].seq - p.jobs[b].seq) })
	how := p.set.algorithm.Submission
	for _, h := range p.arrived {
		j := &p.jobs[h]
		if !j.arriving {
			continue
		}
		j.arriving = false
		switch how {
		case Nothing:
		case MCB8:
			pack = true
		default:
			if !p.try(h) && how != Greedy {
				p.force(now, h, how == GreedyPM)
			}
		}
	}
	p.arrived = p.arrived[:0]
	return pack
}

// tick reports whether a periodic mapping is due.
func (p *Policy) tick(now batch.Time) bool {
	if p.ticked == now || now < p.due && int64(now)%int64(p.set.period) != 0 {
		return false
	}
	p.ticked = now
	return p.busy()
}

// after returns the first multiple of the period after now.
func (p *Policy) after(now batch.Time) batch.Time {
	period := int64(p.set.period)
	return batch.Time((int64(now)/period + 1) * period)
}

// busy reports whether a periodic mapping can change anything.
func (p *Policy) busy() bool {
	able := func(h batch.Handle) bool { return p.possible(&p.jobs[h]) }
	return len(p.placed) > 0 || slices.ContainsFunc(p.resting, able) || slices.ContainsFunc(p.fresh, able)
}

// Wake returns the end of the period, if there are jobs, or the next earliest start.
func (p *Policy) Wake() batch.Time {
	if len(p.parked) > 0 {
		return min(p.due, p.jobs[p.parked[0]].spec.EarliestStart)
	}
	return p.due
}

// Counts are event counters.
type Counts struct {
	Packings int // by MCB8 or MCB8-stretch
	Paused   int
	Migrated int // moved, or paused and resumed at one instant
}

// Counts returns the counters so far.
func (p *Policy) Counts() Counts { return p.counts }

// MinYield returns the least yield of the running jobs; One if none runs.
func (p *Policy) MinYield() batch.Share {
	least := batch.One
	for _, h := range p.placed {
		if j := &p.jobs[h]; j.running {
			least = min(least, j.yield)
		}
	}
	return least
}
