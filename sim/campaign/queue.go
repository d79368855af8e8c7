package campaign

import (
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/sim"
)

// group is a reference and the experiments that are compared with it.
type group struct {
	scenario  int
	reference int   // of the campaign's experiments
	left      []int // not begun yet
	running   int
	compare   *sim.Result // the reference's; nil before it has ended
}

// task is an experiment that a worker is to run.
type task struct {
	group      *group
	experiment int
}

// groups puts the experiments that are not done into groups. A group with nothing
// to do but its reference has it alone.
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

// queue gives experiments to workers: those of groups that have been begun first,
// so that there are never more references in memory than workers.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond
	waiting []*group // not begun
	begun   []*group
	stopped bool
}

func newQueue(waiting []*group) *queue {
	q := &queue{waiting: waiting}
	q.changed.L = &q.mu
	return q
}

// take returns what to run next, and waits until there is something; false when
// there will be nothing any more.
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

// ended takes the result of a task, and says whether it was the last of its group.
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

// stop ends all takes, also those that wait.
func (q *queue) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
	q.changed.Broadcast()
}

// pace guesses how long the rest of a campaign takes, from how long experiments of
// the same scenario took, references apart.
type pace struct {
	experiments []Experiment
	workers     int
	left        map[class]int
	took        map[class]cost
}

// class are experiments that take about the same time.
type class struct {
	scenario  int
	reference bool
}

// cost is how long some experiments took.
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

// ended learns how long an experiment took.
func (p *pace) ended(i int, wall float64) {
	c := p.class(i)
	p.left[c]--
	t := p.took[c]
	p.took[c] = cost{t.n + 1, t.wall + wall}
}

// rest returns how long what is left may take; false while nothing is known. For a
// scenario without a measurement it uses the mean of the others.
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
