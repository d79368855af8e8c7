package fractional

import (
	"github.com/seed-9b8f70bb/drover/batch"
)

// leastTime is the lower limit of turnarounds and runtimes.
const leastTime = 10 * batch.Second

// meter measures a run.
type meter struct {
	in    *Instance
	jobs  []watched // by handle
	moved []int32   // scratch: tasks that have left, by node
	ended int

	maxStretch float64
	stretches  []float64  // by job: their sum does not depend on the order of ends
	last       batch.Time // that one ended
	lately     batch.Time // that one ended, or came to an empty machine

	preemptions, migrations       int
	preemptedBytes, migratedBytes int64

	demand int64      // now, in shares of a node
	since  batch.Time // until when it is integrated
	area   batch.Area // of min(nodes, demand)
}

// watched is a job in the system.
type watched struct {
	index  int // in the instance
	places []batch.NodeAllocation
	paused batch.Time // when; Never if it is not
}

func newMeter(in *Instance) *meter {
	return &meter{in: in, moved: make([]int32, in.Nodes), stretches: make([]float64, len(in.Jobs))}
}

// pass integrates the demand until now.
func (m *meter) pass(now batch.Time) {
	used := min(m.demand, int64(m.in.Nodes)*int64(batch.One))
	m.area = m.area.Add(batch.AreaOf(int32(used), now.Sub(m.since)))
	m.since = now
}

func (m *meter) submitted(now batch.Time, h batch.Handle, index int) {
	m.pass(now)
	if m.demand == 0 {
		m.lately = now
	}
	m.demand += m.in.Jobs[index].rate()
	for int(h) >= len(m.jobs) {
		m.jobs = append(m.jobs, watched{})
	}
	m.jobs[h] = watched{index: index, places: m.jobs[h].places[:0], paused: batch.Never}
}

func (m *meter) endOf(now batch.Time, h batch.Handle) {
	m.pass(now)
	index := m.jobs[h].index
	j := &m.in.Jobs[index]
	m.demand -= j.rate()
	turnaround := max(now.Sub(j.Submit), leastTime)
	stretch := float64(turnaround) / float64(max(j.Runtime, leastTime))
	m.stretches[index] = stretch
	m.maxStretch = max(m.maxStretch, stretch)
	m.last, m.lately = now, now
	m.ended++
}

// decided counts moves. It is not called for a policy that never moves jobs.
func (m *meter) decided(now batch.Time, h batch.Handle, d *batch.Decision) {
	w := &m.jobs[h]
	memory := m.in.Jobs[w.index].Memory
	switch d.Kind {
	case batch.Pause:
		w.paused = now
		return
	case batch.Resume:
		if w.paused == now {
			m.migrated(w, memory, d.Allocation)
		} else {
			m.preemptions++
			m.preemptedBytes += 2 * int64(m.in.Jobs[w.index].Tasks) * memory
		}
		w.paused = batch.Never
	case batch.Migrate:
		m.migrated(w, memory, d.Allocation)
	case batch.Start:
	case batch.SetShare, batch.Kill:
		return
	}
	w.places = append(w.places[:0], d.Allocation...)
}

// migrated counts a job that moves without a pause, and those of its tasks that change
// their node.
func (m *meter) migrated(w *watched, memory int64, to []batch.NodeAllocation) {
	for i := range w.places {
		m.moved[w.places[i].Node] += w.places[i].Processors
	}
	for i := range to {
		m.moved[to[i].Node] -= to[i].Processors
	}
	tasks := int64(0)
	for _, places := range [][]batch.NodeAllocation{w.places, to} {
		for i := range places {
			n := places[i].Node
			tasks += int64(max(0, m.moved[n]))
			m.moved[n] = 0
		}
	}
	m.migrations++
	m.migratedBytes += 2 * tasks * memory
}

func (m *meter) row(c Case) Row {
	r := Row{
		Case: c, Jobs: len(m.in.Jobs), MaxStretch: m.maxStretch,
		Preemptions: m.preemptions, Migrations: m.migrations,
		PreemptedBytes: m.preemptedBytes, MigratedBytes: m.migratedBytes,
		Demand: m.area.Seconds() / float64(batch.One),
	}
	if len(m.in.Jobs) == 0 {
		return r
	}
	r.Span = m.last.Sub(m.in.Jobs[0].Submit)
	work, sum := batch.Area{}, 0.
	for i := range m.in.Jobs {
		work = work.Add(batch.AreaOf(int32(m.in.Jobs[i].rate()), m.in.Jobs[i].Runtime))
		sum += m.stretches[i]
	}
	r.Work = work.Seconds() / float64(batch.One)
	r.MeanStretch = sum / float64(len(m.in.Jobs))
	return r
}
