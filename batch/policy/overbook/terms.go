package overbook

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/runtimes"
)

// terms bound the booking of a job.
type terms struct {
	estimate batch.Duration // d: the user's estimate
	limit    batch.Duration // the rest of it; less than d once the job was paused
	long     batch.Duration // longest booking: above limit if such users underestimate
	short    batch.Duration // d': shortest booking, if the job can be shortened
	may      bool           // the job can be shortened
}

// overestimates and mostBeyond bound the use of statistics: a user overestimates if half of
// the jobs need at most nine tenths of their estimates; no job is booked for more than
// twice its estimate.
const (
	overestimates = runtimes.One / 10 * 9
	mostBeyond    = 2
)

// termsOf returns the terms of a new job from the statistics of similar jobs.
func (p *Policy) termsOf(spec *batch.Job, walltime batch.Duration) terms {
	t := terms{estimate: walltime, limit: walltime, long: walltime, short: walltime}
	if spec.Done > 0 { // preempted before: it is not overbooked again
		t.estimate += spec.Done
		return t
	}
	t.may = p.set.maxPoF > 0 && (p.set.all || spec.Agreed || spec.Checkpoint) && spec.Into == batch.NoJob
	seen, _ := p.history.Of(spec.Owner, spec.Name, p.set.samples)
	if seen == nil || p.set.maxPoF == 0 || spec.Into != batch.NoJob {
		return t
	}
	var within runtimes.Ratio
	if p.set.uniform {
		within = seen.Median()
	} else {
		within, _ = seen.Within(p.set.maxPoF, -1)
	}
	switch {
	case within > runtimes.One:
		most := walltime.Times(mostBeyond, 1)
		t.long = max(walltime, min(p.set.up(within.Of(walltime)), most))
		t.short = t.long
	case !p.set.uniform:
		t.short = min(walltime, max(p.set.up(within.Of(walltime)), p.set.round))
	case within <= overestimates:
		t.short = min(walltime, p.set.up(p.uniform(walltime)))
	}
	return t
}

// uniform returns d/(1+maxPoF), rounded up.
func (p *Policy) uniform(d batch.Duration) batch.Duration {
	return d.Times(int64(runtimes.Certain), int64(runtimes.Certain)+int64(p.set.maxPoF))
}

// fails returns the probability that a job which has already run for some time of its
// estimate runs longer than length in total.
func (p *Policy) fails(spec *batch.Job, t *terms, ran, length batch.Duration) runtimes.Chance {
	if length >= t.estimate {
		return 0
	}
	if p.set.uniform {
		if length <= 0 {
			return runtimes.Certain
		}
		return runtimes.Chance(min((t.estimate-length).Times(int64(runtimes.Certain), int64(length)),
			batch.Duration(runtimes.Certain)))
	}
	seen, _ := p.history.Of(spec.Owner, spec.Name, p.set.samples)
	if seen == nil {
		return runtimes.Certain
	}
	beyond := runtimes.Ratio(-1)
	if ran > 0 {
		beyond = runtimes.RatioOf(ran, t.estimate)
	}
	return seen.Exceeds(runtimes.RatioOf(length, t.estimate), beyond)
}

// spare returns by how much others can count on a job to end before its booked end. A
// running job has shown that it is not one of those that end at once; the uniform case
// ignores that.
func (p *Policy) spare(h batch.Handle, start, end, now batch.Time) batch.Duration {
	j := &p.jobs[h]
	if j.spec == nil || j.stopping || j.done > 0 || j.spec.Into != batch.NoJob {
		return 0
	}
	if start > now || p.set.uniform {
		return max(0, end.Sub(start)-j.short)
	}
	seen, _ := p.history.Of(j.spec.Owner, j.spec.Name, p.set.samples)
	if seen == nil {
		return 0
	}
	ran := now.Sub(start)
	within, known := seen.Within(p.set.maxPoF, runtimes.RatioOf(ran, j.estimate))
	if !known {
		return 0
	}
	return max(0, end.Sub(start.Add(p.set.up(within.Of(j.estimate)))))
}
