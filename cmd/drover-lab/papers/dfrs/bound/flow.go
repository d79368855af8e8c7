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

// flow finds places for the work that has none, by moving other work: Dinic's
// maximum flow, from jobs with work due to cells with something to spare.
//
//	job with due ──▶ cell ──▶ job that has some of it ──▶ other cell ... ──▶ spare
type flow struct {
	// level is how many steps it is from a job with work due, -1 for never.
	// Jobs have even levels, cells odd ones.
	jobLevel, cellLevel []int32
	// what has been tried in this phase: a job's cells up to nextCell, a cell's
	// members up to nextJob.
	nextCell, nextJob []int32
	queue             []int32 // jobs
	goal              int32   // the level of the nearest cell with something to spare
	phases            int     // how often work was moved, in all
}

// place moves work until all has a place, or none can be moved any more. Then
// the levels tell the cut: what is reached is overfull, whatever is done.
func (n *network) place() bool {
	for {
		due := n.layers()
		if !due {
			return true
		}
		if n.flow.goal < 0 {
			return false
		}
		n.flow.phases++
		for i := range n.jobs {
			for n.flow.jobLevel[i] == 0 && !n.jobs[i].due.zero() {
				moved := n.push(int32(i), n.jobs[i].due.most(1<<62))
				if moved == 0 {
					break
				}
				n.jobs[i].due = n.jobs[i].due.less(moved)
			}
		}
	}
}

// layers sets the levels, up to that of the nearest cell with something to
// spare, and reports whether any work is due at all.
func (n *network) layers() bool {
	f := &n.flow
	f.jobLevel, f.cellLevel = fill(f.jobLevel, len(n.jobs), -1), fill(f.cellLevel, len(n.length), -1)
	f.nextCell, f.nextJob = zeros(f.nextCell, len(n.jobs)), zeros(f.nextJob, len(n.length))
	f.queue, f.goal = f.queue[:0], -1
	for i := range n.jobs {
		f.nextCell[i] = n.jobs[i].first
		if !n.jobs[i].due.zero() {
			f.jobLevel[i] = 0
			f.queue = append(f.queue, int32(i))
		}
	}
	copy(f.nextJob, n.start)
	due := len(f.queue) > 0
	for k := 0; k < len(f.queue); k++ {
		i := f.queue[k]
		j := &n.jobs[i]
		level := f.jobLevel[i] + 1
		if f.goal >= 0 && level > f.goal {
			break
		}
		given := n.given[j.arcs+int(j.first) : j.arcs+int(j.last)]
		for a, g := range given {
			t := j.first + int32(a)
			if f.cellLevel[t] >= 0 || g == j.rate*n.length[t] {
				continue
			}
			f.cellLevel[t] = level
			if n.spare[t] > 0 {
				f.goal = level
			}
			for _, other := range n.members[n.start[t]:n.start[t+1]] {
				if f.jobLevel[other] < 0 && n.given[n.jobs[other].arcs+int(t)] > 0 {
					f.jobLevel[other] = level + 1
					f.queue = append(f.queue, other)
				}
			}
		}
	}
	return due
}

// push moves up to amount of job i's work along the levels and returns the amount
// moved. The caller subtracts it from the work's previous position.
func (n *network) push(i int32, amount int64) int64 {
	f := &n.flow
	j := &n.jobs[i]
	level := f.jobLevel[i] + 1
	total := amount
	for ; f.nextCell[i] < j.last; f.nextCell[i]++ {
		t := f.nextCell[i]
		if f.cellLevel[t] != level {
			continue
		}
		given := &n.given[j.arcs+int(t)]
		room := min(amount, j.rate*n.length[t]-*given)
		if room == 0 {
			continue
		}
		moved := n.accept(t, room)
		*given += moved
		amount -= moved
		if amount == 0 {
			return total
		}
	}
	return total - amount
}

// accept makes room for amount in cell t, as far as it can.
func (n *network) accept(t int32, amount int64) int64 {
	f := &n.flow
	total := amount
	took := min(amount, n.spare[t])
	n.spare[t] -= took
	amount -= took
	if f.cellLevel[t] == f.goal {
		return total - amount
	}
	for ; amount > 0 && f.nextJob[t] < n.start[t+1]; f.nextJob[t]++ {
		other := n.members[f.nextJob[t]]
		if f.jobLevel[other] != f.cellLevel[t]+1 {
			continue
		}
		held := &n.given[n.jobs[other].arcs+int(t)]
		if *held == 0 {
			continue
		}
		moved := n.push(other, min(amount, *held))
		*held -= moved
		amount -= moved
		if amount == 0 {
			break // there may be more to take from this one
		}
	}
	return total - amount
}

// fill returns s with n elements of that value.
func fill(s []int32, n int, value int32) []int32 {
	s = zeros(s, n)
	for i := range s {
		s[i] = value
	}
	return s
}
