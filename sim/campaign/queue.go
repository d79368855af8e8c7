package campaign

import (
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/sim"
)

// group is a reference and the experiments that are compared with it.
type group struct {
	scenario  int
	reference int   // index of the experiment
	left      []int // not started yet
	running   int
	compare   *sim.Result // the result of the reference; nil until it has ended
}

// task is an experiment for a worker.
type task struct {
	group      *group
	experiment int
}

// groups groups the unfinished experiments. A group of which only the reference is unfinished
// has only that.
func groups(experiments []Experiment, done func(i int) bool) []*group {
	var all []*group
	var g *group
	for i := range experiments {
		if experiments[i].Reference {
			g = &group{scenario: experiments[i].Scenario, reference: i}
			all = append(all, g)
		} else if !done(i) {
			g.left = append(g.left, i)
		}
	}
	needed := all[:0]
	for _, g := range all {
		if len(g.left) > 0 || !done(g.reference) {
			needed = append(needed, g)
		}
	}
	return needed
}

// queue assigns experiments to workers. Started groups come first, so that there are never more
// references in memory than workers.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond
	waiting []*group // not started
	begun   []*group
	stopped bool
}

func newQueue(waiting []*group) *queue {
	q := &queue{waiting: waiting}
	q.changed.L = &q.mu
	return q
}

// take returns the next task. It waits until there is one, and returns false if there will be
// none.
func (q *queue) take() (task, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.stopped {
		expected := false
		for _, g := range q.begun {
			switch {
			case len(g.left) == 0:
			case g.compare == nil:
				expected = true
			default:
				t := task{g, g.left[0]}
				g.left = g.left[1:]
				g.running++
				return t, true
			}
		}
		if len(q.waiting) > 0 {
			g := q.waiting[0]
			q.waiting = q.waiting[1:]
			q.begun = append(q.begun, g)
			g.running++
			return task{g, g.reference}, true
		}
		if !expected {
			return task{}, false
		}
		q.changed.Wait()
	}
	return task{}, false
}

// ended takes the result of a task and reports whether it was the last of its group.
func (q *queue) ended(t task, o *sim.Result) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	g := t.group
	if t.experiment == g.reference {
		g.compare = o
		q.changed.Broadcast()
	}
	g.running--
	if g.running > 0 || len(g.left) > 0 {
		return false
	}
	g.compare = nil
	for i, b := range q.begun {
		if b == g {
			q.begun = append(q.begun[:i:i], q.begun[i+1:]...)
			break
		}
	}
	return true
}

// stop ends all calls of take.
func (q *queue) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
	q.changed.Broadcast()
}

// pace estimates the remaining time of a campaign from the durations of experiments of the same
// scenario; references count separately.
type pace struct {
	experiments []Experiment
	workers     int
	left        map[class]int
	took        map[class]cost
}

// class is a kind of experiments with similar durations.
type class struct {
	scenario  int
	reference bool
}

// cost is the number and total duration of experiments.
type cost struct {
	n    int
	wall float64 // seconds
}

func newPace(experiments []Experiment, workers int) *pace {
	p := &pace{experiments: experiments, workers: workers, left: map[class]int{}, took: map[class]cost{}}
	for i := range experiments {
		p.left[p.class(i)]++
	}
	return p
}

func (p *pace) class(i int) class {
	return class{p.experiments[i].Scenario, p.experiments[i].Reference}
}

// ended adds the duration of an experiment.
func (p *pace) ended(i int, wall float64) {
	c := p.class(i)
	p.left[c]--
	t := p.took[c]
	p.took[c] = cost{t.n + 1, t.wall + wall}
}

// rest returns the estimated remaining time; false if nothing has been measured. A scenario
// without a measurement gets the mean of the others.
func (p *pace) rest() (time.Duration, bool) {
	var known, all [2]cost // of experiments and of references
	kind := map[bool]int{true: 1}
	for c, t := range p.took {
		k := &all[kind[c.reference]]
		k.n += t.n
		k.wall += t.wall
	}
	if all[0].n+all[1].n == 0 {
		return 0, false
	}
	for k := range all {
		if known[k] = all[k]; known[k].n == 0 {
			known[k] = all[1-k]
		}
	}
	seconds := 0.0
	for c, n := range p.left {
		t := p.took[c]
		if t.n == 0 {
			t = known[kind[c.reference]]
		}
		seconds += float64(n) * t.wall / float64(t.n)
	}
	return time.Duration(seconds / float64(p.workers) * float64(time.Second)), true
}
