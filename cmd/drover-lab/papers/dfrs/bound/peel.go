package bound

// peel runs jobs at full rate wherever that takes nothing from anyone. Such
// intervals are free; what is left of the jobs has to go into the others.
type peel struct {
	free []bool  // by interval
	left []int64 // by job: the time at full rate that is left
	// entered is where the sweep's clock stood when job j came in, -1 while it
	// is not in.
	entered []int64
	ends    heap
}

// set starts anew and sweeps until nothing is found any more: a job that is
// through in a later free interval is no longer in the way of the earlier ones.
func (p *peel) set(in *instance, w *windows) {
	p.free = append(p.free[:0], make([]bool, w.intervals())...)
	p.left, p.entered = p.left[:0], p.entered[:0]
	for _, j := range in.jobs {
		p.left, p.entered = append(p.left, j.length), append(p.entered, -1)
	}
	for p.sweep(in, w) {
	}
}

// sweep passes over the intervals in order of time and tells whether it freed
// any. Its clock counts the time it has freed, so that a job that came in at
// clock c with l left is through at c+l.
func (p *peel) sweep(in *instance, w *windows) bool {
	var clock, demand int64
	p.ends = p.ends[:0]
	leave := func(j int32) {
		if p.entered[j] >= 0 {
			p.left[j] = max(0, p.left[j]-(clock-p.entered[j]))
			p.entered[j] = -1
			demand -= in.jobs[j].rate
		}
	}
	found := false
	r, d := 0, 0
	for k := range w.intervals() {
		for ; d < len(w.byDeadline) && int(w.last[w.byDeadline[d]]) == k; d++ {
			leave(w.byDeadline[d])
		}
		for ; r < len(w.byRelease) && int(w.first[w.byRelease[r]]) == k; r++ {
			if j := w.byRelease[r]; p.left[j] > 0 {
				p.entered[j] = clock
				demand += in.jobs[j].rate
				p.ends.push(end{clock + p.left[j], j})
			}
		}
		if p.free[k] || demand > in.capacity {
			continue
		}
		p.free[k], found = true, true
		clock += w.at[k+1] - w.at[k]
		for len(p.ends) > 0 && p.ends[0].at <= clock {
			leave(p.ends.pop().job)
		}
	}
	for ; d < len(w.byDeadline); d++ {
		leave(w.byDeadline[d])
	}
	return found
}

// end is when, by the sweep's clock, a job is through.
type end struct {
	at  int64
	job int32
}

// heap has the earliest end first.
type heap []end

func (h *heap) push(e end) {
	*h = append(*h, e)
	s := *h
	for i := len(s) - 1; i > 0; {
		up := (i - 1) / 2
		if s[up].at <= s[i].at {
			return
		}
		s[up], s[i] = s[i], s[up]
		i = up
	}
}

func (h *heap) pop() end {
	s := *h
	top, n := s[0], len(s)-1
	s[0] = s[n]
	s = s[:n]
	*h = s
	for i := 0; ; {
		down := 2*i + 1
		if down >= n {
			return top
		}
		if down+1 < n && s[down+1].at < s[down].at {
			down++
		}
		if s[i].at <= s[down].at {
			return top
		}
		s[i], s[down] = s[down], s[i]
		i = down
	}
}
