package reallocation

import (
	"cmp"
	"slices"
)

// greatest are jobs that are alike, the greatest first: under all-cancellation those
// that follow are completed no later, so MaxMin asks about the first ones only.
type greatest struct {
	jobs   []int32
	oldest []int32 // by position: who was submitted first, from there on
	next   int     // where those that nobody asks about begin
}

// chain makes the chains, and returns the jobs to be asked about at once.
func (s *scan) chain(jobs []int) []int {
	r := s.round
	if r.standing || r.config.Heuristic != MaxMin {
		return jobs
	}
	follows := make([]bool, len(r.jobs))
	for _, kind := range r.kinds(jobs) {
		slices.SortFunc(kind, func(x, y int32) int {
			return cmp.Or(cmp.Compare(r.jobs[y].Size, r.jobs[x].Size), int(x-y))
		})
		for _, j := range kind[1:] {
			follows[j] = true
		}
		s.chains = append(s.chains, greatest{jobs: kind, oldest: oldest(kind), next: 1})
	}
	return slices.DeleteFunc(slices.Clone(jobs), func(j int) bool { return follows[j] })
}

// activate asks about a job that follows one that has gone, or that is as good as the
// one on top and may be followed by one as good that was submitted before it. It is
// true if there are such jobs.
func (s *scan) activate() (found, ok bool) {
	top := entry{tie: -1}
	if len(s.heap.entries) > 0 {
		top = s.heap.entries[0]
	}
	for i := range s.chains {
		c := &s.chains[i]
		if c.next == len(c.jobs) {
			continue
		}
		if at := s.heap.at[c.jobs[c.next-1]]; at >= 0 && (s.heap.entries[at].key != top.key || c.oldest[c.next] > top.tie) {
			continue
		}
		j := int(c.jobs[c.next])
		c.next++
		s.take(j)
		s.round.queryAll(j)
		found = true
	}
	return found, s.round.ask()
}
