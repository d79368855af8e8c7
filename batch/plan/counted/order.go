package counted

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// InOrder is an iter.Seq of the waiting jobs, queued or parked, in order, without held
// ones.
func (b *Backlog) InOrder(yield func(batch.Handle) bool) {
	parked := slices.SortedFunc(slices.Values(b.parked), func(x, y batch.Handle) int {
		return cmp.Compare(b.jobs[x].seq, b.jobs[y].seq)
	})
	for q := b.Queue.Head(); q != nil; q = b.Queue.Next(q) {
		for _, h := range q.Job[:q.N] {
			for len(parked) > 0 && b.Before(parked[0], h) {
				if !yield(parked[0]) {
					return
				}
				parked = parked[1:]
			}
			if !yield(h) {
				return
			}
		}
	}
	for _, h := range parked {
		if !yield(h) {
			return
		}
	}
}

// Waiting returns the number of jobs in InOrder.
func (b *Backlog) Waiting() int { return b.Queue.Len() + len(b.parked) }

// Waits reports whether a job is in InOrder.
func (b *Backlog) Waits(h batch.Handle) bool {
	switch b.jobs[h].State {
	case Waiting, Incoming, Parked:
		return true
	}
	return false
}

// Work returns the area of the jobs that wait behind the job after and ahead of the job
// before; NoJob for before means no limit.
func (b *Backlog) Work(after, before batch.Handle) batch.Area {
	sum, low, high := batch.Area{}, b.jobs[after].seq, b.seq+1
	if before != batch.NoJob {
		high = b.jobs[before].seq
	}
	for q := b.Queue.Head(); q != nil; q = b.Queue.Next(q) {
		if b.jobs[q.Job[q.N-1]].seq <= low {
			continue
		}
		for i, h := range q.Job[:q.N] {
			if s := b.jobs[h].seq; low < s && s < high {
				sum = sum.Add(batch.AreaOf(q.Charge[i], q.Walltime[i]))
			}
		}
	}
	for _, h := range b.parked {
		if j := &b.jobs[h]; low < j.seq && j.seq < high {
			sum = sum.Add(batch.AreaOf(j.Charge, j.Walltime))
		}
	}
	return sum
}

// First returns a copy with all running jobs and only the first n waiting ones, so its
// size does not depend on the length of the queue. Its jobs have new handles; names maps
// them to the originals. Agreed jobs do not count toward n. Jobs in reservations, which
// do not affect others, are left out.
func (b *Backlog) First(n int) (front Backlog, names []batch.Handle) {
	n = min(n, b.Waiting())
	size := 1 + len(b.running) + len(b.windows) + len(b.agreed) + n
	c := Base{
		Capacity: b.Capacity, Free: b.Free, PerProcessor: b.PerProcessor, Profile: b.Profile.Clone(),
		jobs: make([]Job, 1, size), running: b.outside(), parks: b.parks, nodes: slices.Clone(b.nodes), seq: b.seq,
	}
	names = make([]batch.Handle, 1, size)
	take := func(h batch.Handle) batch.Handle {
		c.jobs, names = append(c.jobs, b.jobs[h]), append(names, h)
		return batch.Handle(len(names) - 1)
	}
	for i := range c.running {
		h := take(c.running[i].job)
		c.running[i].job, c.jobs[h].at = h, int32(i)
	}
	for i := range b.windows {
		w := &b.windows[i]
		c.windows = append(c.windows, window{Reservation: w.Reservation, booked: w.booked, free: w.Charge})
		c.windows[i].Job = take(w.Job)
	}
	agreed := slices.Clone(b.agreed)
	for i := range agreed {
		agreed[i].job = take(agreed[i].job)
	}
	size = len(names) + n
	for h := range b.InOrder {
		if len(names) == size {
			break
		}
		if h = take(h); c.jobs[h].State == Parked {
			c.park(h)
		} else {
			c.enqueue(h)
		}
	}
	return Backlog{Base: c, Changed: true, agreed: agreed, broke: b.broke, early: b.early}, names
}

// outside returns the running jobs outside reservations.
func (b *Base) outside() []running {
	return slices.DeleteFunc(slices.Clone(b.running), func(r running) bool { return b.Inside(r.job) })
}
