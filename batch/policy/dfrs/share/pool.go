package share

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/pack"
)

// MaxCapacity is the most CPU that a node may have, in units of 2^-20 of a
// processor: 32,768 processors. It keeps every product within 63 bits.
const MaxCapacity = 1 << 35

// WeightOne is the weight of a job that was not weighed, MaxWeight the largest.
const (
	WeightOne = 16
	MaxWeight = 1 << 12
)

// Pool is a set of equal nodes, the jobs that have tasks on them, and their
// yields. The zero value is a pool without nodes.
type Pool struct {
	capacity int64
	nodes    []node
	jobs     []job // by number
	tasks    int   // places in all: what a copy needs

	touched []int32 // nodes at which something has changed since the last allocation
	fresh   []int32 // jobs that were put or weighed since
	last    goal    // of the last allocation
	bound   batch.Share

	pass    int64 // number of this allocation, to tell who was seen in it
	seeds   []int32
	part    component
	changed []int32
	fill    filling
	local   local
	program program
	rise    rising
}

// node is one node as this package sees it.
type node struct {
	on    []tenant
	load  int64 // sum of tasks × need
	pull  int64 // sum of tasks × need × weight
	taken int64
	seen  int64
	row   int32 // within the component at hand
	level int32 // Equal: what each task gets at most

	touched bool
	over    bool // at the last allocation its load was more than it had to give
}

// tenant is a number of equal tasks of one job on a node.
type tenant struct {
	job   int32
	tasks int32
	need  batch.Share
}

// job is one job as this package sees it.
type job struct {
	at     []stay
	yield  batch.Share
	weight int32
	local  int32 // its number within the component at hand
	in     bool
	fixed  bool // its yield has been found in this allocation
	unsaid bool // is new, and no allocation has told its yield, be it 0
	seen   int64

	flow, virtual batch.Duration // of Expect
	least         batch.Share
}

// stay is a number of equal tasks of a job on one node.
type stay struct {
	node int32
	need batch.Share
	cpu  int64 // tasks × need
}

// New returns a pool of equal, empty nodes, each with a capacity in units of
// 2^-20 of a processor. It panics when there is no such pool.
func New(nodes int32, capacity int64) *Pool {
	if nodes < 0 || capacity < 1 || capacity > MaxCapacity {
		panic(fmt.Sprintf("share: %d nodes of %d units of CPU: want 1..%d units", nodes, capacity, int64(MaxCapacity)))
	}
	return &Pool{capacity: capacity, nodes: make([]node, nodes), bound: batch.One}
}

// Put says where the tasks of a job are now, all of them. The job is a small
// dense number, such as a batch.Handle. A job that is new has yield 0 and weight
// WeightOne until it is given others; to the next allocation its yield is another one,
// even if that is 0. One that is moved keeps what it has until then.
func (p *Pool) Put(number int32, groups []pack.Group, places []pack.Place) {
	if number < 0 {
		panic(fmt.Sprintf("share: job %d put", number))
	}
	for int(number) >= len(p.jobs) {
		p.jobs = append(p.jobs, job{})
	}
	j := &p.jobs[number]
	if j.in {
		p.vacate(number)
	} else {
		j.yield, j.weight, j.unsaid = 0, WeightOne, true
		j.flow, j.virtual, j.least = 0, 0, 0
	}
	j.in = true
	for _, place := range places {
		need := groups[place.Group].CPU
		if need < 1 || need > batch.One || place.Tasks < 1 {
			panic(fmt.Sprintf("share: job %d: %d tasks that need %d on node %d", number, place.Tasks, need, place.Node))
		}
		cpu := int64(place.Tasks) * int64(need)
		n := &p.nodes[place.Node]
		n.on = append(n.on, tenant{job: number, tasks: place.Tasks, need: need})
		n.load += cpu
		n.pull += cpu * int64(j.weight)
		j.at = append(j.at, stay{node: place.Node, need: need, cpu: cpu})
		p.touch(place.Node)
	}
	p.tasks += len(places)
	p.fresh = append(p.fresh, number)
}

// Remove takes a job out. What its tasks still hold while they leave is the
// caller's to Take.
func (p *Pool) Remove(number int32) {
	if !p.Has(number) {
		panic(fmt.Sprintf("share: job %d removed, which is not there", number))
	}
	p.vacate(number)
	p.jobs[number].in = false
	p.jobs[number].yield = 0
}

// Has says whether a job is in the pool.
func (p *Pool) Has(number int32) bool {
	return number >= 0 && int(number) < len(p.jobs) && p.jobs[number].in
}

// vacate takes a job's tasks from their nodes.
func (p *Pool) vacate(number int32) {
	j := &p.jobs[number]
	p.tasks -= len(j.at)
	for _, stay := range j.at {
		n := &p.nodes[stay.node]
		n.load -= stay.cpu
		n.pull -= stay.cpu * int64(j.weight)
		for i := range n.on {
			if n.on[i].job == number {
				last := len(n.on) - 1
				n.on[i] = n.on[last]
				n.on = n.on[:last]
				break
			}
		}
		p.touch(stay.node)
	}
	j.at = j.at[:0]
}

func (p *Pool) touch(number int32) {
	if n := &p.nodes[number]; !n.touched {
		n.touched = true
		p.touched = append(p.touched, number)
	}
}

// Take sets CPU of a node aside, in units of 2^-20 of a processor: tasks that are
// leaving hold it still. Where everything is taken the jobs' yields are 0: they
// cannot run there yet.
func (p *Pool) Take(node int32, amount int64) {
	n := &p.nodes[node]
	if amount < 0 || n.taken+amount > p.capacity {
		panic(fmt.Sprintf("share: %d units taken from node %d, %d of %d are", amount, node, n.taken, p.capacity))
	}
	n.taken += amount
	p.touch(node)
}

// Give returns CPU that was taken.
func (p *Pool) Give(node int32, amount int64) {
	n := &p.nodes[node]
	if amount < 0 || amount > n.taken {
		panic(fmt.Sprintf("share: %d units given back to node %d, %d are taken", amount, node, n.taken))
	}
	n.taken -= amount
	p.touch(node)
}

// Weigh sets a job's weight for MaxMin, 1..MaxWeight: with twice the weight it
// has twice the yield of others that wait for the same node, up to One.
func (p *Pool) Weigh(number, weight int32) {
	if weight < 1 || weight > MaxWeight || !p.Has(number) {
		panic(fmt.Sprintf("share: weight %d for job %d: want 1..%d for a job that is there", weight, number, MaxWeight))
	}
	if j := &p.jobs[number]; j.weight != weight {
		for _, stay := range j.at {
			p.nodes[stay.node].pull += stay.cpu * int64(weight-j.weight)
		}
		j.weight = weight
		p.fresh = append(p.fresh, number)
	}
}

// Expect says what the stretch of a job is counted from, for MaxStretch and
// MeanStretch: the time since its submission, its virtual time, and the least
// yield it is to have, where there is room for that.
func (p *Pool) Expect(number int32, flow, virtual batch.Duration, least batch.Share) {
	if flow < 0 || virtual < 0 || least < 0 || least > batch.One || !p.Has(number) {
		panic(fmt.Sprintf("share: job %d is expected after %v, of which %v, with %d at least", number, flow, virtual, least))
	}
	j := &p.jobs[number]
	j.flow, j.virtual, j.least = flow, virtual, least
}

// Yield returns the yield of a job at the last allocation; 0 for one that is not
// there. Each task of the job has Of(yield, its need).
func (p *Pool) Yield(number int32) batch.Share {
	if !p.Has(number) {
		return 0
	}
	return p.jobs[number].yield
}

// Of returns the share of a processor that a task has at a yield, rounded down.
func Of(yield, need batch.Share) batch.Share {
	return batch.Share(int64(yield) * int64(need) >> 20)
}

// Load returns the CPU that the tasks on a node need, in units of 2^-20 of a
// processor.
func (p *Pool) Load(node int32) int64 { return p.nodes[node].load }

// room returns what a node has to give.
func (p *Pool) room(n *node) int64 { return p.capacity - n.taken }

// Clone returns an independent copy.
func (p *Pool) Clone() *Pool {
	c := &Pool{
		capacity: p.capacity, tasks: p.tasks, last: p.last, bound: p.bound, pass: p.pass,
		nodes:   append([]node(nil), p.nodes...),
		jobs:    append([]job(nil), p.jobs...),
		touched: append([]int32(nil), p.touched...),
		fresh:   append([]int32(nil), p.fresh...),
	}
	on := make([]tenant, 0, p.tasks)
	for i := range c.nodes {
		at := len(on)
		on = append(on, c.nodes[i].on...)
		c.nodes[i].on = on[at:len(on):len(on)]
	}
	stays := make([]stay, 0, p.tasks)
	for i := range c.jobs {
		at := len(stays)
		stays = append(stays, c.jobs[i].at...)
		c.jobs[i].at = stays[at:len(stays):len(stays)]
	}
	return c
}
