package cgroup

import (
	"container/heap"
	"sync"
	"time"
)

// pacer is the goroutine that carries out the duty cycles of all groups of a host. It starts
// with the first and ends with close.
//
// Lock order: a group's lock before the pacer's; the pacer holds its own only to access the
// heap.
type pacer struct {
	mu     sync.Mutex
	start  time.Time
	order  order
	wake   chan struct{}
	stop   chan struct{}
	done   chan struct{} // nil until it runs
	closed bool
}

// paced is a group with its duty cycle. The group's lock guards it, except next and index,
// which belong to the pacer.
type paced struct {
	group     *Group
	cycle     *cycle
	off       bool // its cycle has ended
	stoppedAt time.Duration
	throttled time.Duration
	periods   int64

	next  time.Duration
	index int // in the heap; -1 during its turn
}

func (p *paced) waits() (time.Duration, int64) { return p.throttled, p.periods }

func newPacer() *pacer {
	return &pacer{start: time.Now(), wake: make(chan struct{}, 1), stop: make(chan struct{})}
}

func (p *pacer) now() time.Duration { return time.Since(p.start) }

// put schedules a turn of a group.
func (p *pacer) put(e *paced, at time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	e.next = at
	heap.Push(&p.order, e)
	if p.done == nil {
		p.done = make(chan struct{})
		go p.run()
	}
	if e.index == 0 {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
}

// drop removes a group from the heap.
func (p *pacer) drop(e *paced) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.index >= 0 {
		heap.Remove(&p.order, e.index)
	}
}

// close ends the goroutine. Groups that are stopped stay so until unpace.
func (p *pacer) close() {
	p.mu.Lock()
	running := p.done != nil && !p.closed
	p.closed = true
	for _, e := range p.order {
		e.index = -1
	}
	p.order = nil
	p.mu.Unlock()
	if running {
		close(p.stop)
		<-p.done
	}
}

func (p *pacer) run() {
	defer close(p.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-p.wake:
		case <-timer.C:
		}
		for _, e := range p.due() {
			e.group.turn(e)
		}
		timer.Reset(p.pause())
	}
}

// due removes and returns the groups that are due.
func (p *pacer) due() []*paced {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []*paced
	for now := p.now(); len(p.order) > 0 && p.order[0].next <= now; {
		if e, ok := heap.Pop(&p.order).(*paced); ok {
			all = append(all, e)
		}
	}
	return all
}

func (p *pacer) pause() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.order) == 0 {
		return time.Hour // put wakes it
	}
	return max(p.order[0].next-p.now(), 0)
}

// pace begins a duty cycle, or changes its share. The group is locked.
func (g *Group) pace(share CPU) {
	if share >= cycleMost {
		g.unpace()
		return
	}
	if g.paced != nil {
		g.paced.cycle.share = share
		return
	}
	if !g.frozen {
		// A process that was killed may have left it stopped. An error would recur in a turn.
		_ = g.setStopped(false)
	}
	p := g.host.pacer
	now := p.now()
	g.paced = &paced{group: g, cycle: newCycle(share, now, g.usedBy(true)), index: -1}
	p.put(g.paced, now)
}

// unpace ends the duty cycle and continues the group. The group is locked.
func (g *Group) unpace() {
	if g.paced == nil {
		return
	}
	g.paced.off = true
	g.host.pacer.drop(g.paced)
	if !g.paced.cycle.running && !g.frozen {
		_ = g.setStopped(false) // an error means that it is gone
	}
	g.paced = nil
}

// turn is one step of a group's duty cycle.
func (g *Group) turn(e *paced) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e.off {
		return
	}
	p := g.host.pacer
	now, used := p.now(), g.usedBy(false)
	if g.frozen {
		e.cycle.paused(now, used)
		p.put(e, now+cycleCheck)
		return
	}
	was := e.cycle.running
	run, wait := e.cycle.step(now, used)
	switch {
	case was && !run:
		e.stoppedAt = now
		e.periods++
	case !was && run:
		e.throttled += now - e.stoppedAt
	}
	if was != run || !run { // another process may have continued a stopped one
		// An error means that the group has vanished or that all its processes have ended;
		// other calls report that.
		_ = g.setStopped(!run)
	}
	p.put(e, now+wait)
}

// usedBy returns the processor time of the group, or the last value on an error.
func (g *Group) usedBy(fresh bool) time.Duration {
	if t := g.host.by[Measuring]; t != nil {
		used, err := g.host.cpuTime(t, g.dir(t))
		if err != nil && g.paced != nil {
			return g.paced.cycle.used
		}
		return used
	}
	return g.members.used(fresh)
}

// order is a heap, the next turn first.
type order []*paced

func (o order) Len() int           { return len(o) }
func (o order) Less(i, j int) bool { return o[i].next < o[j].next }

func (o order) Swap(i, j int) {
	o[i], o[j] = o[j], o[i]
	o[i].index, o[j].index = i, j
}

// Push implements heap.Interface.
func (o *order) Push(x any) {
	if e, ok := x.(*paced); ok {
		e.index = len(*o)
		*o = append(*o, e)
	}
}

// Pop implements heap.Interface.
func (o *order) Pop() any {
	last := (*o)[len(*o)-1]
	*o = (*o)[:len(*o)-1]
	last.index = -1
	return last
}
