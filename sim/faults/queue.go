package faults

import "github.com/seed-9b8f70bb/drover/batch"

// happening is something that is done at an instant. Those of one instant are
// done in the order in which they were foreseen.
type happening struct {
	at  batch.Time
	seq uint64
	do  func()
}

func (a *happening) before(b *happening) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

// queue is a heap of what will happen.
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
