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
	now    batch.Time // the true time, unknown to all simulated processes
	queue  queue
	calm   bool // no more faults
	counts Counts
	trace  *trace // nil: no trace

	sites  []*server
	agents []*agent
	truths []*jobTruth
	byID   map[batch.JobID]*jobTruth

	cut  [][]batch.Time // until when messages from one node to another are lost
	sent int
	old  []func() // messages to send again after the end

	forecaster forecast.Forecaster
}

// violation describes a failed check; it ends the run.
type violation string

// Limits of a run. A run without a violation uses a small part of them.
const (
	mostHappenings = 1_000_000
	mostCalm       = 24 * batch.Hour
	// leastCalm is longer than any message or operator takes.
	leastCalm = 15 * batch.Minute
)

func newWorld(seed uint64, plant Plant, t *trace) *world {
	w := &world{
		plant: plant, rng: rand.New(rand.NewPCG(seed, 0x64726f766572)), trace: t,
		byID: make(map[batch.JobID]*jobTruth),
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

// run runs the world to its end. It panics with a violation.
func (w *world) run() {
	for _, s := range w.sites {
		s.boot()
		s.scheduleFaults()
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

// again sends the old messages once more.
func (w *world) again(what string) {
	w.counts[Replayed] += int64(len(w.old))
	for _, i := range w.rng.Perm(len(w.old)) {
		w.after(w.between(0, 20*batch.Second), w.old[i])
	}
	w.rest(what)
}

// age lets more time pass than the sites remember old jobs. The old messages have then expired:
// no job may be accepted or run.
func (w *world) age() {
	w.until(w.now.Add(site.Horizon + 24*batch.Hour))
	for _, f := range w.truths {
		f.lost = true // sites may have forgotten it; only new work would be wrong
	}
	w.again("messages came again after the horizon")
	for _, f := range w.truths {
		if what := w.unsettled(f); what != "" {
			f.wrong("a message that is too old has brought it back: %s: %s", what, w.locations(f))
		}
	}
}

// until runs all events before a time.
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

// heal ends the faults: all servers run, and all messages arrive.
func (w *world) heal() {
	w.logf(nil, nil, "the faults end")
	w.calm = true
	for i := range w.cut {
		clear(w.cut[i])
	}
	for _, s := range w.sites {
		s.recover()
	}
}

// rest runs all events until everything has settled.
func (w *world) rest(what string) {
	w.operate()
	end, early := w.now.Add(mostCalm), w.now.Add(leastCalm)
	for n := 0; w.queue.next() != batch.Never; n++ {
		if w.queue.next() > end {
			panic(violation(fmt.Sprintf("before %s: still not at rest after %v", what, mostCalm)))
		}
		if n%64 == 63 && w.sc.lost >= 0 && w.now > early && w.resting() {
			// Confirm is repeated forever for a job that was handed to a lost site. Everything
			// else ends soon.
			w.until(w.now.Add(batch.Minute))
			return
		}
		w.step()
	}
}

// after schedules a call after a delay.
func (w *world) after(d batch.Duration, do func()) { w.queue.add(w.now.Add(d), do) }

// every repeats a call while there are faults.
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

// chance returns true with a probability of n per mille.
func (w *world) chance(perMille int) bool { return perMille > 0 && w.rng.IntN(1000) < perMille }

// fault is chance during the faults, and false after them.
func (w *world) fault(perMille int) bool { return !w.calm && w.chance(perMille) }

// between draws a duration from the closed interval.
func (w *world) between(from, to batch.Duration) batch.Duration {
	if to <= from {
		return from
	}
	return from + batch.Duration(w.rng.Int64N(int64(to-from)+1))
}

// logf adds a line to the trace. s and f can be nil.
func (w *world) logf(s *server, f *jobTruth, format string, a ...any) {
	if w.trace != nil {
		w.trace.add(w.now, s, f, fmt.Sprintf(format, a...))
	}
}
