package overbook

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/runtimes"
)

// terms say how long a job may be booked.
type terms struct {
	estimate batch.Duration // d: what the user asked for
	limit    batch.Duration // what is left of it; less once the job has been paused
	long     batch.Duration // what it is booked for at best: more than limit if users like this one underestimate
	short    batch.Duration // d': what it is booked for at least, if it may be shortened
	may      bool           // it may be shortened
}

// overestimates and mostBeyond bound what is made of statistics: a user is said to
// overestimate if half of the jobs need no more than nine tenths of what was asked
// for, and nobody gets more than twice what was.
const (
	overestimates = runtimes.One / 10 * 9
	mostBeyond    = 2
)

// termsOf returns those of a new job, by what is known of its like.
func (p *Policy) termsOf(spec *batch.Job, walltime batch.Duration) terms {
	t := terms{estimate: walltime, limit: walltime, long: walltime, short: walltime}
	if spec.Done > 0 { // it has made place before, and is not overbooked again
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

// fails returns the chance that a job which has run for so long already, of its
// whole estimate, runs longer than length in all.
func (p *Policy) fails(spec *batch.Job, t *terms, ran, length batch.Duration) runtimes.Chance {
	if length >= t.estimate {
		return 0
	}
	if p.set.uniform {
		if length <= 0 {
			return runtimes.Certain
		}
		return runtimes.Chance(min((t.estimate-length).Times(int64(runtimes.Certain), int64(length)), batch.Duration(runtimes.Certain)))
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

// spare returns how much earlier than its booked end a job may be counted on to have
// ended. A job that runs has proved to be none of those that end at once; that the
// uniform case does not see.
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
