package reallocation

import (
	"cmp"
	"slices"
)

// alike holds the compared jobs in chains of jobs that are alike, the smallest first. The
// answers about a job are lower bounds for all jobs after it, so only the first jobs of
// each chain, the active ones, are asked about.
//
//	active │ last │ followers, not asked about yet
//	1 2  4    5     5 6 6 8 9        sizes; 3 has gone
type alike struct {
	chain  []int32   // by job; -1 for none
	chains [][]int32 // jobs
	oldest [][]int32 // by chain and position: the job submitted first, from there on
	next   []int     // by chain: index of the first follower
	last   []int32
}

// kinds returns groups of two or more jobs that are alike, each ordered by size, then by
// submission. Jobs that can go to different sites, or at different costs, are not alike.
func (r *Round) kinds(jobs []int) [][]int32 {
	c := &r.config
	bySite := r.transfer != nil || c.LeastGain > 0 || c.MostMovesRound > 0
	var list []int32
	for _, j := range jobs {
		if r.jobs[j].Like != 0 && r.mayLeave(j) {
			list = append(list, int32(j))
		}
	}
	kind := func(x, y int32) int {
		d := cmp.Compare(r.jobs[x].Like, r.jobs[y].Like)
		if d == 0 && bySite {
			d = r.jobs[x].Site - r.jobs[y].Site
		}
		return d
	}
	slices.SortFunc(list, func(x, y int32) int {
		return cmp.Or(kind(x, y), cmp.Compare(r.jobs[x].Size, r.jobs[y].Size), int(x-y))
	})
	var kinds [][]int32
	for len(list) > 0 {
		n := 1
		for n < len(list) && kind(list[0], list[n]) == 0 {
			n++
		}
		if n > 1 {
			kinds = append(kinds, list[:n:n])
		}
		list = list[n:]
	}
	return kinds
}

// oldest returns, for each position, the job submitted first from there on.
func oldest(jobs []int32) []int32 {
	first := slices.Clone(jobs)
	for i := len(jobs) - 2; i >= 0; i-- {
		first[i] = min(first[i], first[i+1])
	}
	return first
}

// newAlike builds the chains.
func (r *Round) newAlike(jobs []int) {
	r.alike.chain = make([]int32, len(r.jobs))
	for j := range r.alike.chain {
		r.alike.chain[j] = -1
	}
	for _, kind := range r.kinds(jobs) {
		r.alike.add(kind)
	}
}

func (a *alike) add(jobs []int32) {
	for _, j := range jobs {
		a.chain[j] = int32(len(a.chains))
	}
	a.chains, a.oldest = append(a.chains, jobs), append(a.oldest, oldest(jobs))
	a.next, a.last = append(a.next, 1), append(a.last, jobs[0])
}

// of returns a job's chain, or -1.
func (a *alike) of(j int) int {
	if a.chain == nil {
		return -1
	}
	return int(a.chain[j])
}

// follows reports whether a job is a follower in its chain.
func (r *Round) follows(j int) bool {
	a := &r.alike
	c := a.of(j)
	if c < 0 || int32(j) == a.last[c] {
		return false
	}
	x, y := &r.jobs[j], &r.jobs[a.last[c]]
	return x.Size > y.Size || x.Size == y.Size && int32(j) > a.last[c]
}

// lesser returns an active job that is no larger than a follower; -1 for none.
func (r *Round) lesser(j int) int {
	if r.follows(j) {
		return int(r.alike.last[r.alike.of(j)])
	}
	return -1
}

// activate turns a chain's first follower into its last active job. It returns false if
// there is none.
func (r *Round) activate(c int) bool {
	a := &r.alike
	for _, j := range a.chains[c][a.next[c]:] {
		a.next[c]++
		if !r.done[j] {
			r.row(int(j))
			a.last[c] = j
			return true
		}
	}
	return false
}

// guarded reports whether a chain has followers, and returns the job submitted first among
// them.
func (a *alike) guarded(c int) (int, bool) {
	if a.next[c] >= len(a.chains[c]) {
		return 0, false
	}
	return int(a.oldest[c][a.next[c]]), true
}

// guards returns the chain with this last active job, or -1.
func (r *Round) guards(j int) int {
	if c := r.alike.of(j); c >= 0 && r.alike.last[c] == int32(j) {
		return c
	}
	return -1
}
