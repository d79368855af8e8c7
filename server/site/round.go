package site

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Limits of a lease.
const (
	ShortestLease = batch.Second
	LongestLease  = batch.Hour
)

// Hold takes waiting jobs out of the plan for a round of reallocation: the listed ones or, if ids
// is nil, all that can move. It returns the jobs that this round holds, in queue order. Jobs that
// do not wait, that another round holds or that can never move are left out. A held job returns to
// its position when the lease ends. The lease runs on this site's clock and restarts with the
// server; it proves nothing to other sites. A job that was held loses its promise.
//
// A repeated call for the same round returns the same jobs and does not extend the lease.
func (s *Site) Hold(now batch.Time, round string, lease batch.Duration, ids []batch.JobID) ([]Job, error) {
	switch {
	case round == "":
		return nil, problem.Field(problem.BadValue, "round", "a name of its own", "no name")
	case lease < ShortestLease || lease > LongestLease:
		return nil, problem.Field(problem.OutOfRange, "lease", fmt.Sprintf("%v..%v", ShortestLease, LongestLease), "%v",
			lease)
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
					j.Estimate.Kind = batch.Forecast // the plan that it returns to is not known
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

// heldFor reports whether a job is held for a round.
func (j *Job) heldFor(round string) bool {
	return j.State == Held && j.Transit != nil && j.Transit.Round == round
}

func byOrder(a, b *Job) int { return cmp.Compare(a.Order, b.Order) }

// Placement is the decision of a round about one job.
type Placement struct {
	Job     batch.JobID
	To      string         // target site; empty if the job stays
	Shape   batch.Shape    // of a job that stays; zero for its present shape
	MinGain batch.Duration // of a job that moves
	Reason  string         // of a job that moves, for the record; empty means "reallocation"
}

// Place ends a round. The jobs that stay go to the end of the plan, in the order of list, with
// their shapes; the others are moved; jobs of the round that are not in list return to their
// positions. Place returns the listed jobs as they are now. A job that the round does not hold any
// more, because the lease ended or the job started, is left unchanged. The error is a
// *problem.Problem; then nothing is changed.
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
			s.startMove(now, j, MoveRequest{
				Job: j.ID, To: p.To, MinGain: p.MinGain, Reason: cmp.Or(p.Reason, "reallocation"), Agent: agent,
			}, 0)
		default:
			s.placeHere(j, p.Shape)
		}
		out = append(out, *j)
	}
	for _, j := range s.book.order {
		if j != nil && j.heldFor(round) {
			s.release(j)
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
		return problem.Field(problem.TooWide, field+".shape.width", fmt.Sprintf("1..%d at this site", s.width),
			"width %d", p.Shape.Width)
	case p.Shape.Walltime < batch.Second || p.Shape.Walltime > s.maxWalltime():
		return problem.Field(problem.OutOfRange, field+".shape.walltime",
			fmt.Sprintf("1s..%v at this site", s.maxWalltime()), "walltime %v", p.Shape.Walltime)
	case j != nil && j.Needs != nil && batch.Charge(p.Shape.Width, j.Needs.Memory, s.perProcessor) > s.processors:
		return problem.Field(problem.NoMemory, field+".shape.width", "a width whose memory the site has",
			"%d tasks of %d bytes each", p.Shape.Width, j.Needs.Memory)
	}
	return nil
}

// placeHere puts a held job at the end of the plan.
func (s *Site) placeHere(j *Job, shape batch.Shape) {
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

// release returns a held job to its position in the queue.
func (s *Site) release(j *Job) {
	s.clearRound(j)
	s.change(j, func() { j.State = Waiting })
	s.arm(j, batch.Never)
}

// clearRound releases a held job at the batch system.
func (s *Site) clearRound(j *Job) {
	if j.Transit == nil || j.Transit.Round == "" {
		return
	}
	s.change(j, func() { j.transit().Round = "" })
	s.command(batch.CmdRelease, j.Key())
}
