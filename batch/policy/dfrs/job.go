package dfrs

import (
	"math"
	"math/bits"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/pack"
)

// place is the tasks of one group on one node. Lists of them ascend by node and group, and
// are immutable, because copies share them.
type place = pack.Placement

// state is the state of a job.
type state uint8

const (
	absent   state = iota
	incoming       // must not start
	held           // neither waits nor is placed
	parked         // before its earliest start
	waiting        // in Policy.fresh or Policy.resting
	placed         // has a target
)

// job is a job as the policy sees it.
type job struct {
	spec     *batch.Job
	groups   []pack.Group
	walltime batch.Duration
	seq      int64      // of submission
	released batch.Time // since then it could have run
	state    state
	pos      int32 // in Policy.placed, Policy.resting

	target []place // desired allocation
	at     []place // current allocation
	gone   []place // what it still holds after a move or a pause
	home   []place // nodes of its memory, if it is resident and has started; else nil

	running  bool
	awaited  bool // resumed or migrated; the driver has not reported Resumed
	arriving bool // not mapped since its arrival
	ran      bool // continues from its progress
	stranded bool // its node went down; the driver will report its fate
	pending  bool // in Policy.pending
	barred   int  // value of Policy.machines for which MCB8 cannot place it even alone
	new      bool // starts in this pass
	crumb    bool // the smallest share is reserved for its tasks

	gauged   bool          // needs differ from the declared ones
	wanted   []batch.Share // measured CPU needs of its groups to adopt; nil: none
	adjusted bool          // they were adopted since the last allocation

	virtual  batch.Duration // at since
	part     uint64         // fraction of a microsecond beyond, in units of 2^-20
	since    batch.Time
	yield    batch.Share    // since then; 0 while it does not run
	before   batch.Duration // virtual time at its last start
	held     batch.Share    // yield in the allocation that is gone
	pausedAt batch.Time
	weight   int32 // of its owner
	weighed  int32 // weight in the pool
	least    batch.Share
	flow     batch.Duration // least and flow as of the last packing by stretch
	had      batch.Duration // virtual time then
}

// virtualAt returns the virtual time of a job.
func (j *job) virtualAt(now batch.Time) batch.Duration {
	if j.yield == 0 || j.awaited || now <= j.since {
		return j.virtual
	}
	v, _ := j.progress(now)
	return v
}

func (j *job) progress(now batch.Time) (virtual batch.Duration, part uint64) {
	hi, lo := bits.Mul64(uint64(now.Sub(j.since)), uint64(j.yield))
	lo, carry := bits.Add64(lo, j.part, 0)
	hi += carry
	return j.virtual + batch.Duration(hi<<44|lo>>20), lo & (1<<20 - 1)
}

// settle updates the virtual time to now and sets the yield from then on.
func (j *job) settle(now batch.Time, yield batch.Share) {
	if j.yield > 0 && !j.awaited && now > j.since {
		j.virtual, j.part = j.progress(now)
	}
	j.since, j.yield = now, yield
}

// goOn lets a resumed or migrated job make progress from now on.
func (j *job) goOn(now batch.Time) {
	j.settle(now, j.yield)
	j.awaited = false
}

// flowAt returns the flow time of a job.
func (j *job) flowAt(now batch.Time) batch.Duration { return max(0, now.Sub(j.released)) }

// key is the priority of a job: weight × flow / virtual². Each operation is correctly
// rounded, so the result is the same on every machine.
func (j *job) key(now batch.Time) float64 {
	v := float64(j.virtualAt(now))
	if v == 0 {
		return math.Inf(1)
	}
	return float64(float64(j.flowAt(now))/float64(v*v)) * float64(j.weight)
}

// ranked is a job in the order of priorities.
type ranked struct {
	key float64
	seq int64
	job batch.Handle
}

// compare orders by descending priority, then by submission.
func (a ranked) compare(b ranked) int {
	switch {
	case a.key > b.key:
		return -1
	case a.key < b.key:
		return 1
	case a.seq < b.seq:
		return -1
	case a.seq > b.seq:
		return 1
	}
	return 0
}

// describe sets the task groups of a job from its shape.
func (p *Policy) describe(j *job, width int32) {
	j.barred = 0
	tasks := j.spec.Groups
	if len(tasks) == 0 {
		tasks = []batch.TaskGroup{{Tasks: width, Memory: j.spec.Memory, CPU: j.spec.CPU}}
	}
	j.groups = make([]pack.Group, len(tasks))
	for i, g := range tasks {
		if g.CPU == 0 {
			g.CPU = batch.One
		}
		if p.machine.Memory == 0 {
			g.Memory = 0
		}
		j.groups[i] = pack.Group{Tasks: g.Tasks, CPU: g.CPU, Memory: g.Memory}
	}
}
