package external

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

const (
	// maxModeled bounds the other users' waiting jobs in the model. The forecaster
	// summarizes everything behind the first few thousand anyway.
	maxModeled = 20_000
	// lateness is how much later than the model's the cluster's planned start must be to
	// count: a cluster updates its plan only now and then.
	lateness = batch.Minute
	// longest replaces the walltime of jobs without a limit. Sums of it fit an instant.
	longest = 365 * 24 * batch.Hour
	// chunk is how many jobs and modeled attempts are allocated together.
	chunk = 512
)

// model is the cluster as the last poll showed it, under a policy close to the
// cluster's, with the commands since. Its clock stands still at the poll. The methods of
// a nil model do nothing.
type model struct {
	policy    batch.Policy
	limit     func(batch.Duration) batch.Duration // Cluster.Limit
	width     int32
	now       batch.Time
	next      batch.Handle
	own       map[batch.Key]*modeled
	byHandle  []*modeled              // those of own
	handles   map[string]batch.Handle // of waiting jobs, by the cluster's ID
	jobs      []batch.Job             // unused part of the current chunk
	spare     []modeled               // the same for own
	decisions batch.Decisions
	dirty     bool // the policy has not decided about the last events
}

// modeled is one of Drover's attempts in the model.
type modeled struct {
	job     *batch.Job
	held    bool
	started bool
}

// ask asks when the attempt starts.
func (m *modeled) ask() batch.Ask {
	return batch.Ask{Job: m.job, Shapes: []batch.Shape{m.job.Shape}}
}

// rebuildModel makes the model from the last poll. Called with mu held.
func (s *System) rebuildModel() {
	m, err := s.buildModel(nil)
	if err != nil {
		if !s.noModel {
			s.log.Warn("no estimates until nodes of the site are usable", "error", err)
		}
		s.model, s.noModel = nil, true
		return
	}
	if s.noModel {
		s.noModel = false
		s.log.Info("estimates are available again")
	}
	if late := s.laterStarts(m); len(late) > 0 {
		if m, err = s.buildModel(late); err != nil {
			m = nil
		}
	}
	s.model = m
}

// buildModel adds the jobs that run, then those that wait in the cluster by priority,
// then the local queue. earliest has, by job ID, the earliest starts of jobs that wait
// for something that the model does not contain.
func (s *System) buildModel(earliest map[string]batch.Time) (*model, error) {
	s.forecaster = s.cfg.Forecasters() // it caches what it knows of one policy
	m, err := newModel(&s.cfg, &s.view.nodes, instant(s.view.taken), len(s.queue)+s.queued)
	if err != nil {
		return nil, err
	}
	free := m.width
	var waiting []*Job
	for i := range s.view.jobs {
		j := &s.view.jobs[i]
		if !s.view.nodes.contains(j.Partitions) {
			continue
		}
		switch j.Phase {
		case batch.PhaseStarting, batch.PhaseRunning, batch.PhasePaused:
			m.addRunning(j, &free)
		case batch.PhaseQueued:
			waiting = append(waiting, j)
		}
	}
	m.pass()
	slices.SortStableFunc(waiting, byPriority)
	shown := make(map[batch.Key]bool)
	for _, j := range waiting {
		if m.next > maxModeled {
			break
		}
		s.addWaiting(m, j, earliest[j.ID], shown)
	}
	m.pass()
	var held []*attempt
	for _, a := range s.unseen(shown) {
		m.append(a)
		if a.held() {
			held = append(held, a)
		}
	}
	m.hold(held...)
	m.pass()
	return m, nil
}

// addWaiting adds a job that waits in the cluster, an array as one job per element. It
// adds Drover's attempts to shown.
func (s *System) addWaiting(m *model, j *Job, earliest batch.Time, shown map[batch.Key]bool) {
	if j.Blocked && j.Start.IsZero() {
		return // the cluster does not plan it either
	}
	shape := batch.Shape{Width: j.Processors, Walltime: j.Limit}
	key, own := Identify(s.cfg.Site, j.Name, j.Comment)
	a := s.attempts[key]
	if !own || a == nil || a.stage != submitted {
		for range min(j.Tasks, maxModeled-int(m.next)) {
			m.queue(shape, earliest, j.ID)
		}
		return
	}
	if a.leaving() || a.desired == wantHeld {
		return // held ones are among the unseen
	}
	shown[key] = true
	if job := m.queue(shape, earliest, j.ID); job != nil {
		m.remember(key, job)
	}
}

// unseen returns the attempts that wait but are not among the cluster's waiting jobs:
// local, held, or on their way.
func (s *System) unseen(shown map[batch.Key]bool) []*attempt {
	list := slices.Clone(s.queue)
	for key, a := range s.attempts {
		if a.live() && a.stage != local && a.waits() && a.desired != wantCancelled && !shown[key] && a.missed == 0 {
			list = append(list, a)
		}
	}
	if len(list) > len(s.queue) {
		slices.SortFunc(list, byPosition)
	}
	return list
}

// byPriority sorts jobs as the cluster considers them: by priority, then by age.
func byPriority(a, b *Job) int {
	return cmp.Or(
		cmp.Compare(b.Priority, a.Priority), a.Submitted.Compare(b.Submitted),
		cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID),
	)
}

// laterStarts returns the cluster's planned starts, by job ID, of jobs that the model
// would start much earlier. They wait for something that the model does not contain: a
// license, a reservation, a limit of their user.
func (s *System) laterStarts(m *model) map[string]batch.Time {
	var asks []batch.Ask
	var jobs []*Job
	for i := range s.view.jobs {
		j := &s.view.jobs[i]
		h, ok := m.handles[j.ID]
		if !ok || j.Start.IsZero() || !j.Start.After(s.view.taken) || j.Processors < 1 || j.Tasks > 1 {
			continue
		}
		jobs = append(jobs, j)
		shape := m.shape(batch.Shape{Width: j.Processors, Walltime: j.Limit})
		asks = append(asks, batch.Ask{Job: &batch.Job{Handle: h, Shape: shape}, Shapes: []batch.Shape{shape}})
	}
	if len(asks) == 0 {
		return nil
	}
	out := make([]batch.Estimate, len(asks))
	if !s.forecaster.Estimate(m.now, m.policy, asks, out) {
		return nil
	}
	late := make(map[string]batch.Time)
	for i, j := range jobs {
		start := out[i].Starts[0]
		if start == batch.Never { // the model has started it already
			start = m.now
		}
		if planned := instant(j.Start); planned > start.Add(lateness) {
			late[j.ID] = planned
		}
	}
	return late
}

// newModel makes an empty model with room for about own attempts.
func newModel(c *Config, nodes *Nodes, now batch.Time, own int) (*model, error) {
	p := nodes.Platform()
	for i := range p.Nodes {
		p.Nodes[i].Memory = 0 // left to the cluster
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	policy, err := c.Policy(p, c.Settings)
	if err != nil {
		return nil, err
	}
	return &model{
		policy: policy, limit: c.Cluster.Limit, width: p.Width(), now: now, next: 1,
		own:      make(map[batch.Key]*modeled, own),
		byHandle: make([]*modeled, 0, own), handles: make(map[string]batch.Handle),
	}, nil
}

// fork returns an independent copy.
func (m *model) fork() *model {
	c := *m
	c.policy = m.policy.Fork()
	c.decisions = batch.Decisions{}
	c.jobs, c.spare = nil, make([]modeled, len(m.own))
	c.own, c.byHandle = make(map[batch.Key]*modeled, len(m.own)), make([]*modeled, len(m.byHandle))
	for key, of := range m.own {
		own := &c.spare[0]
		c.spare = c.spare[1:]
		*own = *of
		c.own[key], c.byHandle[own.job.Handle] = own, own
	}
	return &c
}

func (m *model) apply(ev batch.Event) {
	m.policy.Apply(m.now, &ev)
	m.dirty = true
}

// pass lets the policy decide about the events since the last pass.
func (m *model) pass() {
	if m == nil || !m.dirty {
		return
	}
	m.decisions.Reset()
	m.policy.Decide(m.now, &m.decisions)
	for i := range m.decisions.List {
		if h := int(m.decisions.List[i].Job); h < len(m.byHandle) && m.byHandle[h] != nil {
			m.byHandle[h].started = true
		}
	}
	m.dirty = false
}

// shape returns a shape with the cluster's time limit, between its unit and longest.
func (m *model) shape(shape batch.Shape) batch.Shape {
	return batch.Shape{Width: shape.Width, Walltime: min(max(m.limit(shape.Walltime), m.limit(1)), longest)}
}

// asks returns asks in the cluster's time limits.
func (m *model) asks(asks []batch.Ask) []batch.Ask {
	own := make([]batch.Ask, len(asks))
	for i := range asks {
		job := *asks[i].Job
		job.Handle, job.Memory = batch.NoJob, 0
		own[i] = batch.Ask{Job: &job, From: asks[i].From, Shapes: make([]batch.Shape, len(asks[i].Shapes))}
		for k, shape := range asks[i].Shapes {
			own[i].Shapes[k] = m.shape(shape)
		}
	}
	return own
}

// job makes a job for the policy; nil if it does not fit the cluster.
func (m *model) job(like *batch.Job, shape batch.Shape) *batch.Job {
	if shape.Width < 1 || shape.Width > m.width {
		return nil
	}
	if len(m.jobs) == 0 {
		m.jobs = make([]batch.Job, chunk)
	}
	j := &m.jobs[0]
	m.jobs = m.jobs[1:]
	if like != nil {
		j.EarliestStart, j.Owner, j.Name = like.EarliestStart, like.Owner, like.Name
	}
	j.Handle = m.next
	j.Shape = m.shape(shape)
	m.next++
	return j
}

// addRunning adds a job that runs, on at most the free processors.
func (m *model) addRunning(of *Job, free *int32) {
	width := min(of.Processors, *free)
	j := m.job(nil, batch.Shape{Width: width, Walltime: of.Limit})
	if j == nil {
		return
	}
	*free -= width
	m.apply(batch.Event{Kind: batch.Adopt, Job: j.Handle, Spec: j, Since: m.now - batch.Time(min(of.Used, longest))})
}

// queue adds a job as the last waiting one. earliest is its earliest start, 0 for none.
func (m *model) queue(shape batch.Shape, earliest batch.Time, id string) *batch.Job {
	j := m.job(nil, shape)
	if j == nil {
		return nil
	}
	j.EarliestStart = earliest
	if _, known := m.handles[id]; !known { // the first element of an array
		m.handles[id] = j.Handle
	}
	m.apply(batch.Event{Kind: batch.Submit, Job: j.Handle, Spec: j})
	return j
}

// enter adds an attempt that the cluster does not show, as the last one.
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

// append is enter without passes and holds, for callers that add many. A held attempt
// enters as reserved, so that no pass starts it before its hold.
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
	m.remember(a.key, j)
}

// remember records which attempt a job is.
func (m *model) remember(key batch.Key, j *batch.Job) {
	if len(m.spare) == 0 {
		m.spare = make([]modeled, chunk)
	}
	own := &m.spare[0]
	m.spare = m.spare[1:]
	own.job = j
	m.own[key] = own
	h := int(j.Handle)
	if h >= len(m.byHandle) {
		m.byHandle = slices.Grow(m.byHandle, h+1-len(m.byHandle))[:h+1]
	}
	m.byHandle[h] = own
}

// waiting returns an attempt that waits in the model, else nil.
func (m *model) waiting(key batch.Key) *modeled {
	if m == nil {
		return nil
	}
	if own := m.own[key]; own != nil && !own.started {
		return own
	}
	return nil
}

// hold takes waiting attempts out of the plan.
func (m *model) hold(all ...*attempt) {
	m.pass()
	for _, a := range all {
		m.unstart(a)
		if own := m.waiting(a.key); own != nil && !own.held {
			own.held = true
			m.apply(batch.Event{Kind: batch.Hold, Job: own.job.Handle})
		}
	}
}

// unstart queues an attempt again, as the last one, if the model has started it and the
// cluster has not.
func (m *model) unstart(a *attempt) {
	if m == nil || m.own[a.key] == nil || !m.own[a.key].started {
		return
	}
	m.leave(a.key)
	m.append(a)
	m.pass()
}

// confirm queues a reserved attempt.
func (m *model) confirm(a *attempt, held bool) {
	own := m.waiting(a.key)
	if own == nil {
		return
	}
	m.pass()
	own.held = false
	if held {
		m.apply(batch.Event{Kind: batch.Place, Job: own.job.Handle, Shape: own.job.Shape, Restore: true})
	} else {
		m.apply(batch.Event{Kind: batch.Confirm, Job: own.job.Handle})
	}
	m.pass()
}

// place gives an attempt its desired shape.
func (m *model) place(a *attempt, restore bool) {
	m.pass()
	m.unstart(a)
	own := m.waiting(a.key)
	if own == nil {
		return
	}
	if a.shape.Width > m.width {
		m.leave(a.key)
		return
	}
	own.held = false
	placed := *own.job // the policy keeps the job that it was given
	placed.Shape = m.shape(a.shape)
	own.job = &placed
	m.apply(batch.Event{Kind: batch.Place, Job: placed.Handle, Shape: placed.Shape, Restore: restore})
	m.pass()
}

// leave removes an attempt.
func (m *model) leave(key batch.Key) {
	if m == nil {
		return
	}
	own := m.own[key]
	if own == nil {
		return
	}
	m.pass()
	kind := batch.Cancel
	if own.started {
		kind = batch.Finish
	}
	m.apply(batch.Event{Kind: kind, Job: own.job.Handle})
	delete(m.own, key)
	m.byHandle[own.job.Handle] = nil
	m.pass()
}
