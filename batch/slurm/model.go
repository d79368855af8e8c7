package slurm

import (
	"github.com/seed-9b8f70bb/drover/batch"
)

// model is the cluster as the last look has shown it, under a policy that decides
// much as Slurm does, with what has been ordered since. Its time stands still at the
// look: estimates are of that instant, and their age is told. A nil model knows
// nothing.
type model struct {
	policy batch.Policy
	width  int32
	now    batch.Time
	next   batch.Handle
	own    map[batch.Key]*standing
	byJob  map[batch.Handle]*standing
	rows   map[string]batch.Handle // of jobs that wait, by Slurm's id
	pass1  batch.Decisions
	dirty  bool
}

// standing is one of our attempts in the model.
type standing struct {
	job     *batch.Job
	held    bool
	started bool
}

// longest is the walltime of jobs without a limit: as good as for ever, and sums of
// it stay instants.
const longest = 365 * 24 * batch.Hour

func newModel(factory batch.Factory, settings batch.Settings, nodes []NodeRow, now batch.Time) (*model, error) {
	p := platform(nodes)
	for i := range p.Nodes {
		p.Nodes[i].Memory = 0 // Slurm's own business
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	policy, err := factory(p, settings)
	if err != nil {
		return nil, err
	}
	return &model{
		policy: policy, width: p.Width(), now: now, next: 1, own: make(map[batch.Key]*standing),
		byJob: make(map[batch.Handle]*standing), rows: make(map[string]batch.Handle),
	}, nil
}

func (m *model) apply(ev batch.Event) {
	m.policy.Apply(m.now, &ev)
	m.dirty = true
}

// pass has the policy decide about what was applied since the last time.
func (m *model) pass() {
	if m == nil || !m.dirty {
		return
	}
	m.pass1.Reset()
	m.policy.Decide(m.now, &m.pass1)
	for i := range m.pass1.List {
		if st := m.byJob[m.pass1.List[i].Job]; st != nil {
			st.started = true
		}
	}
	m.dirty = false
}

// job makes a spec for the policy, with whole minutes; nil if no machine here is
// wide enough.
func (m *model) job(like *batch.Job, shape batch.Shape) *batch.Job {
	if shape.Width < 1 || shape.Width > m.width {
		return nil
	}
	j := batch.Job{}
	if like != nil {
		j = batch.Job{EarliestStart: like.EarliestStart, Owner: like.Owner, Name: like.Name}
	}
	j.Handle = m.next
	j.Shape = batch.Shape{Width: shape.Width, Walltime: min(max(Limit(shape.Walltime), batch.Minute), longest)}
	m.next++
	return &j
}

// runs puts in a job that runs.
func (m *model) runs(width int32, limit, used batch.Duration, free *int32) {
	width = min(width, *free)
	j := m.job(nil, batch.Shape{Width: width, Walltime: limit})
	if j == nil {
		return
	}
	*free -= width
	m.apply(batch.Event{Kind: batch.Adopt, Job: j.Handle, Spec: j, Since: m.now - batch.Time(min(used, longest))})
}

// waits puts in a job that waits, behind those before it. From is when it may start
// at the earliest; 0 for at once.
func (m *model) waits(shape batch.Shape, from batch.Time, id string) {
	j := m.job(nil, shape)
	if j == nil {
		return
	}
	j.EarliestStart = from
	if _, twice := m.rows[id]; !twice { // the first element of an array
		m.rows[id] = j.Handle
	}
	m.apply(batch.Event{Kind: batch.Submit, Job: j.Handle, Spec: j})
}

// enter puts in an attempt of ours that Slurm does not show: it waits here, is
// reserved, or is on its way.
func (m *model) enter(a *attempt) {
	if m == nil {
		return
	}
	j := m.job(a.job, a.shape)
	if j == nil {
		return
	}
	m.pass()
	kind := batch.Submit
	if a.phase == batch.PhaseReserved {
		kind = batch.Reserve
	}
	m.apply(batch.Event{Kind: kind, Job: j.Handle, Spec: j})
	m.know(a.key, j)
	if a.want == toHold || a.aside {
		m.hold(a.key)
	}
	m.pass()
}

// know notes what a job of the model is.
func (m *model) know(key batch.Key, j *batch.Job) {
	st := &standing{job: j}
	m.own[key], m.byJob[j.Handle] = st, st
}

// waiting returns an attempt that the model has waiting.
func (m *model) waiting(key batch.Key) *standing {
	if m == nil {
		return nil
	}
	if st := m.own[key]; st != nil && !st.started {
		return st
	}
	return nil
}

func (m *model) hold(key batch.Key) {
	st := m.waiting(key)
	if st == nil || st.held {
		return
	}
	m.pass()
	if st.started {
		return
	}
	st.held = true
	m.apply(batch.Event{Kind: batch.Hold, Job: st.job.Handle})
}

// confirm lets a reserved attempt wait like others.
func (m *model) confirm(a *attempt, aside bool) {
	st := m.waiting(a.key)
	if st == nil {
		return
	}
	m.pass()
	st.held = false
	if aside {
		m.apply(batch.Event{Kind: batch.Place, Job: st.job.Handle, Shape: st.job.Shape, Restore: true})
	} else {
		m.apply(batch.Event{Kind: batch.Confirm, Job: st.job.Handle})
	}
	m.pass()
}

// place puts an attempt in with the shape it has now.
func (m *model) place(a *attempt, restore bool) {
	st := m.waiting(a.key)
	if st == nil {
		return
	}
	m.pass()
	if st.started {
		return
	}
	if a.shape.Width > m.width {
		m.leave(a.key)
		return
	}
	st.held = false
	placed := *st.job // the policy keeps the one it was given
	placed.Shape = batch.Shape{Width: a.shape.Width, Walltime: min(Limit(a.shape.Walltime), longest)}
	st.job = &placed
	m.apply(batch.Event{Kind: batch.Place, Job: placed.Handle, Shape: placed.Shape, Restore: restore})
	m.pass()
}

// leave takes an attempt out.
func (m *model) leave(key batch.Key) {
	if m == nil {
		return
	}
	st := m.own[key]
	if st == nil {
		return
	}
	m.pass()
	kind := batch.Cancel
	if st.started {
		kind = batch.Finish
	}
	m.apply(batch.Event{Kind: kind, Job: st.job.Handle})
	delete(m.own, key)
	delete(m.byJob, st.job.Handle)
	m.pass()
}
