package faults

import (
	"fmt"
	"math/rand/v2"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// world is one run.
type world struct {
	sc     scenario
	plant  Plant
	rng    *rand.Rand
	now    batch.Time // the true time, which no simulated process knows
	queue  queue
	calm   bool // no more faults
	counts Counts
	trace  *trace // nil: none is kept

	sites  []*server
	agents []*agent
	facts  []*fact
	byID   map[batch.JobID]*fact

	cut  [][]batch.Time // until when nothing comes from a node to another
	sent int
	old  []func() // messages, to be sent again after the end

	forecaster forecast.Forecaster
}

// violation is what is wrong; it ends the run.
type violation string

// limits of a run. A run that is sound uses a small part of them.
const (
	mostHappenings = 1_000_000
	mostCalm       = 24 * batch.Hour
	// leastCalm is longer than any message takes, and an operator.
	leastCalm = 15 * batch.Minute
)

func newWorld(seed uint64, plant Plant, t *trace) *world {
	w := &world{
		plant: plant, rng: rand.New(rand.NewPCG(seed, 0x64726f766572)), trace: t,
		byID: make(map[batch.JobID]*fact),
	}
	w.sc = draw(w.rng)
	for i := range w.sc.sites {
		w.sites = append(w.sites, newServer(w, i))
	}
	for i := range w.sc.agents {
		w.agents = append(w.agents, &agent{w: w, node: w.sc.sites + i})
	}
	nodes := w.sc.sites + w.sc.agents + w.sc.sites + w.sc.jobs
	w.cut = make([][]batch.Time, nodes)
	for i := range w.cut {
		w.cut[i] = make([]batch.Time, nodes)
	}
	return w
}

// run lets it all happen. A violation panics.
func (w *world) run() {
	for _, s := range w.sites {
		s.boot()
		s.troubles()
	}
	for _, a := range w.agents {
		a.work()
	}
	first := w.sc.sites + w.sc.agents
	for i := range w.sites {
		if c := (&client{w: w, node: first + i, only: w.sites[i].name}); w.sc.blocked {
			w.after(0, c.block)
		}
	}
	for i := range w.sc.jobs {
		c := &client{w: w, node: first + w.sc.sites + i}
		w.after(w.between(0, w.sc.rush), c.begin)
	}
	w.partition()
	w.until(batch.Time(w.sc.chaos))
	w.heal()
	w.rest("all is settled")
	w.settled()
	w.again("old messages came again")
	w.settled()
	w.followAll()
	w.rest("the jobs were followed")
	w.account()
	if w.sc.ages && w.sc.lost < 0 {
		w.age()
	}
}

// again sends messages of old once more.
func (w *world) again(what string) {
	w.counts[Replayed] += int64(len(w.old))
	for _, i := range w.rng.Perm(len(w.old)) {
		w.after(w.between(0, 20*batch.Second), w.old[i])
	}
	w.rest(what)
}

// age lets more time pass than the sites remember old jobs. The old messages are too old by
// then: no job is accepted again, and none runs.
func (w *world) age() {
	w.until(w.now.Add(site.Horizon + 24*batch.Hour))
	for _, f := range w.facts {
		f.lost = true // no site has to know it any more: only new work would be wrong
	}
	w.again("messages came again after the horizon")
	for _, f := range w.facts {
		if what := w.unsettled(f); what != "" {
			f.wrong("a message that is too old has brought it back: %s: %s", what, w.whereabouts(f))
		}
	}
}

// until does what happens before an instant.
func (w *world) until(end batch.Time) {
	for w.queue.next() < end {
		w.step()
	}
	w.now = end
}

func (w *world) step() {
	x := w.queue.pop()
	w.now = x.at
	x.do()
	if w.queue.seq > mostHappenings {
		panic(violation(fmt.Sprintf("no end after %d events", w.queue.seq)))
	}
}

// heal ends the faults: all servers are up, and messages arrive.
func (w *world) heal() {
	w.say(nil, nil, "the faults end")
	w.calm = true
	for i := range w.cut {
		clear(w.cut[i])
	}
	for _, s := range w.sites {
		s.recover()
	}
}

// rest runs until no event is left. Everything has to come to rest.
func (w *world) rest(what string) {
	w.operate()
	end, early := w.now.Add(mostCalm), w.now.Add(leastCalm)
	for n := 0; w.queue.next() != batch.Never; n++ {
		if w.queue.next() > end {
			panic(violation(fmt.Sprintf("before %s: still not at rest after %v", what, mostCalm)))
		}
		if n%64 == 63 && w.sc.lost >= 0 && w.now > early && w.resting() {
			// Confirm is repeated without end for a job that was handed to a lost site.
			// Everything else in progress takes a moment.
			w.until(w.now.Add(batch.Minute))
			return
		}
		w.step()
	}
}

// after has something done after a while.
func (w *world) after(d batch.Duration, do func()) { w.queue.add(w.now.Add(d), do) }

// every has something done again and again while there are faults.
func (w *world) every(mean batch.Duration, do func()) {
	if mean == 0 {
		return
	}
	w.after(w.between(0, 2*mean), func() {
		if w.calm {
			return
		}
		do()
		w.every(mean, do)
	})
}

// chance says yes so many times in a thousand.
func (w *world) chance(perMille int) bool { return perMille > 0 && w.rng.IntN(1000) < perMille }

// fault is chance while there are faults.
func (w *world) fault(perMille int) bool { return !w.calm && w.chance(perMille) }

// between draws a length of time, from and to included.
func (w *world) between(from, to batch.Duration) batch.Duration {
	if to <= from {
		return from
	}
	return from + batch.Duration(w.rng.Int64N(int64(to-from)+1))
}

// say writes a line of the trace. s and f may be nil.
func (w *world) say(s *server, f *fact, format string, a ...any) {
	if w.trace != nil {
		w.trace.add(w.now, s, f, fmt.Sprintf(format, a...))
	}
}
