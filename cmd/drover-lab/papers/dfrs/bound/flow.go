package bound

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
// spare, and tells whether any work is due at all.
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

// push moves up to amount of job i's work along the levels and returns how much
// it could. Whoever calls it takes that from where it was.
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
