package server

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node/pool"
	"github.com/seed-9b8f70bb/drover/batch/plan/needs"
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
	meter  meter
	worth  cgroup.CPU
	divide func(batch.Launch, []batch.NodeAllocation) ([][]batch.NodeAllocation, error) // see pool.Pool.Divide

	mu   sync.Mutex
	jobs map[batch.Key]*gauged
}

// gauged is what is known of an attempt.
type gauged struct {
	launch  batch.Launch
	members []member    // its processes, by rank
	share   batch.Share // the least that a task has
	need    *needs.Correction
	said    time.Time  // when the policy was last told
	kept    needs.Need // found out, as it is on disk; zero for nothing
	ended   time.Time  // zero while it runs
	limit   int64
	paused  bool
	// mixed: it was paused, or had another share, in a part of the time since at.
	mixed   bool
	changed time.Time // when that was so last
	at      time.Time // of the last sample
}

func newGauge(m meter, worth cgroup.CPU, nodes *pool.Pool) *gauge {
	return &gauge{meter: m, worth: worth, divide: nodes.Divide, jobs: make(map[batch.Key]*gauged)}
}

// enter begins with what was declared and, if that is known, what was found out before.
func (g *gauge) enter(key batch.Key, spec *batch.Job, before *site.Measured, launch batch.Launch, places []batch.NodeAllocation) {
	it := &gauged{launch: launch, need: needs.New(needs.Need{CPU: spec.CPU, Memory: spec.Memory}), mixed: true}
	if before != nil {
		it.kept = needs.Need{CPU: before.CPU, Memory: before.Memory}
		it.need.Recall(it.kept)
	}
	_, it.share = tasksOf(places)
	g.spread(it, places)
	if g.meter.limits() {
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
		it.paused, it.mixed, it.changed = paused, true, time.Now()
	}
}

func (g *gauge) share(key batch.Key, places []batch.NodeAllocation) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if it := g.jobs[key]; it != nil {
		_, share := tasksOf(places)
		if share != it.share {
			it.share, it.mixed, it.changed = share, true, time.Now()
		}
		g.spread(it, places)
	}
}

// spread says how many tasks each process of an attempt is.
func (g *gauge) spread(it *gauged, places []batch.NodeAllocation) {
	parts, err := g.divide(it.launch, places)
	if err != nil {
		return // nothing can have been launched there
	}
	for rank, part := range parts {
		if rank == len(it.members) {
			it.members = append(it.members, member{})
		}
		it.members[rank].tasks, _ = tasksOf(part)
	}
}

// tasksOf returns how many tasks there are, and the least share that one of them has.
func tasksOf(places []batch.NodeAllocation) (n int32, least batch.Share) {
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
	r := reading{need: it.need.Need().CPU, most: it.need.Found().Memory, at: it.at}
	for i := range it.members {
		m := &it.members[i]
		r.rate, r.memory, r.cpu = r.rate+m.rate, r.memory+m.last.Memory, r.cpu+m.last.CPU
	}
	return r, true
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
	used := g.meter.read(now)
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
		sample, news := it.take(used[key], g.worth)
		if !news {
			continue // it is about to end, or nothing measures here
		}
		it.need.Take(sample)
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

// take returns what was used since the sample before, of all processes at once: CPU and
// memory of a task of that which uses most for each. Nothing is learned of CPU where one
// of them was not measured. It returns false when there is nothing new of one that was.
func (it *gauged) take(used []usage, worth cgroup.CPU) (needs.Sample, bool) {
	s := needs.Sample{Share: it.share, Limit: it.limit}
	known := 0
	for _, u := range used {
		if int(u.rank) >= len(it.members) {
			continue
		}
		if m := &it.members[u.rank]; m.tasks == 0 || !u.at.After(m.at) {
			return s, false
		}
		known++
	}
	if known == 0 {
		return s, false
	}
	whole := known == len(it.members) && !it.mixed && !it.paused
	for _, u := range used {
		if int(u.rank) >= len(it.members) {
			continue
		}
		one := it.members[u.rank].take(&u, worth)
		whole = whole && one.Span > 0
		if s.Span == 0 || one.Span < s.Span {
			s.Span = one.Span
		}
		s.CPU, s.Throttled, s.Memory = max(s.CPU, one.CPU), max(s.Throttled, one.Throttled), max(s.Memory, one.Memory)
		it.at = u.at
	}
	it.mixed = it.paused || !it.at.After(it.changed) // a node may tell of the time before
	if !whole {
		s.Span, s.CPU, s.Throttled = 0, 0, 0
	}
	return s, true
}
