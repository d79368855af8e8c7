package server

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/needs"
	"github.com/seed-9b8f70bb/drover/cgroup"
	"github.com/seed-9b8f70bb/drover/node"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// gaugeEvery is the time between two samples of what tasks use.
const gaugeEvery = 2 * time.Second

// heldBack is the part of the time that a task may wait for its quota and not count as
// held back by it, as in package needs.
const heldBack = 50

// tellAgain is the time after which the policy is told the same again: what it was told
// of an attempt that was just being launched it has not taken in.
const tellAgain = time.Minute

// gauge measures what the tasks of jobs use, and finds out what they need. It is kept with
// their jobs, see keepMeasured.
type gauge struct {
	host   *node.Host
	worth  cgroup.CPU
	limits bool // memory is limited

	mu   sync.Mutex
	jobs map[batch.Key]*gauged
}

// gauged is what is known of an attempt.
type gauged struct {
	tasks  int32
	share  batch.Share // the least that a task has
	need   *needs.Correction
	said   time.Time  // when the policy was last told
	kept   needs.Need // found out, as it is on disk; zero for nothing
	ended  time.Time  // zero while it runs
	limit  int64
	paused bool
	// mixed: it was paused, or had another share, in a part of the time since at.
	mixed bool
	at    time.Time // of the last sample
	last  cgroup.Use
	// waited is how long its threads have waited for a processor of a busy host.
	waited time.Duration
	rate   float64 // processors of the host used by all of it, since the sample before
}

func newGauge(h *node.Host, worth cgroup.CPU) *gauge {
	return &gauge{host: h, worth: worth, limits: h != nil && h.Offers().Of(cgroup.Memory) != cgroup.None, jobs: make(map[batch.Key]*gauged)}
}

// enter begins with what was declared and, if that is known, what was found out before.
func (g *gauge) enter(key batch.Key, spec *batch.Job, before *site.Measured, places []batch.Location) {
	it := &gauged{need: needs.New(needs.Need{CPU: spec.CPU, Memory: spec.Memory}), mixed: true}
	if before != nil {
		it.kept = needs.Need{CPU: before.CPU, Memory: before.Memory}
		it.need.Recall(it.kept)
	}
	it.tasks, it.share = tasksOf(places)
	if g.limits {
		it.limit = spec.Memory
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.jobs[key] = it
}

// leave notes that an attempt has ended. What was found out of it stays until take.
func (g *gauge) leave(key batch.Key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if it := g.jobs[key]; it != nil && it.knows() {
		it.ended = time.Now()
		return
	}
	delete(g.jobs, key)
}

func (g *gauge) pause(key batch.Key, paused bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if it := g.jobs[key]; it != nil {
		it.paused, it.mixed = paused, true
	}
}

func (g *gauge) share(key batch.Key, places []batch.Location) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if it := g.jobs[key]; it != nil {
		tasks, share := tasksOf(places)
		it.mixed = it.mixed || share != it.share
		it.tasks, it.share = tasks, share
	}
}

// tasksOf returns how many tasks there are, and the least share that one of them has.
func tasksOf(places []batch.Location) (n int32, least batch.Share) {
	least = batch.One
	for _, l := range places {
		n, least = n+l.Processors, min(least, l.Share)
	}
	return n, least
}

// reading is what is known of an attempt by now.
type reading struct {
	need   batch.Share
	rate   float64 // processors of the host
	memory int64
	most   int64         // memory that one task has used
	cpu    time.Duration // of processor time that the attempt has used
	at     time.Time     // of the sample; zero before the first
}

// read returns what was found out of an attempt, false if nothing was.
func (g *gauge) read(key batch.Key) (reading, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	it := g.jobs[key]
	if it == nil {
		return reading{}, false
	}
	return reading{it.need.Need().CPU, it.rate, it.last.Memory, it.need.Found().Memory, it.last.CPU, it.at}, true
}

// Next is exec.Measurements's.
func (g *gauge) Next(ctx context.Context) ([]exec.Measurement, error) {
	tick := time.NewTicker(gaugeEvery)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			if all := g.sample(now); len(all) > 0 {
				return all, nil
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// sample measures all attempts, and returns which of them need something else than was
// last said.
func (g *gauge) sample(now time.Time) []exec.Measurement {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []exec.Measurement
	for key, it := range g.jobs {
		if !it.ended.IsZero() {
			if now.Sub(it.ended) > forgetFound {
				delete(g.jobs, key)
			}
			continue
		}
		p := g.host.Find(node.ID{Key: key})
		if p == nil || it.tasks == 0 {
			continue
		}
		use, err := p.Use()
		if err != nil {
			continue // it is about to end, or nothing measures here
		}
		waited, err := p.Waited()
		if err != nil {
			continue // likewise
		}
		it.need.Take(it.sampled(now, &use, waited, g.worth))
		if _, news := it.need.Tell(); news || now.Sub(it.said) >= tellAgain {
			told := it.need.Told()
			all = append(all, exec.Measurement{Key: key, CPU: told.CPU, Memory: told.Memory})
			it.said = now
		}
	}
	slices.SortFunc(all, func(a, b exec.Measurement) int {
		return cmp.Or(cmp.Compare(a.Key.Job, b.Key.Job), cmp.Compare(a.Key.Epoch, b.Key.Epoch), cmp.Compare(a.Key.Attempt, b.Key.Attempt))
	})
	return all
}

// sampled returns what was used since the sample before. Memory is that of all tasks,
// less what the kernel can take back at once, divided among them. Who waits for a
// processor because the host has others to run wants that time as well; of who is held
// back by its share only what it got is known.
func (it *gauged) sampled(now time.Time, use *cgroup.Use, waited time.Duration, worth cgroup.CPU) needs.Sample {
	tasks := int64(it.tasks)
	s := needs.Sample{Share: it.share, Limit: it.limit, Memory: (use.Memory - min(use.Cache, use.Memory) + tasks - 1) / tasks}
	span := now.Sub(it.at)
	if !it.at.IsZero() && span > 0 {
		used, throttled := use.CPU-it.last.CPU, use.Throttled-it.last.Throttled
		it.rate = float64(used) / float64(span)
		wanted := used
		if throttled <= span/heldBack {
			wanted += max(waited-it.waited, 0)
		}
		each := float64(wanted) / float64(span) / float64(tasks) * float64(cgroup.Processor) / float64(worth)
		if !it.mixed && !it.paused {
			s.Span, s.CPU, s.Throttled = micros(span), batch.Share(min(each, 1)*float64(batch.One)), micros(throttled)
		}
	}
	it.at, it.last, it.waited, it.mixed = now, *use, waited, it.paused
	return s
}
