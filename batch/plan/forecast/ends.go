package forecast

import "github.com/seed-9b8f70bb/drover/batch"

// ends holds the planned ends of running jobs: a heap by time and handle. Each job's
// current end identifies outdated entries.
type ends struct {
	heap    []end
	current []batch.Time // by handle; 0 for a job that does not run
	ended   []batch.Time // by handle; 0 for a job that has not
}

type end struct {
	at  batch.Time
	job batch.Handle
}

func (a end) before(b end) bool { return a.at < b.at || a.at == b.at && a.job < b.job }

func (e *ends) reset() {
	e.heap = e.heap[:0]
	clear(e.current)
	clear(e.ended)
}

// set sets the end of a job.
func (e *ends) set(at batch.Time, job batch.Handle) {
	for int(job) >= len(e.current) {
		e.current, e.ended = append(e.current, 0), append(e.ended, 0)
	}
	e.current[job] = at
	e.heap = append(e.heap, end{at, job})
	i := len(e.heap) - 1
	for i > 0 && e.heap[i].before(e.heap[(i-1)/2]) {
		e.heap[i], e.heap[(i-1)/2] = e.heap[(i-1)/2], e.heap[i]
		i = (i - 1) / 2
	}
}

// remove forgets the end of a job that has stopped.
func (e *ends) remove(job batch.Handle) { e.current[job] = 0 }

// due returns the end of a running job.
func (e *ends) due(job batch.Handle) batch.Time { return e.current[job] }

// over returns the instant at which a job ended, Never if it has not.
func (e *ends) over(job batch.Handle) batch.Time {
	if int(job) >= len(e.ended) || e.ended[job] == 0 {
		return batch.Never
	}
	return e.ended[job]
}

// next returns the earliest end, Never if nothing runs.
func (e *ends) next() batch.Time {
	for len(e.heap) > 0 {
		if top := e.heap[0]; e.current[top.job] == top.at {
			return top.at
		}
		e.drop()
	}
	return batch.Never
}

// pop returns a job that ends by now, NoJob if there is none.
func (e *ends) pop(now batch.Time) batch.Handle {
	if e.next() > now {
		return batch.NoJob
	}
	job := e.heap[0].job
	e.drop()
	e.current[job], e.ended[job] = 0, now
	return job
}

func (e *ends) drop() {
	h := e.heap
	n := len(h) - 1
	h[0] = h[n]
	e.heap = h[:n]
	for i := 0; ; {
		least := i
		for k := 2*i + 1; k <= 2*i+2 && k < n; k++ {
			if h[k].before(h[least]) {
				least = k
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
