package backfill

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/roster"
)

// end is the expected end of a running job.
type end struct {
	at  batch.Time
	job int32
}

// reservation is the machine and the start of the first queued job, by the estimates.
type reservation struct {
	machine int32
	at      batch.Time
}

// reserve finds the reservation of a job that cannot start now, and the spare license
// copies then. If the job can never start, because machines are down, other jobs cannot
// delay it.
func (p *Planner) reserve(s *farm.State, j *farm.Job, plan []int32) reservation {
	kept := farm.NoMachine
	if p.rule == Kept && p.promised == j.Order && s.Eligible(j, p.machine) {
		kept = p.machine
	}
	slices.SortFunc(p.ends, func(a, b end) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.job, b.job)) })
	then := slices.Clone(plan)
	p.spare = append(p.spare[:0], p.left...)
	free := func(m int32) bool { return then[m] == roster.Free && (kept == farm.NoMachine || m == kept) }
	r := reservation{farm.NoMachine, batch.Never}
	for k := 0; k < len(p.ends) && r.machine == farm.NoMachine; k++ {
		e := p.ends[k]
		p.spare.Give(s, &s.Jobs[e.job])
		if m := slices.Index(then, e.job); m >= 0 {
			then[m] = roster.Free
		}
		if k+1 < len(p.ends) && p.ends[k+1].at == e.at || !p.spare.Enough(s, j) {
			continue
		}
		if m := best(s, j, free); m != farm.NoMachine {
			r = reservation{m, e.at}
		}
	}
	p.promised = 0
	if r.machine != farm.NoMachine {
		p.spare.Take(s, j)
		p.promised, p.machine = j.Order, r.machine
	}
	return r
}
