package farm

import (
	"github.com/seed-9b8f70bb/drover/batch"
)

// meter measures a run. It is told what happens at an instant after pass has gone there.
type meter struct {
	in      *Instance
	now     batch.Time
	jobs    []watched // by index
	there   int       // jobs in the system
	ended   int
	killed  int
	usage   usage
	samples []int
	lately  batch.Time // that one ended, or came to an empty farm

	dated, late, hopeless   int
	lateness                batch.Duration
	preemptions, migrations int
}

// watched is what a job has come to.
type watched struct {
	state   state
	machine int32          // where it runs, or ran last; -1 before
	since   batch.Time     // it runs
	ran     batch.Duration // on machines, before since
	done    batch.Duration // of its estimate, before since
	end     batch.Time
}

// state is where a job is in its life.
type state uint8

const (
	absent state = iota // not yet, or no longer
	waiting
	running
)

func newMeter(in *Instance) *meter {
	m := &meter{in: in, jobs: make([]watched, len(in.Jobs)), usage: newUsage(in)}
	for i := range m.jobs {
		m.jobs[i].machine = -1
	}
	return m
}

// pass goes to an instant.
func (m *meter) pass(now batch.Time) {
	for at := batch.Time(len(m.samples)) * batch.Time(SampleEvery); at <= now; at += batch.Time(SampleEvery) {
		m.samples = append(m.samples, m.there)
	}
	m.usage.pass(now.Sub(m.now), m.there)
	m.now = now
}

func (m *meter) submitted(index int) {
	if m.there == 0 {
		m.lately = m.now
	}
	m.there++
	m.jobs[index].state = waiting
	m.usage.asked(m.in.Jobs[index].Licenses, 1)
}

// stop takes a job that runs from its machine.
func (m *meter) stop(index int) {
	w := &m.jobs[index]
	d := m.now.Sub(w.since)
	w.ran += d
	w.done += m.progress(index, d)
	w.state = waiting
	m.usage.active(m.in.Jobs[index].Licenses, -1)
}

// progress returns the work that a job does in a time where it runs.
func (m *meter) progress(index int, d batch.Duration) batch.Duration {
	return d.Times(int64(m.in.Machines[m.jobs[index].machine].Score), int64(m.in.Jobs[index].Reference))
}

// run puts a job that waits on a machine.
func (m *meter) run(index int, machine int32) {
	w := &m.jobs[index]
	if w.machine >= 0 && w.machine != machine {
		m.migrations++
	}
	w.state, w.machine, w.since = running, machine, m.now
	m.usage.active(m.in.Jobs[index].Licenses, 1)
}

func (m *meter) decided(index int, d *batch.Decision) {
	switch d.Kind {
	case batch.Start, batch.Resume:
		m.run(index, d.Allocation[0].Node)
	case batch.Pause:
		m.preemptions++
		m.stop(index)
	case batch.Migrate:
		m.preemptions++
		m.stop(index)
		m.run(index, d.Allocation[0].Node)
	case batch.SetShare, batch.Kill:
	}
}

func (m *meter) endOf(index int, killed bool) {
	w, j := &m.jobs[index], &m.in.Jobs[index]
	if w.state == running {
		m.stop(index)
	}
	w.state, w.end = absent, m.now
	m.usage.asked(j.Licenses, -1)
	m.there--
	m.ended++
	m.lately = m.now
	if killed {
		m.killed++
	}
	if j.Deadline == 0 {
		return
	}
	m.dated++
	if m.in.Hopeless(j) {
		m.hopeless++
	}
	if m.now > j.Deadline {
		m.late++
		m.lateness += m.now.Sub(j.Deadline)
	}
}

func (m *meter) row(c Case) Row {
	r := Row{
		Case: c, Ended: m.ended, Killed: m.killed, Dated: m.dated, Late: m.late, Hopeless: m.hopeless,
		Preemptions: m.preemptions, Migrations: m.migrations, Span: units(batch.Duration(m.lately)), Workload: m.samples,
	}
	r.MachineUsage, r.LicenseUsage = m.usage.means()
	if m.late > 0 {
		r.Lateness = units(m.lateness) / float64(m.late)
	}
	undated, wait := 0, batch.Duration(0)
	for i := range m.jobs { // by submission: the sum does not depend on who ends first
		w, j := &m.jobs[i], &m.in.Jobs[i]
		if w.end == 0 {
			continue
		}
		turnaround := w.end.Sub(j.Submit)
		wait += turnaround - w.ran
		if j.Deadline == 0 && w.ran > 0 {
			undated++
			s := float64(turnaround) / float64(w.ran)
			r.Slowdown += s
			r.WorstSlowdown = max(r.WorstSlowdown, s)
		}
	}
	if undated > 0 {
		r.Slowdown /= float64(undated)
	}
	if m.ended > 0 {
		r.Wait = units(wait) / float64(m.ended)
	}
	return r
}
