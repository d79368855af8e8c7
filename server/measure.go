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

// gaugeEvery is the sampling interval of resource use.
const gaugeEvery = 2 * time.Second

// heldBack defines the share of time, 1/heldBack, that a task may be throttled by its quota without
// counting as limited by it, as in package needs.
const heldBack = 50

// reportAgain is the time after which the policy gets the same measurement again: it ignores
// measurements of attempts that are just being launched.
const reportAgain = time.Minute

// gauge measures the resource use of jobs' tasks and derives what they need. Its results are stored
// with the jobs, see keepMeasured.
type gauge struct {
	meter  meter
	worth  cgroup.CPU
	divide func(batch.Launch, []batch.NodeAllocation) ([][]batch.NodeAllocation, error) // see pool.Pool.Divide

	mu   sync.Mutex
	jobs map[batch.Key]*gauged
}

// gauged is the state of one attempt.
type gauged struct {
	launch     batch.Launch
	members    []member    // its processes, by rank
	share      batch.Share // the smallest share of its tasks
	need       *needs.Correction
	reportedAt time.Time  // last report to the policy
	kept       needs.Need // the durable value; zero if there is none
	ended      time.Time  // zero while it runs
	limit      int64
	paused     bool
	// mixed says that the attempt was paused, or had another share, during a part of the time since
	// at.
	mixed   bool
	changed time.Time // last pause or change of share
	at      time.Time // of the last sample
}

func newGauge(m meter, worth cgroup.CPU, nodes *pool.Pool) *gauge {
	return &gauge{meter: m, worth: worth, divide: nodes.Divide, jobs: make(map[batch.Key]*gauged)}
}

// enter adds an attempt, with its declared needs and, if known, its earlier measurements.
func (g *gauge) enter(
	key batch.Key, spec *batch.Job, before *site.Measured, launch batch.Launch, places []batch.NodeAllocation,
) {
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

// leave records that an attempt has ended. Its measurements stay until take.
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

// spread computes the number of tasks of each process of an attempt.
func (g *gauge) spread(it *gauged, places []batch.NodeAllocation) {
	parts, err := g.divide(it.launch, places)
	if err != nil {
		return // it cannot have been launched there
	}
	for rank, part := range parts {
		if rank == len(it.members) {
			it.members = append(it.members, member{})
		}
		it.members[rank].tasks, _ = tasksOf(part)
	}
}

// tasksOf returns the number of tasks and their smallest share.
func tasksOf(places []batch.NodeAllocation) (n int32, least batch.Share) {
	least = batch.One
	for _, l := range places {
		n, least = n+l.Processors, min(least, l.Share)
	}
	return n, least
}

// reading is the current measurement of an attempt.
type reading struct {
	need   batch.Share
	rate   float64 // processors of the host
	memory int64
	most   int64         // peak memory of one task, in bytes
	cpu    time.Duration // processor time used by the attempt
	at     time.Time     // of the sample; zero before the first
}

// read returns the current measurement of an attempt, false if there is none.
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

// sample measures all attempts and returns the needs that changed since the last report.
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
		if _, news := it.need.Report(); news || now.Sub(it.reportedAt) >= reportAgain {
			report := it.need.Reported()
			all = append(all, exec.Measurement{Key: key, CPU: report.CPU, Memory: report.Memory})
			it.reportedAt = now
		}
	}
	slices.SortFunc(all, func(a, b exec.Measurement) int {
		return cmp.Or(cmp.Compare(a.Key.Job, b.Key.Job), cmp.Compare(a.Key.Epoch, b.Key.Epoch),
			cmp.Compare(a.Key.Attempt, b.Key.Attempt))
	})
	return all
}

// take returns what the processes of an attempt used since the previous sample: CPU and memory per
// task, each of the process that uses most. CPU is unknown if a process was not measured. It
// returns false if a process has no new measurement.
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
	it.mixed = it.paused || !it.at.After(it.changed) // a node's measurement may be from before the change
	if !whole {
		s.Span, s.CPU, s.Throttled = 0, 0, 0
	}
	return s, true
}

// meter measures the resource use of processes.
type meter interface {
	// read returns the latest measurement of each process, by attempt.
	read(now time.Time) map[batch.Key][]usage
	// limits reports whether the memory of tasks is limited to the declared size.
	limits() bool
}

// usage is what a process has used since its start.
type usage struct {
	rank int32
	at   time.Time
	cgroup.Use
	// waited is how long its threads waited for a processor of a busy host.
	waited time.Duration
}

// nearMeter measures the processes on this host.
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
			continue // it is about to end
		}
		all[p.ID().Key] = append(all[p.ID().Key], usage{p.ID().Rank, now, use, waited})
	}
	return all
}

func (m nearMeter) limits() bool { return m.host.Offers().Of(cgroup.Memory) != cgroup.None }

// farMeter keeps the latest measurements from nodes. A measurement older than stale is of a process
// that has ended or of a node that does not answer.
type farMeter struct {
	hosts []*host
	stale time.Duration

	mu   sync.Mutex
	last map[node.ID]usage
}

func newFarMeter() *farMeter {
	return &farMeter{stale: 5 * gaugeEvery, last: make(map[node.ID]usage)}
}

// take implements remote.Config.Measured.
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

// limits reports whether all nodes that have answered limit memory.
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

// member is the state of one process of an attempt.
type member struct {
	tasks int32
	at    time.Time // of the last sample
	last  usage
	rate  float64 // processors of its host used since the previous sample
}

// take returns what a task has used since the previous sample. Memory is that of all tasks, minus
// page cache that the kernel can reclaim, divided by their number. A task that waits for a
// processor of a busy host wants that time, too; of a task throttled by its share only the time it
// got is known.
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
	// measuredEvery is the time between two writes of the measurements of running jobs, and so the
	// most that a killed server loses.
	measuredEvery = time.Minute
	// forgetFound is how long the measurements of an ended attempt wait for take.
	forgetFound = 10 * time.Minute
	// moreMemory defines the growth of peak memory, 1/moreMemory, that is worth another write.
	moreMemory = 16
)

// keepMeasured stores the measurements with the jobs: those of running jobs at intervals, in one
// transaction, and all when the server stops. The end of a job stores its own.
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

// noteMeasured writes the measurements that changed. A write that fails on a full disk is retried
// at the next interval.
func (s *Server) noteMeasured(ctx context.Context) {
	news := s.shared.gauge.changes()
	if len(news) == 0 {
		return
	}
	err := s.do(ctx, func() {
		for _, n := range news {
			s.core.Measured(n.key, measuredOf(n.found))
		}
	})
	if err != nil {
		s.log.Debug("write of measurements failed", "error", err)
		return
	}
	s.shared.gauge.wrote(news)
}

// takeMeasured returns and forgets the measurements of an ended attempt.
func (s *Server) takeMeasured(key batch.Key) (m site.Measured, known bool) {
	if s.shared == nil {
		return m, false
	}
	found, known := s.shared.gauge.take(key)
	return measuredOf(found), known
}

// Measured returns the measurements of a job: current ones if it runs, otherwise the stored ones.
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

// finding is the measurement of an attempt.
type finding struct {
	key   batch.Key
	found needs.Need
}

// knows reports whether there are measurements.
func (it *gauged) knows() bool { return !it.at.IsZero() || it.kept != needs.Need{} }

// found returns the measurements of an attempt, false if there are none.
func (g *gauge) found(key batch.Key) (needs.Need, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	it := g.jobs[key]
	if it == nil || !it.knows() {
		return needs.Need{}, false
	}
	return it.need.Found(), true
}

// take is found for an ended attempt, which it forgets.
func (g *gauge) take(key batch.Key) (needs.Need, bool) {
	found, known := g.found(key)
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.jobs, key)
	return found, known
}

// changes returns the measurements that are worth writing, ordered by job.
func (g *gauge) changes() []finding {
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

// wrote records that measurements are durable.
func (g *gauge) wrote(all []finding) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range all {
		if it := g.jobs[f.key]; it != nil {
			it.kept = f.found
		}
	}
}

// worthWriting reports whether a measurement differs enough from the durable one.
func worthWriting(kept, found needs.Need) bool {
	cpu := found.CPU - kept.CPU
	return cpu >= needs.Step || cpu <= -needs.Step || found.Memory > kept.Memory+kept.Memory/moreMemory
}
