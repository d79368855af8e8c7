package campaign

import "time"

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

// rest returns how long what is left may take; false while nothing is known. Of a
// scenario that nothing is known of it takes the mean of the others.
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
