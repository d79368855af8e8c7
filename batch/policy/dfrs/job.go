package dfrs

import (
	"math"
	"math/bits"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/pack"
)

// place is a number of tasks of one group on one node. Lists of them ascend by node
// and group, and are never changed: they are shared with copies.
type place = pack.Place

// state is where a job stands.
type state uint8

const (
	absent   state = iota
	incoming       // may not start
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
	released batch.Time // from then on it could have run
	state    state
	pos      int32 // in Policy.placed, Policy.resting

	target []place // where it shall be
	at     []place // where it runs
	gone   []place // what it still holds elsewhere, or holds though it has been paused
	home   []place // where it has its memory for good, if it is resident and has begun; else nil

	running  bool
	awaited  bool // has been resumed or migrated, and the driver has not said that it goes on
	arriving bool // has not been mapped since it came
	ran      bool // goes on from where it was
	stranded bool // was on a node that has left: the driver will say what became of it
	pending  bool // in Policy.pending
	barred   int  // MCB8 cannot place it though alone, while Policy.machines is that
	new      bool // begins in this pass
	crumb    bool // the least share of its tasks is set aside where it is

	gauged   bool          // its needs are not those that were asked for
	wanted   []batch.Share // measured CPU needs of its groups that are not taken in; nil: none
	adjusted bool          // they have been since the last allocation

	virtual  batch.Duration // at since
	part     uint64         // of a microsecond more, in 2^-20
	since    batch.Time
	yield    batch.Share    // since then; 0 while it does not run
	before   batch.Duration // virtual time when it last began
	held     batch.Share    // yield with which it left what is gone
	pausedAt batch.Time
	weight   int32 // of its owner
	weighed  int32 // what the pool has been told
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

// settle brings the virtual time up to now, and lets the job go on at a yield.
func (j *job) settle(now batch.Time, yield batch.Share) {
	if j.yield > 0 && !j.awaited && now > j.since {
		j.virtual, j.part = j.progress(now)
	}
	j.since, j.yield = now, yield
}

// goOn lets a job that has been resumed or migrated make progress from now on.
func (j *job) goOn(now batch.Time) {
	j.settle(now, j.yield)
	j.awaited = false
}

// flowAt returns for how long a job could have run.
func (j *job) flowAt(now batch.Time) batch.Duration { return max(0, now.Sub(j.released)) }

// key is the priority of a job: weight × flow / virtual². Each operation is rounded
// correctly by itself, so it is the same on every machine.
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

// compare puts who has the higher priority first, and of equals who came first.
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

// describe takes in the tasks of a job with a width.
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
