package site

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Filter selects jobs. The zero Filter selects all.
type Filter struct {
	State   State // 0 for any
	Active  bool  // only jobs that are not final
	Service string
	Owner   string
	ID      string // the beginning of the ID
	Movable Choice // jobs that reallocation can move while they wait, or the others
}

// Choice filters by a property that a job has or does not have.
type Choice uint8

// The choices.
const (
	Either Choice = iota
	Yes
	No
)

// ParseFilter reads terms key=value, separated by spaces: state (a state's name,
// or active), service, owner, id (the beginning of an ID), movable (true or false). The error is a *problem.Problem.
func ParseFilter(s string) (Filter, error) {
	var f Filter
	for _, term := range strings.Fields(s) {
		key, value, ok := strings.Cut(term, "=")
		switch {
		case !ok || value == "":
			return Filter{}, problem.Field(problem.BadValue, "filter",
				"terms key=value, keys state, service, owner, id, movable", "%q", term)
		case key == "service":
			f.Service = value
		case key == "owner":
			f.Owner = value
		case key == "id":
			f.ID = value
		case key == "movable" && value == "true":
			f.Movable = Yes
		case key == "movable" && value == "false":
			f.Movable = No
		case key == "movable":
			return Filter{}, problem.Field(problem.BadValue, "filter", "true, false", "movable %q", value)
		case key == "state" && value == "active":
			f.Active = true
		case key == "state":
			state, known := parseState(value)
			if f.State = state; !known || state == Absent {
				return Filter{}, problem.Field(problem.BadValue, "filter", "active, "+strings.Join(stateNames[1:],
					", "), "state %q", value)
			}
		default:
			return Filter{}, problem.Field(problem.BadValue, "filter", "keys state, service, owner, id, movable",
				"key %q",
				key)
		}
	}
	return f, nil
}

func parseState(name string) (State, bool) {
	for i, n := range stateNames {
		if n == name {
			return State(i), true
		}
	}
	return 0, false
}

func (f *Filter) match(j *Job) bool {
	return j.State != Absent && (j.Kept || j.State == Gone) && (f.State == 0 || j.State == f.State) &&
		(!f.Active || !j.State.Final()) &&
		(f.ID == "" || strings.HasPrefix(string(j.ID), f.ID)) &&
		(f.Service == "" || j.Service == f.Service) && (f.Owner == "" || j.Owner == f.Owner) &&
		(f.Movable == Either || (f.Movable == Yes) == j.movable())
}

// List returns up to limit jobs with a Serial above after, in the order of arrival, and whether
// there are more. A limit below 1 means no limit.
func (s *Site) List(f Filter, after uint64, limit int) (jobs []Job, more bool) {
	for _, j := range s.book.after(after) {
		if j == nil || !f.match(j) {
			continue
		}
		if limit > 0 && len(jobs) == limit {
			return jobs, true
		}
		jobs = append(jobs, *j)
	}
	return jobs, false
}

// JobMove is a move together with its job.
type JobMove struct {
	Job     batch.JobID
	Service string
	Move    Move
}

// MoveFilter selects moves. The zero MoveFilter selects all.
type MoveFilter struct {
	Job   batch.JobID
	State MoveState
}

// ParseMoveFilter reads terms key=value, separated by spaces: job, state (pending,
// moved, aborted). The error is a *problem.Problem.
func ParseMoveFilter(s string) (MoveFilter, error) {
	states := map[string]MoveState{"pending": MovePending, "moved": MoveCommitted, "aborted": MoveAborted}
	var f MoveFilter
	for _, term := range strings.Fields(s) {
		key, value, _ := strings.Cut(term, "=")
		switch {
		case key == "job" && value != "":
			f.Job = batch.JobID(value)
		case key == "state" && states[value] != 0:
			f.State = states[value]
		default:
			return MoveFilter{}, problem.Field(problem.BadValue, "filter", "job=ID, state=pending, moved or aborted",
				"%q", term)
		}
	}
	return f, nil
}

// MoveCursor is a position in the list of moves, which goes from the latest to the oldest. The zero
// MoveCursor is its beginning.
type MoveCursor struct {
	Ordered batch.Time  `json:"t"`
	Job     batch.JobID `json:"j"`
	Epoch   uint32      `json:"e"`
}

// Cursor returns the position after a move.
func (m *JobMove) Cursor() MoveCursor {
	return MoveCursor{Ordered: m.Move.Ordered, Job: m.Job, Epoch: m.Move.Epoch}
}

// compare orders moves from the latest to the oldest.
func (c MoveCursor) compare(o MoveCursor) int {
	return cmp.Or(cmp.Compare(o.Ordered, c.Ordered), cmp.Compare(c.Job, o.Job), cmp.Compare(o.Epoch, c.Epoch))
}

// Moves returns up to limit moves after a position in the list, the latest first. It knows the
// moves of jobs that are here, that have ended here and are not forgotten, or that have left and
// are not confirmed. limit is at least 1.
func (s *Site) Moves(f MoveFilter, after MoveCursor, limit int) []JobMove {
	var out []JobMove
	for _, j := range s.book.order {
		if j == nil || f.Job != "" && j.ID != f.Job {
			continue
		}
		for _, m := range j.Moves() {
			of := JobMove{Job: j.ID, Service: j.Service, Move: m}
			if (f.State == 0 || m.State == f.State) && (after == MoveCursor{} || after.compare(of.Cursor()) < 0) {
				out = append(out, of)
			}
		}
	}
	slices.SortFunc(out, func(a, b JobMove) int { return a.Cursor().compare(b.Cursor()) })
	return out[:min(limit, len(out))]
}
