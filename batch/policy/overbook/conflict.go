package overbook

import (
	"github.com/seed-9b8f70bb/drover/batch"
)

// conflicts handles jobs that still run when their booking ends. If no other job is booked
// on its processors, a job keeps them until one is; otherwise it is preempted. It reports
// whether a job was preempted.
func (p *Policy) conflicts(now batch.Time, out *batch.Decisions) bool {
	any := false
	for i := 0; i < len(p.cut); i++ {
		h := p.cut[i]
		j := &p.jobs[h]
		if j.stopping || p.PlannedEnd(h) > now {
			continue
		}
		limit := j.began.Add(j.limit)
		if limit <= now { // the driver is about to kill it
			p.uncut(h)
			i--
			continue
		}
		if to := min(limit, p.Profile.Until(now, p.Job(h).Charge)); to > now {
			p.counts.Extended++
			p.Book(now, to, h)
			if to == limit {
				p.uncut(h)
				i--
			}
			continue
		}
		p.stop(h, j, out)
		any = true
	}
	return any
}

// stop preempts a job.
func (p *Policy) stop(h batch.Handle, j *job, out *batch.Decisions) {
	p.stopping++
	j.stopping = true
	if j.spec.Checkpoint {
		p.counts.Paused++
		out.Add(batch.Pause, h)
		return
	}
	p.counts.Killed++
	j.killed = true
	out.Add(batch.Kill, h)
}

// stopped places a preempted job in a slot for the rest of its estimate: it is not
// overbooked again.
func (p *Policy) stopped(now batch.Time, ev *batch.Event) {
	j := &p.jobs[ev.Job]
	p.gone(ev.Job, j)
	j.done = 0
	if ev.Checkpoint {
		j.done = ev.Progress
	}
	j.paused = ev.Checkpoint
	j.limit = max(batch.Second, j.estimate-j.done)
	j.long, j.short, j.may, j.over = j.limit, j.limit, false, false
	p.Job(ev.Job).Walltime = j.limit
	p.claim(now)
	p.Policy.Apply(now, &batch.Event{Kind: batch.StartFailed, Job: ev.Job}) // it waits again at its old position
}

// gone records that a job no longer runs.
func (p *Policy) gone(h batch.Handle, j *job) {
	p.uncut(h)
	if j.stopping {
		p.stopping--
	}
	j.running, j.stopping = false, false
}

// finish records the end of a job and learns from it.
func (p *Policy) finish(now batch.Time, ev *batch.Event) {
	if !p.known(ev.Job) {
		p.Policy.Apply(now, ev)
		return
	}
	j := &p.jobs[ev.Job]
	p.gone(ev.Job, j)
	ran := j.done + now.Sub(j.began)
	if ev.Broken {
		p.counts.Paused--
		p.counts.Killed++
		j.killed = true
	}
	p.settle(now, ev.Job, j, ran)
	if j.killed { // its runtime is unknown, but longer than this
		ran = max(ran, j.estimate)
	}
	p.history.Add(j.spec.Owner, j.spec.Name, j.estimate, ran)
	p.jobs[ev.Job] = job{}
	p.Policy.Apply(now, ev)
}
