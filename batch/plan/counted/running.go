package counted

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Begin records that a waiting job, already out of the queue, runs from start on.
func (b *Base) Begin(start batch.Time, h batch.Handle) {
	b.run(start, h)
	b.Free -= b.jobs[h].Charge
}

func (b *Base) run(start batch.Time, h batch.Handle) {
	j := &b.jobs[h]
	j.State = Running
	j.at = int32(len(b.running))
	b.running = append(b.running, running{h, start, start.Add(j.Walltime)})
}

// Adopt adds a job that runs already, and books it, even if nodes are down.
func (b *Base) Adopt(now batch.Time, ev *batch.Event) {
	h := ev.Spec.Handle
	b.admit(ev.Spec)
	b.Begin(ev.Since, h)
	r := &b.running[b.jobs[h].at]
	if r.end <= now {
		b.overrun(now, r)
		return
	}
	b.Profile.Reserve(now, r.end, b.jobs[h].Charge)
}

// Finish removes a running job that has ended. It returns the job's charge and the end of
// its booking.
func (b *Base) Finish(h batch.Handle) (charge int32, end batch.Time) {
	charge, end = b.stop(h)
	b.jobs[h] = Job{}
	return charge, end
}

// Fail records that a job could not be launched; it waits again at its old position. It
// returns the same as Finish.
func (b *Base) Fail(h batch.Handle) (charge int32, end batch.Time) {
	charge, end = b.stop(h)
	b.jobs[h].State = Waiting
	b.enqueue(h)
	return charge, end
}

func (b *Base) stop(h batch.Handle) (charge int32, end batch.Time) {
	j := &b.jobs[h]
	if j.State != Running {
		panic(fmt.Sprintf("counted: job %d is not running", h))
	}
	end = b.running[j.at].end
	last := b.running[len(b.running)-1]
	b.running[j.at] = last
	b.jobs[last.job].at = j.at
	b.running = b.running[:len(b.running)-1]
	if w := b.window(j.within); w != nil {
		b.endInside(w, h)
		return j.Charge, 0 // the profile holds the reservation, not the job
	}
	b.Free += j.Charge
	return j.Charge, end
}

// Settle extends the bookings of running jobs that should have ended by now, and reports
// whether there were any. due is what the profile holds at now beyond the running jobs:
// the charges of the waiting jobs that a plan starts now.
func (b *Base) Settle(now batch.Time, due int32) bool {
	if b.Settled(now, due) {
		return false
	}
	overdue := b.unclosed(now)
	for i := range b.running {
		if r := &b.running[i]; r.end <= now && b.window(b.jobs[r.job].within) == nil {
			overdue = true
			b.overrun(now, r)
		}
	}
	return overdue
}

// Settled reports whether the profile is right at now: no job and no reservation runs
// past its end. due is as for Settle.
func (b *Base) Settled(now batch.Time, due int32) bool { return b.overdue(now, due) == 0 }

// overdue returns the processors of jobs and reservations past their planned ends.
func (b *Base) overdue(now batch.Time, due int32) int32 {
	return b.Profile.Free(now) + due + b.unopened(now) - b.Free
}

// overrun extends the booking of a running job by the time that it has overrun, at least
// a second.
func (b *Base) overrun(now batch.Time, r *running) {
	j := &b.jobs[r.job]
	over := now.Sub(r.start.Add(j.Walltime))
	r.end = now.Add(max(over, batch.Second))
	b.Profile.Reserve(now, r.end, j.Charge)
}

// Ends calls yield with each running job and its planned end, in no order that
// means anything; those inside reservations too, of which the profile knows nothing
// (see Inside). It has the form of an iter.Seq2.
func (b *Base) Ends(yield func(batch.Handle, batch.Time) bool) {
	for i := range b.running {
		if !yield(b.running[i].job, b.running[i].end) {
			return
		}
	}
}

// PlannedEnd returns the end of a running job's walltime.
func (b *Base) PlannedEnd(h batch.Handle) batch.Time { return b.running[b.jobs[h].at].end }

// Inside reports whether a job runs or waits in an advance reservation.
func (b *Base) Inside(h batch.Handle) bool { return b.jobs[h].within > batch.NoJob }

// Book extends the booking of a running job from now, where it ends, until end. The job
// counts as overrunning only after that.
func (b *Base) Book(now, end batch.Time, h batch.Handle) {
	j := &b.jobs[h]
	r := &b.running[j.at]
	b.Profile.Reserve(max(now, r.end), end, j.Charge)
	r.end = end
	j.Walltime = end.Sub(r.start)
}
