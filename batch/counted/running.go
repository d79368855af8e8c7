package counted

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Begin notes that a waiting job, already out of the queue, runs from now on.
func (b *Base) Begin(now batch.Time, h batch.Handle) {
	j := &b.jobs[h]
	j.State, j.Start, j.End = Running, now, now.Add(j.Walltime)
	j.at = int32(len(b.running))
	b.running = append(b.running, h)
	b.Free -= j.Charge
}

// Adopt takes a job that runs already, and books it. It needs no more than that it
// runs: even where nodes are down it takes what it takes.
func (b *Base) Adopt(now batch.Time, ev *batch.Event) {
	h := ev.Spec.Handle
	b.admit(ev.Spec)
	b.Begin(ev.Since, h)
	j := b.Job(h)
	if j.End <= now {
		b.overrun(now, j)
		return
	}
	b.Profile.Reserve(now, j.End, j.Charge)
}

// Finish notes that a running job has ended, forgets it and returns what it was.
func (b *Base) Finish(h batch.Handle) Job {
	j := b.stop(h)
	b.jobs[h] = Job{}
	return j
}

// Fail notes that a job could not be launched; it waits again in its old place.
func (b *Base) Fail(h batch.Handle) Job {
	j := b.stop(h)
	b.jobs[h].State = Waiting
	b.enqueue(h)
	return j
}

func (b *Base) stop(h batch.Handle) Job {
	j := b.jobs[h]
	if j.State != Running {
		panic(fmt.Sprintf("counted: job %d does not run", h))
	}
	last := b.running[len(b.running)-1]
	b.running[j.at] = last
	b.jobs[last].at = j.at
	b.running = b.running[:len(b.running)-1]
	b.Free += j.Charge
	return j
}

// Settle books the running jobs that should have ended by now for longer, and
// says whether there were any. due is what the profile has, beyond the running
// jobs, at now: the charges of the waiting jobs that a plan starts now.
func (b *Base) Settle(now batch.Time, due int32) bool {
	if b.Profile.Free(now)+due == b.Free {
		return false
	}
	overdue := false
	for _, h := range b.running {
		j := &b.jobs[h]
		if j.End > now {
			continue
		}
		overdue = true
		b.overrun(now, j)
	}
	return overdue
}

// overrun books a running job that should have ended for as long again as it has
// overrun, at least a second.
func (b *Base) overrun(now batch.Time, j *Job) {
	over := now.Sub(j.Start.Add(j.Walltime))
	j.End = now.Add(max(over, batch.Second))
	b.Profile.Reserve(now, j.End, j.Charge)
}

// Ends calls yield with each running job and its planned end, in no order that
// means anything. It has the form of an iter.Seq2.
func (b *Base) Ends(yield func(batch.Handle, batch.Time) bool) {
	for _, h := range b.running {
		if !yield(h, b.jobs[h].End) {
			return
		}
	}
}

// PlannedEnd returns when a running job's walltime ends.
func (b *Base) PlannedEnd(h batch.Handle) batch.Time { return b.jobs[h].End }
