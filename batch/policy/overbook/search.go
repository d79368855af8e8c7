package overbook

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/runtimes"
)

// wish is a job that searches for a slot.
type wish struct {
	spec *batch.Job
	terms
	charge int32
	from   batch.Time // earliest start
	due    batch.Time // latest end
}

// place is a slot: start and length of the booking, and the nominal start, which is
// earlier than start if the job counts on others.
type place struct {
	start, nominal batch.Time
	length         batch.Duration
	over           bool    // overbooked
	p              float64 // probability that it begins at nominal and ends within its slot
}

// finder is the scratch memory of searches.
type finder struct {
	steps []step
	ends  []ending
	known bool // ends are up to date
}

// step is a step of the profile.
type step struct {
	at   batch.Time
	free int32
}

// ending is a job in the plan: one that others can count on to end early, or, without
// spare, one that counts on others.
type ending struct {
	at     batch.Time // its booked end; its booked start, if it counts on others
	charge int32
	spare  batch.Duration
	job    batch.Handle
	start  batch.Time
}

// search is the algorithm of section 3.1.2, step 2. At each anchor point, the beginning of
// a gap, it tries the full fit, the shortened fit, and the fit before the end of
// predecessors. It returns false if the job cannot end in time anywhere.
func (p *Policy) search(now batch.Time, w *wish) (place, bool) {
	latest := p.Profile.Fit(w.from, w.long, w.charge)
	full := latest != batch.Never && latest.Add(w.limit) <= w.due
	if !full && w.long > w.limit { // in time at least for the user's estimate
		w.long, w.short = w.limit, w.limit
		latest = p.Profile.Fit(w.from, w.long, w.charge)
		full = latest != batch.Never && latest.Add(w.limit) <= w.due
	}
	whole := place{start: latest, nominal: latest, length: w.long, p: 1}
	if full && (latest == w.from || p.set.needed) || !w.may || latest == batch.Never {
		return whole, full
	}
	f := &p.find
	f.look(p.Profile.Steps, latest)
	f.known = false
	for i := 0; i < len(f.steps); i++ {
		if f.steps[i].free < w.charge {
			continue
		}
		anchor, first := f.steps[i].at, i
		for i+1 < len(f.steps) && f.steps[i+1].free >= w.charge {
			i++
		}
		end := batch.Never
		if i+1 < len(f.steps) {
			end = f.steps[i+1].at
		}
		if end <= w.from {
			continue
		}
		anchor = max(anchor, w.from)
		if at, ok := p.overbooked(now, w, anchor, end, first, full && anchor == latest); ok {
			return at, true
		}
		if anchor == latest {
			return whole, full
		}
	}
	return whole, full
}

// overbooked tries one gap that does not hold the whole estimate in time, unless full is
// set.
func (p *Policy) overbooked(now batch.Time, w *wish, anchor, end batch.Time, first int, full bool) (place, bool) {
	if full {
		return place{}, false
	}
	if in := anchor.Add(w.short); in <= end && in <= w.due {
		length := min(w.long, end.Sub(anchor))
		return place{anchor, anchor, length, true, 1 - part(p.fails(w.spec, &w.terms, 0, w.short))}, true
	}
	nominal, chance := p.before(now, w, anchor, first)
	if in := nominal.Add(w.short); nominal < anchor && in <= end && in <= w.due {
		length := min(nominal.Add(w.long), end).Sub(anchor)
		if length > 0 {
			return place{anchor, nominal, length, true, chance * (1 - part(p.fails(w.spec, &w.terms, 0, w.short)))},
				true
		}
	}
	return place{}, false
}

// part returns a probability as a fraction.
func part(c runtimes.Chance) float64 { return float64(c) / float64(runtimes.Certain) }

// look reads the steps of the profile up to an instant.
func (f *finder) look(steps func(func(batch.Time, int32) bool), until batch.Time) {
	f.steps = f.steps[:0]
	for t, free := range steps {
		if t > until {
			break
		}
		f.steps = append(f.steps, step{t, free})
	}
}

// before returns by how much a job can begin before a gap, at step first, if the jobs that
// end there do so early, each by at most its spare time, and the probability of that. It
// counts on as few jobs as possible, those with the most spare time first. It returns
// Never if they are not enough.
func (p *Policy) before(now batch.Time, w *wish, anchor batch.Time, first int) (batch.Time, float64) {
	f := &p.find
	if anchor <= w.from || first == 0 {
		return batch.Never, 0
	}
	if !f.known {
		p.endings(now)
	}
	at, _ := slices.BinarySearchFunc(f.ends, anchor, func(e ending, t batch.Time) int { return cmp.Compare(e.at, t) })
	need := w.charge
	for i := at; i < len(f.ends) && f.ends[i].at == anchor; i++ {
		if f.ends[i].spare == 0 {
			need += f.ends[i].charge // it counts on the same time
		}
	}
	last, sum := at, f.steps[first-1].free
	for ; sum < need; last++ {
		if last == len(f.ends) || f.ends[last].at != anchor || f.ends[last].spare == 0 {
			return batch.Never, 0
		}
		sum += f.ends[last].charge
	}
	if last == at {
		return batch.Never, 0
	}
	earliest := max(w.from, anchor-batch.Time(f.ends[last-1].spare))
	gain := sum - f.steps[first-1].free
	for k := first - 1; k >= 0 && f.steps[k+1].at > earliest; k-- {
		if f.steps[k].free+gain < need {
			earliest = f.steps[k+1].at
			break
		}
	}
	chance := 1.0
	for _, e := range f.ends[at:last] {
		j := &p.jobs[e.job]
		chance *= 1 - part(p.fails(j.spec, &j.terms, max(0, now.Sub(e.start)), earliest.Sub(e.start)))
	}
	return earliest, chance
}

// endings collects the ends of jobs, and the jobs that count on others, by time, then by
// spare time, most first.
func (p *Policy) endings(now batch.Time) {
	f := &p.find
	f.ends, f.known = f.ends[:0], true
	for h, end := range p.Ends {
		if p.known(h) && p.jobs[h].running {
			p.note(now, h, p.jobs[h].began, end, p.Job(h).Charge)
		}
	}
	for b := p.Queue.Head(); b != nil; b = p.Queue.Next(b) {
		for i := range b.N {
			h, start := b.Job[i], b.Start[i]
			if start == batch.Never || !p.known(h) {
				continue
			}
			if p.jobs[h].nominal < start {
				f.ends = append(f.ends, ending{at: start, charge: b.Charge[i], job: h})
				continue
			}
			p.note(now, h, start, start.Add(b.Walltime[i]), b.Charge[i])
		}
	}
	slices.SortFunc(f.ends, func(a, b ending) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.spare, a.spare), cmp.Compare(a.job, b.job))
	})
}

func (p *Policy) note(now batch.Time, h batch.Handle, start, end batch.Time, charge int32) {
	if spare := p.spare(h, start, end, now); spare > 0 && end > now {
		p.find.ends = append(p.find.ends, ending{end, charge, spare, h, start})
	}
}
