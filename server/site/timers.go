package site

import (
	"container/heap"

	"github.com/seed-9b8f70bb/drover/batch"
)

// timers orders the instants at which a job wants something done. A job has at
// most one: what is due is told by its state. Entries that a job has left behind
// are dropped when they come up.
type timers []timer

type timer struct {
	due batch.Time
	job *Job
}

// arm sets a job's timer; Never stops it.
func (s *Site) arm(j *Job, due batch.Time) {
	if j.due = due; due != batch.Never {
		heap.Push(&s.book.timers, timer{due, j})
	}
}

// Wake returns the next instant at which Tick has something to do; Never if
// there is none.
func (s *Site) Wake() batch.Time {
	t := &s.book.timers
	for len(*t) > 0 {
		if top := (*t)[0]; top.job.due == top.due && s.book.byID[top.job.ID] == top.job {
			return top.due
		}
		heap.Pop(t)
	}
	return batch.Never
}

// Tick does what is due: it repeats messages, gives up moves that take too long,
// and puts back jobs whose lease has run out.
func (s *Site) Tick(now batch.Time) {
	for s.Wake() <= now {
		j := heap.Pop(&s.book.timers).(timer).job
		j.due = batch.Never
		switch j.State {
		case Moving:
			s.insist(now, j)
		case Gone:
			s.confirm(now, j)
		case Incoming:
			s.inquire(now, j)
		case Held:
			s.putBack(j)
		}
	}
}

// backoff returns when to repeat a message that has been sent j.tries times.
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

// Len, Less, Swap, Push and Pop are for package heap. Equal instants are in the
// order in which jobs came in.
func (t timers) Len() int { return len(t) }

func (t timers) Less(i, k int) bool {
	if t[i].due != t[k].due {
		return t[i].due < t[k].due
	}
	return t[i].job.ID < t[k].job.ID
}

func (t timers) Swap(i, k int) { t[i], t[k] = t[k], t[i] }

// Push is for package heap.
func (t *timers) Push(x any) { *t = append(*t, x.(timer)) }

// Pop is for package heap.
func (t *timers) Pop() any {
	last := len(*t) - 1
	x := (*t)[last]
	(*t)[last] = timer{}
	*t = (*t)[:last]
	return x
}
