package farm

import (
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// meter measures a run. It gets the events of an instant after pass has moved there.
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
		Preemptions: m.preemptions, Migrations: m.migrations, Span: units(batch.Duration(m.lately)),
		Workload: m.samples,
	}
	r.MachineUsage, r.LicenseUsage = m.usage.means()
	if m.late > 0 {
		r.Lateness = units(m.lateness) / float64(m.late)
	}
	undated, wait := 0, batch.Duration(0)
	for i := range m.jobs { // by submission: the sum does not depend on the order of ends
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

// stopwatch measures what a policy takes. Its clock may be nil.
type stopwatch struct {
	batch.Policy
	clock func() time.Duration

	now   time.Duration   // of this instant so far
	plans []time.Duration // of all instants before
}

// Apply implements batch.Policy.
func (s *stopwatch) Apply(now batch.Time, ev *batch.Event) {
	defer s.begin()()
	s.Policy.Apply(now, ev)
}

// Decide implements batch.Policy.
func (s *stopwatch) Decide(now batch.Time, out *batch.Decisions) {
	defer s.begin()()
	s.Policy.Decide(now, out)
}

// begin begins to measure; what it returns ends it.
func (s *stopwatch) begin() func() {
	if s.clock == nil {
		return func() {}
	}
	from := s.clock()
	return func() { s.now += s.clock() - from }
}

// planned says that all is done for this instant.
func (s *stopwatch) planned() {
	s.plans = append(s.plans, s.now)
	s.now = 0
}

func (s *stopwatch) cost(c Case) Cost {
	cost := Cost{Case: c, Plans: len(s.plans)}
	if len(s.plans) == 0 {
		return cost
	}
	all := time.Duration(0)
	for _, d := range s.plans {
		all += d
	}
	cost.Seconds, cost.First = all.Seconds(), s.plans[0].Seconds()
	if later := slices.Sorted(slices.Values(s.plans[1:])); len(later) > 0 {
		cost.Median, cost.Longest = later[len(later)/2].Seconds(), later[len(later)-1].Seconds()
	}
	return cost
}

// usage integrates what of the farm is in use, over what could be.
type usage struct {
	machines, running int
	copies            []int32
	requests          []int32 // of each license: jobs in the system that ask for it
	held, could       int     // copies of all licenses: in use, and that could be

	time, machine        float64 // while there are jobs, in units
	licenseTime, license float64 // while there are jobs that ask for one
}

func newUsage(in *Instance) usage {
	return usage{machines: len(in.Machines), copies: in.Copies, requests: make([]int32, len(in.Copies))}
}

// pass integrates over a time in which nothing has changed, with so many jobs there.
func (u *usage) pass(d batch.Duration, there int) {
	t := units(d)
	if there > 0 {
		u.time += t
		u.machine += float64(t * float64(u.running) / float64(min(u.machines, there)))
	}
	if u.could > 0 {
		u.licenseTime += t
		u.license += float64(t * float64(u.held) / float64(u.could))
	}
}

// asked says that a job that asks for licenses has come, by 1, or gone, by -1.
func (u *usage) asked(licenses []int32, by int32) {
	for _, l := range licenses {
		before := min(u.copies[l], u.requests[l])
		u.requests[l] += by
		u.could += int(min(u.copies[l], u.requests[l]) - before)
	}
}

// active says that a job with licenses begins to use a machine, by 1, or ceases, by -1.
func (u *usage) active(licenses []int32, by int) {
	u.running += by
	u.held += by * len(licenses)
}

// means returns the means over time, 0 where there was nothing to be used.
func (u *usage) means() (machine, license float64) {
	if u.time > 0 {
		machine = u.machine / u.time
	}
	if u.licenseTime > 0 {
		license = u.license / u.licenseTime
	}
	return machine, license
}
