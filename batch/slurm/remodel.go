package slurm

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// mostModelled bounds the jobs of others that wait in the model: the forecaster
// counts what is behind the first few thousand by its work anyhow.
const mostModelled = 20_000

// lateness is by how much Slurm's planned start of a job has to be later than the
// model's before it is believed that Slurm knows something: it plans only now and
// then, and an end that came early is not in its plan yet.
const lateness = batch.Minute

// remodel makes the model anew from the last look. Called with mu held.
func (s *System) remodel() {
	m, err := s.build(nil)
	if err != nil {
		if !s.blind {
			s.log.Warn("no estimates until nodes of the partition can be used", "error", err)
		}
		s.model, s.blind = nil, true
		return
	}
	if s.blind {
		s.blind = false
		s.log.Info("estimates are made again")
	}
	if late := s.late(m); len(late) > 0 {
		if m, err = s.build(late); err != nil {
			m = nil
		}
	}
	s.model = m
}

// build puts in what runs, what waits in Slurm's order of priority, and what waits
// here. Earliest are starts by Slurm's ids that jobs cannot have before.
func (s *System) build(earliest map[string]batch.Time) (*model, error) {
	s.forecaster = s.cfg.Forecasters() // it keeps what it knows of one policy
	m, err := newModel(s.cfg.Policy, s.cfg.Settings, s.view.nodes, at(s.view.taken), len(s.outside)+s.within)
	if err != nil {
		return nil, err
	}
	free := m.width
	var waiting []*Row
	for i := range s.view.rows {
		r := &s.view.rows[i]
		if !s.view.concerns(r.Partition) {
			continue
		}
		switch phaseOf(r, true) {
		case batch.PhaseStarting, batch.PhaseRunning, batch.PhasePaused:
			m.runs(r.CPUs, r.Limit, r.Used, &free)
		case batch.PhaseQueued:
			waiting = append(waiting, r)
		}
	}
	m.pass()
	slices.SortStableFunc(waiting, inOrder)
	shown := make(map[batch.Key]bool)
	for _, r := range waiting {
		if m.next > mostModelled {
			break
		}
		s.queued(m, r, earliest[r.ID], shown)
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

// queued puts in what waits in Slurm, an array element by element.
func (s *System) queued(m *model, r *Row, earliest batch.Time, shown map[batch.Key]bool) {
	switch r.Reason {
	case "Dependency", "DependencyNeverSatisfied", "BadConstraints", "PartitionDown", "PartitionInactive", "AccountNotAllowed", "QOSNotAllowed":
		if r.Start.IsZero() {
			return // Slurm does not plan it either
		}
	}
	shape := batch.Shape{Width: r.CPUs, Walltime: r.Limit}
	key, own := identify(s.cfg.Site, r.Name, r.Comment)
	a := s.attempts[key]
	if !own || a == nil || a.stage != inside {
		for range min(r.Tasks, mostModelled-int(m.next)) {
			m.waits(shape, earliest, r.ID)
		}
		return
	}
	if a.want == toCancel || a.again || a.back || a.want == toHold {
		return // the last one is among the unseen
	}
	shown[key] = true
	if j := m.waits(shape, earliest, r.ID); j != nil {
		m.know(key, j)
	}
}

// unseen returns our attempts that wait and that the queue does not show as
// waiting: here, held, or on their way.
func (s *System) unseen(shown map[batch.Key]bool) []*attempt {
	list := slices.Clone(s.outside) // in order
	for key, a := range s.attempts {
		if a.live() && a.stage != outside && a.waits() && a.want != toCancel && !shown[key] && a.missing == 0 {
			list = append(list, a)
		}
	}
	if len(list) > len(s.outside) {
		slices.SortFunc(list, func(a, b *attempt) int { return cmp.Compare(a.order, b.order) })
	}
	return list
}

// inOrder sorts as Slurm looks at its queue: by priority, then by age.
func inOrder(a, b *Row) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.Submitted.Compare(b.Submitted), cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
}

// late returns the jobs that Slurm plans to start much later than the model would:
// they wait for something that the model does not know of, a license, a
// reservation, a limit of their owner's.
func (s *System) late(m *model) map[string]batch.Time {
	var asks []batch.Ask
	var rows []*Row
	for i := range s.view.rows {
		r := &s.view.rows[i]
		h, ok := m.rows[r.ID]
		if !ok || r.Start.IsZero() || !r.Start.After(s.view.taken) || r.CPUs < 1 || r.Tasks > 1 {
			continue
		}
		rows = append(rows, r)
		shape := batch.Shape{Width: r.CPUs, Walltime: min(max(Limit(r.Limit), batch.Minute), longest)}
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
	for i, r := range rows {
		// A start of Never is that of a job that the model has started already.
		if planned := at(r.Start); planned > modelled(m, out[i].Starts[0]).Add(lateness) {
			late[r.ID] = planned
		}
	}
	return late
}

// modelled returns when the model has a job start: now, if it has started it.
func modelled(m *model, start batch.Time) batch.Time {
	if start == batch.Never {
		return m.now
	}
	return start
}
