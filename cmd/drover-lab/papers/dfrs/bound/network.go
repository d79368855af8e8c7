package bound

// network is one busy period: jobs, cells, and what each job gets in each. A
// job's cells are contiguous, so arcs are stored by job and have no records.
type network struct {
	jobs   []node
	first  int32   // cell of the whole axis
	length []int64 // by cell
	spare  []int64 // by cell: what of its capacity is not given away
	given  []int64 // by arc: job i in cell t is at jobs[i].arcs+t
	// in cell t may run those from members[start[t]] to members[start[t+1]].
	start   []int32
	members []int32

	urges urges
	flow  flow
}

// node is a job of the network.
type node struct {
	job         int32 // of the instance
	first, last int32 // cells, of this network
	arcs        int   // where given has its cell 0, though it may have none there
	rate        int64
	due         wide // the work that has no place yet
}

// set takes the jobs and cells of one busy period; spans are of that one only.
func (n *network) set(in *instance, c *cells, spans []span) {
	n.jobs, n.first = n.jobs[:0], spans[0].first
	end := n.first
	arcs := 0
	for _, s := range spans {
		first, last := s.first-n.first, s.last-n.first
		rate := in.jobs[s.job].rate
		n.jobs = append(n.jobs, node{s.job, first, last, arcs - int(first), rate, product(rate, s.left)})
		arcs += int(last - first)
		end = max(end, s.last)
	}
	n.length = c.length[n.first:end]
	n.spare = n.spare[:0]
	for _, l := range n.length {
		n.spare = append(n.spare, l*in.capacity)
	}
	n.given = zeros(n.given, arcs)
	n.list(arcs)
}

// list sets start and members from the jobs' cells.
func (n *network) list(arcs int) {
	n.start = zeros(n.start, len(n.length)+2)
	for i := range n.jobs {
		n.start[n.jobs[i].first+2]++
		if int(n.jobs[i].last)+2 < len(n.start) {
			n.start[n.jobs[i].last+2]--
		}
	}
	// Twice summed up: how many are in a cell, then in all before it.
	for range 2 {
		for t := 2; t < len(n.start); t++ {
			n.start[t] += n.start[t-1]
		}
	}
	n.members = zeros(n.members, arcs)
	for i := range n.jobs {
		for t := n.jobs[i].first; t < n.jobs[i].last; t++ {
			n.members[n.start[t+1]] = int32(i)
			n.start[t+1]++
		}
	}
	n.start = n.start[:len(n.length)+1]
}

// give lets job i have amount of cell t.
func (n *network) give(i, t int32, amount int64) {
	n.given[n.jobs[i].arcs+int(t)] += amount
	n.spare[t] -= amount
	n.jobs[i].due = n.jobs[i].due.less(amount)
}

// zeros returns s with n elements, all zero.
func zeros[T int32 | int64](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}
