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
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
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

// Next implements exec.Measurements.
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

// meter says what processes use.
type meter interface {
	// read returns for each attempt what was measured last of each of its processes.
	read(now time.Time) map[batch.Key][]usage
	// limits says whether memory is held to what was declared.
	limits() bool
}

// usage is what a process has used since its start.
type usage struct {
	rank int32
	at   time.Time
	cgroup.Use
	// waited is how long its threads have waited for a processor of a busy host.
	waited time.Duration
}

// nearMeter measures what runs on this host.
type nearMeter struct{ host *node.Host }

func (m nearMeter) read(now time.Time) map[batch.Key][]usage {
	all := make(map[batch.Key][]usage)
	for _, p := range m.host.Running() {
		use, err := p.Use()
		if err != nil {
			continue // it is about to end, or nothing measures here
		}
		waited, err := p.Waited()
		if err != nil {
			continue // likewise
		}
		all[p.ID().Key] = append(all[p.ID().Key], usage{p.ID().Rank, now, use, waited})
	}
	return all
}

func (m nearMeter) limits() bool { return m.host.Offers().Of(cgroup.Memory) != cgroup.None }

// farMeter keeps what nodes have said. What is older than stale is of processes that have
// ended, or of a node that does not answer.
type farMeter struct {
	hosts []*host
	stale time.Duration

	mu   sync.Mutex
	last map[node.ID]usage
}

func newFarMeter() *farMeter {
	return &farMeter{stale: 5 * gaugeEvery, last: make(map[node.ID]usage)}
}

// take is remote.Config's Measured.
func (m *farMeter) take(all []node.Measurement) {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, one := range all {
		m.last[one.ID] = usage{one.ID.Rank, now, one.Use, one.Waited}
	}
}

func (m *farMeter) read(now time.Time) map[batch.Key][]usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make(map[batch.Key][]usage)
	for id, u := range m.last {
		if now.Sub(u.at) > m.stale {
			delete(m.last, id)
			continue
		}
		all[id.Key] = append(all[id.Key], u)
	}
	return all
}

// limits says whether all nodes that have answered hold memory.
func (m *farMeter) limits() bool {
	for _, h := range m.hosts {
		for _, o := range h.offers() {
			if o.Ability == cgroup.Memory.String() && o.Way == cgroup.None.String() {
				return false
			}
		}
	}
	return true
}

// member is what is known of one process of an attempt.
type member struct {
	tasks int32
	at    time.Time // of the last sample
	last  usage
	rate  float64 // processors of its host used since the sample before
}

// take returns what a task has used since the sample before. Memory is that of all tasks,
// less what the kernel can take back at once, divided among them. Who waits for a
// processor because the host has others to run wants that time as well; of who is held
// back by its share only what it got is known.
func (m *member) take(u *usage, worth cgroup.CPU) needs.Sample {
	tasks := int64(m.tasks)
	s := needs.Sample{Memory: (u.Memory - min(u.Cache, u.Memory) + tasks - 1) / tasks}
	span := u.at.Sub(m.at)
	if !m.at.IsZero() && span > 0 {
		used, throttled := u.CPU-m.last.CPU, u.Throttled-m.last.Throttled
		m.rate = float64(used) / float64(span)
		wanted := used
		if throttled <= span/heldBack {
			wanted += max(u.waited-m.last.waited, 0)
		}
		each := float64(wanted) / float64(span) / float64(tasks) * float64(cgroup.Processor) / float64(worth)
		s.Span, s.CPU, s.Throttled = micros(span), batch.Share(min(each, 1)*float64(batch.One)), micros(throttled)
	}
	m.at, m.last = u.at, *u
	return s
}

const (
	// measuredEvery is the time between two writings of what was found out of the jobs
	// that run: what a server that is killed has to find out anew, at most.
	measuredEvery = time.Minute
	// forgetFound is how long what was found out of an attempt that has ended waits to be
	// taken.
	forgetFound = 10 * time.Minute
	// moreMemory is the part by which the highest use of memory grows before it is written
	// again.
	moreMemory = 16
)

// keepMeasured has what is found out of jobs kept with them: now and then of those that
// run, all in one transaction, and of the rest when the server stops. The end of a job
// takes its own along.
func (s *Server) keepMeasured() {
	tick := time.NewTicker(cmp.Or(s.cfg.measured, measuredEvery))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.noteMeasured(s.life)
		case <-s.life.Done():
			s.noteMeasured(context.WithoutCancel(s.life))
			return
		}
	}
}

// noteMeasured writes what has changed. What finds no room on the disk is written another
// time.
func (s *Server) noteMeasured(ctx context.Context) {
	news := s.shared.gauge.news()
	if len(news) == 0 {
		return
	}
	err := s.do(ctx, func() {
		for _, n := range news {
			s.core.Measured(n.key, measuredOf(n.found))
		}
	})
	if err != nil {
		s.log.Debug("what jobs need was not written", "error", err)
		return
	}
	s.shared.gauge.wrote(news)
}

// takeMeasured returns what was found out of an attempt that has ended.
func (s *Server) takeMeasured(key batch.Key) (m site.Measured, known bool) {
	if s.shared == nil {
		return m, false
	}
	found, known := s.shared.gauge.take(key)
	return measuredOf(found), known
}

// Measured returns what was measured of a job: up to now if it runs, otherwise up to
// the last write.
func (s *Server) Measured(j *site.Job) (m site.Measured, known bool) {
	if s.shared != nil {
		if found, known := s.shared.gauge.found(j.Key()); known {
			return measuredOf(found), true
		}
	}
	if j.Measured == nil {
		return m, false
	}
	return *j.Measured, true
}

func measuredOf(n needs.Need) site.Measured { return site.Measured{CPU: n.CPU, Memory: n.Memory} }

// finding is what was found out of an attempt.
type finding struct {
	key   batch.Key
	found needs.Need
}

// knows says whether something was found out of it.
func (it *gauged) knows() bool { return !it.at.IsZero() || it.kept != needs.Need{} }

// found returns what was found out of an attempt, false if nothing was.
func (g *gauge) found(key batch.Key) (needs.Need, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	it := g.jobs[key]
	if it == nil || !it.knows() {
		return needs.Need{}, false
	}
	return it.need.Found(), true
}

// take is found of an attempt that has ended, which is forgotten with it.
func (g *gauge) take(key batch.Key) (needs.Need, bool) {
	found, known := g.found(key)
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.jobs, key)
	return found, known
}

// news returns what was found out and is worth writing, in the order of the jobs.
func (g *gauge) news() []finding {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []finding
	for key, it := range g.jobs {
		found := it.need.Found()
		if it.knows() && worthWriting(it.kept, found) {
			all = append(all, finding{key, found})
		}
	}
	slices.SortFunc(all, func(a, b finding) int { return cmp.Compare(a.key.Job, b.key.Job) })
	return all
}

// wrote notes that these are on disk.
func (g *gauge) wrote(all []finding) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range all {
		if it := g.jobs[f.key]; it != nil {
			it.kept = f.found
		}
	}
}

// worthWriting says whether something else was found out than what is on disk.
func worthWriting(kept, found needs.Need) bool {
	cpu := found.CPU - kept.CPU
	return cpu >= needs.Step || cpu <= -needs.Step || found.Memory > kept.Memory+kept.Memory/moreMemory
}
