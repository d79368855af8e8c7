package site

import (
	"container/heap"

	"github.com/seed-9b8f70bb/drover/batch"
)

// timers is a heap of jobs by the time at which something is due. A job has at most one timer; its
// state decides what is due. Job.slot is its position in the heap, from 1.
type timers []timer

type timer struct {
	due batch.Time
	job *Job
}

// arm sets a job's timer; Never stops it.
func (s *Site) arm(j *Job, due batch.Time) {
	t, i := &s.book.timers, int(j.slot)-1
	switch {
	case i >= 0 && due == batch.Never:
		heap.Remove(t, i)
	case i >= 0:
		(*t)[i].due = due
		heap.Fix(t, i)
	case due != batch.Never:
		heap.Push(t, timer{due, j})
	}
}

// Wake returns the next instant at which Tick has work, Never for none.
func (s *Site) Wake() batch.Time {
	if len(s.book.timers) == 0 {
		return batch.Never
	}
	return s.book.timers[0].due
}

// Tick does what is due: it repeats messages, aborts moves that take too long, and releases jobs
// whose lease has ended.
func (s *Site) Tick(now batch.Time) {
	for len(s.book.timers) > 0 && s.Wake() <= now {
		j := s.book.timers[0].job
		s.arm(j, batch.Never)
		switch j.State {
		case Moving:
			s.repeatReserve(now, j)
		case Gone:
			s.sendConfirm(now, j)
		case Incoming:
			s.sendResolve(now, j)
		case Held:
			s.release(j)
		}
	}
}

// backoff returns when to repeat a message that was sent j.tries times.
func (s *Site) backoff(now batch.Time, j *Job) batch.Time {
	pause := s.config.Patience.First
	for range j.tries {
		if pause = min(2*pause, s.config.Patience.Longest); pause == s.config.Patience.Longest {
			break
		}
	}
	j.tries = min(j.tries+1, 60)
	return now.Add(pause)
}

// Len, Less, Swap, Push and Pop implement heap.Interface. Ties are broken by job ID, which is
// roughly the order of submission.
func (t timers) Len() int { return len(t) }

func (t timers) Less(i, k int) bool {
	if t[i].due != t[k].due {
		return t[i].due < t[k].due
	}
	return t[i].job.ID < t[k].job.ID
}

func (t timers) Swap(i, k int) {
	t[i], t[k] = t[k], t[i]
	t[i].job.slot, t[k].job.slot = int32(i+1), int32(k+1)
}

// Push implements heap.Interface.
func (t *timers) Push(x any) {
	*t = append(*t, x.(timer))
	x.(timer).job.slot = int32(len(*t))
}

// Pop implements heap.Interface.
func (t *timers) Pop() any {
	last := len(*t) - 1
	x := (*t)[last]
	(*t)[last] = timer{}
	*t = (*t)[:last]
	x.job.slot = 0
	return x
}
