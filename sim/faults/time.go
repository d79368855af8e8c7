package faults

import "github.com/seed-9b8f70bb/drover/batch"

// clock is the clock of a site during one life of its server. It has its own rate and never
// goes back; only a restart shows that it was set back.
type clock struct {
	from  batch.Time // true time at the start of this life
	shows batch.Time // what the clock showed then
	rate  int64      // in 1/1024 of the true speed
}

// unit is the rate of a correct clock.
const unit = 1024

// read returns what the clock shows at a true time.
func (c *clock) read(true batch.Time) batch.Time {
	return c.shows + batch.Time(int64(true-c.from)*c.rate/unit)
}

// when returns the first true time at which the clock shows t or more.
func (c *clock) when(shown batch.Time) batch.Time {
	if shown == batch.Never {
		return batch.Never
	}
	if shown <= c.shows {
		return c.from
	}
	return c.from + batch.Time((int64(shown-c.shows)*unit+c.rate-1)/c.rate)
}

// happening is an event. Events of the same time happen in the order in which they were added.
type happening struct {
	at  batch.Time
	seq uint64
	do  func()
}

func (a *happening) before(b *happening) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

// queue is a heap of events.
type queue struct {
	list []happening
	seq  uint64
}

func (q *queue) add(at batch.Time, do func()) {
	q.seq++
	x := happening{at, q.seq, do}
	a := append(q.list, x)
	i := len(a) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !x.before(&a[up]) {
			break
		}
		a[i] = a[up]
		i = up
	}
	a[i] = x
	q.list = a
}

func (q *queue) next() batch.Time {
	if len(q.list) == 0 {
		return batch.Never
	}
	return q.list[0].at
}

func (q *queue) pop() happening {
	a := q.list
	top, n := a[0], len(a)-1
	x := a[n]
	a[n] = happening{}
	a = a[:n]
	q.list = a
	if n == 0 {
		return top
	}
	i := 0
	for {
		k := 2*i + 1
		if k >= n {
			break
		}
		if k+1 < n && a[k+1].before(&a[k]) {
			k++
		}
		if !a[k].before(&x) {
			break
		}
		a[i] = a[k]
		i = k
	}
	a[i] = x
	return top
}
