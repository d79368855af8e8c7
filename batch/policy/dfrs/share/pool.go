package share

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/pack"
)

// MaxCapacity is the largest CPU capacity of a node, in units of 2^-20 of a processor: 32,768
// processors. It keeps every product within 63 bits.
const MaxCapacity = 1 << 35

// WeightOne is the default weight, MaxWeight the largest.
const (
	WeightOne = 16
	MaxWeight = 1 << 12
)

// Pool is a set of equal nodes, the jobs with tasks on them, and their yields. The zero value
// is a pool without nodes.
type Pool struct {
	capacity int64
	nodes    []node
	jobs     []job // by number
	tasks    int   // total number of tenants, for sizing a copy

	touched []int32 // nodes changed since the last allocation
	fresh   []int32 // jobs put or weighed since the last allocation
	last    goal    // of the last allocation
	bound   batch.Share

	pass    int64 // number of this allocation, which marks visited jobs and nodes
	seeds   []int32
	part    component
	changed []int32
	fill    filling
	local   local
	program program
	rise    rising
}

// node is the state of one node.
type node struct {
	on    []tenant
	load  int64 // sum of tasks × need
	pull  int64 // sum of tasks × need × weight
	taken int64
	seen  int64
	row   int32 // within the current component
	level int32 // Equal: the most that each task gets

	touched bool
	over    bool // overloaded at the last allocation
}

// tenant is a number of equal tasks of one job on a node.
type tenant struct {
	job   int32
	tasks int32
	need  batch.Share
}

// job is the state of one job.
type job struct {
	at     []stay
	yield  batch.Share
	weight int32
	local  int32 // its number within the current component
	in     bool
	fixed  bool // its yield in this allocation is final
	unsaid bool // new: the next allocation reports its yield even if it is 0
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

// New returns a pool of equal, empty nodes, each with a capacity in units of 2^-20 of a
// processor. It panics if an argument is out of range.
func New(nodes int32, capacity int64) *Pool {
	if nodes < 0 || capacity < 1 || capacity > MaxCapacity {
		panic(fmt.Sprintf("share: %d nodes of %d units of CPU: want 1..%d units", nodes, capacity, int64(MaxCapacity)))
	}
	return &Pool{capacity: capacity, nodes: make([]node, nodes), bound: batch.One}
}

// Put sets the nodes of all tasks of a job. The job is a small dense number, such as a
// batch.Handle. A new job has yield 0 and weight WeightOne; the next allocation reports its
// yield as changed, even if it stays 0. A job that moves keeps its yield and weight until then.
func (p *Pool) Put(number int32, groups []pack.Group, places []pack.Placement) {
	if number < 0 {
		panic(fmt.Sprintf("share: put: job number %d is negative", number))
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

// Remove removes a job. CPU that its tasks hold while they leave must be set aside by Take.
func (p *Pool) Remove(number int32) {
	if !p.Has(number) {
		panic(fmt.Sprintf("share: remove: job %d does not exist", number))
	}
	p.vacate(number)
	p.jobs[number].in = false
	p.jobs[number].yield = 0
}

// Has reports whether a job is in the pool.
func (p *Pool) Has(number int32) bool {
	return number >= 0 && int(number) < len(p.jobs) && p.jobs[number].in
}

// vacate removes a job's tasks from their nodes.
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

// Take sets CPU of a node aside for tasks that are leaving, in units of 2^-20 of a processor.
// If it sets all CPU aside, the yields of the node's jobs are 0: they cannot run there yet.
func (p *Pool) Take(node int32, amount int64) {
	n := &p.nodes[node]
	if amount < 0 || n.taken+amount > p.capacity {
		panic(fmt.Sprintf("share: take %d units of node %d: %d of %d are taken", amount, node, n.taken, p.capacity))
	}
	n.taken += amount
	p.touch(node)
}

// Give returns CPU that Take set aside.
func (p *Pool) Give(node int32, amount int64) {
	n := &p.nodes[node]
	if amount < 0 || amount > n.taken {
		panic(fmt.Sprintf("share: give %d units back to node %d: only %d are taken", amount, node, n.taken))
	}
	n.taken -= amount
	p.touch(node)
}

// Weigh sets a job's weight for MaxMin, 1..MaxWeight. With twice the weight a job has twice the
// yield of others that compete for the same node, up to One.
func (p *Pool) Weigh(number, weight int32) {
	if weight < 1 || weight > MaxWeight || !p.Has(number) {
		panic(fmt.Sprintf("share: weigh: weight %d for job %d: want 1..%d and an existing job",
			weight, number, MaxWeight))
	}
	if j := &p.jobs[number]; j.weight != weight {
		for _, stay := range j.at {
			p.nodes[stay.node].pull += stay.cpu * int64(weight-j.weight)
		}
		j.weight = weight
		p.fresh = append(p.fresh, number)
	}
}

// Expect sets the base of a job's stretch for MaxStretch and MeanStretch: the time since its
// submission, its virtual time, and the least yield that it gets if there is room.
func (p *Pool) Expect(number int32, flow, virtual batch.Duration, least batch.Share) {
	if flow < 0 || virtual < 0 || least < 0 || least > batch.One || !p.Has(number) {
		panic(fmt.Sprintf("share: expect: job %d, flow %v, virtual %v, least %d: out of range",
			number, flow, virtual, least))
	}
	j := &p.jobs[number]
	j.flow, j.virtual, j.least = flow, virtual, least
}

// Yield returns the yield of a job at the last allocation, or 0 for an unknown job. Each task
// of the job gets Of(yield, its need).
func (p *Pool) Yield(number int32) batch.Share {
	if !p.Has(number) {
		return 0
	}
	return p.jobs[number].yield
}

// Of returns the share of a processor that a task gets at a yield, rounded down.
func Of(yield, need batch.Share) batch.Share {
	return batch.Share(int64(yield) * int64(need) >> 20)
}

// Load returns the CPU that the tasks on a node need, in units of 2^-20 of a
// processor.
func (p *Pool) Load(node int32) int64 { return p.nodes[node].load }

// room returns the CPU of a node that is not set aside.
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
