package site

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// The range of a lease.
const (
	ShortestLease = batch.Second
	LongestLease  = batch.Hour
)

// Hold takes waiting jobs out of the plan for a round of reallocation, those of
// the list or, if that is nil, all that may be moved, and returns what is held by
// this round, in order. Jobs that do not wait, are held by another round or are
// never moved are left out. A job held goes back to its place when the lease ends:
// that is a length of time on this site's clock, begins anew with a restart, and
// proves nothing to anybody. A Hold ends a job's promise.
//
// The same round again gets the same answer and no new lease.
func (s *Site) Hold(now batch.Time, round string, lease batch.Duration, ids []batch.JobID) ([]Job, error) {
	switch {
	case round == "":
		return nil, problem.Field(problem.BadValue, "round", "a name of its own", "no name")
	case lease < ShortestLease || lease > LongestLease:
		return nil, problem.Field(problem.OutOfRange, "lease", fmt.Sprintf("%v..%v", ShortestLease, LongestLease), "%v", lease)
	}
	var jobs []*Job
	if ids == nil {
		for _, j := range s.book.order {
			if j != nil {
				jobs = append(jobs, j)
			}
		}
	}
	for _, id := range ids {
		if j := s.book.byID[id]; j != nil {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, byOrder)
	var held []Job
	for _, j := range slices.Compact(jobs) {
		if j.State == Waiting && j.movable() {
			s.change(j, func() {
				j.State = Held
				t := j.transit()
				t.Round, t.Lease = round, lease
				if j.Estimate.Kind == batch.Promised {
					j.Estimate.Kind = batch.Forecast // whatever plan it goes back into
				}
			})
			s.command(batch.CmdHold, j.Key())
			s.arm(j, now.Add(lease))
		}
		if j.heldFor(round) {
			held = append(held, *j)
		}
	}
	return held, nil
}

// heldFor says whether a job is held for a round.
func (j *Job) heldFor(round string) bool {
	return j.State == Held && j.Transit != nil && j.Transit.Round == round
}

func byOrder(a, b *Job) int { return cmp.Compare(a.Order, b.Order) }

// Placement is what becomes of one job of a round.
type Placement struct {
	Job     batch.JobID
	To      string         // the site it goes to; empty: it stays
	Shape   batch.Shape    // of one that stays; zero: the one it has
	MinGain batch.Duration // of one that goes
	Reason  string         // of one that goes, for the record; empty: "reallocation"
}

// Place ends a round: the jobs that stay come last in the plan, in this order,
// with their shapes; the others are moved; jobs of the round that are not named go
// back to their places. It returns the jobs named as they are now. One that is
// not held by the round any more, because the lease is over or it has started,
// is left as it is. The error is a *problem.Problem, and nothing is changed then.
func (s *Site) Place(now batch.Time, round, agent string, list []Placement) ([]Job, error) {
	for i := range list {
		if err := s.checkPlacement(fmt.Sprintf("placements[%d]", i), s.book.byID[list[i].Job], &list[i]); err != nil {
			return nil, err
		}
	}
	var out []Job
	for i := range list {
		p := &list[i]
		j := s.book.byID[p.Job]
		if j == nil || j.State == Absent {
			continue
		}
		switch {
		case !j.heldFor(round):
		case p.To != "" && s.mayMove(j, p.To) == nil:
			s.depart(now, j, Order{Job: j.ID, To: p.To, MinGain: p.MinGain, Reason: cmp.Or(p.Reason, "reallocation"), Agent: agent}, 0)
		default:
			s.stay(j, p.Shape)
		}
		out = append(out, *j)
	}
	for _, j := range s.book.order {
		if j != nil && j.heldFor(round) {
			s.putBack(j)
		}
	}
	return out, nil
}

func (s *Site) checkPlacement(field string, j *Job, p *Placement) error {
	switch {
	case p.To == s.config.Name:
		return problem.Field(problem.BadValue, field+".to", "another site, or none", "site %q", p.To)
	case p.To != "" || p.Shape == batch.Shape{}:
		return nil
	case p.Shape.Width < 1 || p.Shape.Width > s.width:
		return problem.Field(problem.TooWide, field+".shape.width", fmt.Sprintf("1..%d at this site", s.width), "width %d", p.Shape.Width)
	case p.Shape.Walltime < batch.Second || p.Shape.Walltime > s.longest():
		return problem.Field(problem.OutOfRange, field+".shape.walltime", fmt.Sprintf("1s..%v at this site", s.longest()), "walltime %v", p.Shape.Walltime)
	case j != nil && j.Needs != nil && batch.Charge(p.Shape.Width, j.Needs.Memory, s.perProcessor) > s.processors:
		return problem.Field(problem.NoMemory, field+".shape.width", "a width whose memory the site has", "%d tasks of %d bytes each", p.Shape.Width, j.Needs.Memory)
	}
	return nil
}

// stay puts a held job into the plan as the last one.
func (s *Site) stay(j *Job, shape batch.Shape) {
	s.change(j, func() {
		j.State = Waiting
		if shape != (batch.Shape{}) {
			j.Shape = shape
		}
		j.Order = s.book.next()
		t := j.transit()
		t.Round, t.Placed = "", true
	})
	s.arm(j, batch.Never)
	s.fx.Commands = append(s.fx.Commands, batch.Command{Kind: batch.CmdPlace, Key: j.Key(), Shape: j.Shape})
}

// putBack puts a held job back to its place in the order.
func (s *Site) putBack(j *Job) {
	s.unhold(j)
	s.change(j, func() { j.State = Waiting })
	s.arm(j, batch.Never)
}

// unhold tells the batch system that a job is held no more, if it was.
func (s *Site) unhold(j *Job) {
	if j.Transit == nil || j.Transit.Round == "" {
		return
	}
	s.change(j, func() { j.transit().Round = "" })
	s.command(batch.CmdRelease, j.Key())
}
