package slurm

import (
	"slices"

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
	byJob  []*standing             // those of own, by their handles
	rows   map[string]batch.Handle // of jobs that wait, by Slurm's id
	specs  []batch.Job             // room for the next jobs: very many are made for each look
	known  []standing              // and for what is known of our own
	pass1  batch.Decisions
	dirty  bool
}

// atOnce is how many jobs the model makes room for at once.
const atOnce = 512

// standing is one of our attempts in the model.
type standing struct {
	job     *batch.Job
	held    bool
	started bool
}

// longest is the walltime of jobs without a limit: as good as for ever, and sums of
// it stay instants.
const longest = 365 * 24 * batch.Hour

// newModel makes a model in which about so many of our attempts will be.
func newModel(factory batch.Factory, settings batch.Settings, nodes []NodeRow, now batch.Time, own int) (*model, error) {
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
		policy: policy, width: p.Width(), now: now, next: 1, own: make(map[batch.Key]*standing, own),
		byJob: make([]*standing, 0, own), rows: make(map[string]batch.Handle),
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
		if h := int(m.pass1.List[i].Job); h < len(m.byJob) && m.byJob[h] != nil {
			m.byJob[h].started = true
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
	if len(m.specs) == 0 {
		m.specs = make([]batch.Job, atOnce)
	}
	j := &m.specs[0]
	m.specs = m.specs[1:]
	if like != nil {
		j.EarliestStart, j.Owner, j.Name = like.EarliestStart, like.Owner, like.Name
	}
	j.Handle = m.next
	j.Shape = m.shape(shape)
	m.next++
	return j
}

// shape is what the model makes of one: whole minutes.
func (m *model) shape(shape batch.Shape) batch.Shape {
	return batch.Shape{Width: shape.Width, Walltime: min(max(Limit(shape.Walltime), batch.Minute), longest)}
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

// waits puts in a job that waits, behind those before it, and returns it. From is when
// it may start at the earliest; 0 for at once.
func (m *model) waits(shape batch.Shape, from batch.Time, id string) *batch.Job {
	j := m.job(nil, shape)
	if j == nil {
		return nil
	}
	j.EarliestStart = from
	if _, twice := m.rows[id]; !twice { // the first element of an array
		m.rows[id] = j.Handle
	}
	m.apply(batch.Event{Kind: batch.Submit, Job: j.Handle, Spec: j})
	return j
}

// enter puts in an attempt of ours that Slurm does not show, as the last one: it
// waits here, is reserved, or is on its way.
func (m *model) enter(a *attempt) {
	if m == nil {
		return
	}
	m.pass()
	m.append(a)
	m.pass()
	if a.held() {
		m.hold(a)
	}
}

// append is enter for many: the passes, and the holds after them, are its caller's.
// What is held is reserved, so that no pass starts it before.
func (m *model) append(a *attempt) {
	j := m.job(a.job, a.shape)
	if j == nil {
		return
	}
	kind := batch.Submit
	if a.phase == batch.PhaseReserved || a.held() {
		kind = batch.Reserve
	}
	m.apply(batch.Event{Kind: kind, Job: j.Handle, Spec: j})
	m.know(a.key, j)
}

// know notes what a job of the model is.
func (m *model) know(key batch.Key, j *batch.Job) {
	if len(m.known) == 0 {
		m.known = make([]standing, atOnce)
	}
	st := &m.known[0]
	m.known = m.known[1:]
	st.job = j
	m.own[key] = st
	m.file(st)
}

// file notes whose a handle is.
func (m *model) file(st *standing) {
	h := int(st.job.Handle)
	if h >= len(m.byJob) {
		m.byJob = slices.Grow(m.byJob, h+1-len(m.byJob))[:h+1]
	}
	m.byJob[h] = st
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

// hold takes attempts that wait out of the plan.
func (m *model) hold(all ...*attempt) {
	m.pass()
	for _, a := range all {
		m.recall(a)
		if st := m.waiting(a.key); st != nil && !st.held {
			st.held = true
			m.apply(batch.Event{Kind: batch.Hold, Job: st.job.Handle})
		}
	}
}

// recall has one that the model has started, and Slurm has not, wait again, as the last
// one.
func (m *model) recall(a *attempt) {
	if m == nil || m.own[a.key] == nil || !m.own[a.key].started {
		return
	}
	m.leave(a.key)
	m.append(a)
	m.pass()
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
	m.pass()
	m.recall(a)
	st := m.waiting(a.key)
	if st == nil {
		return
	}
	if a.shape.Width > m.width {
		m.leave(a.key)
		return
	}
	st.held = false
	placed := *st.job // the policy keeps the one it was given
	placed.Shape = m.shape(a.shape)
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
	m.byJob[st.job.Handle] = nil
	m.pass()
}
