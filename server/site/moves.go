package site

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// MoveOf is a move and whose it is.
type MoveOf struct {
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
			return MoveFilter{}, problem.Field(problem.BadValue, "filter", "job=ID, state=pending, moved or aborted", "%q", term)
		}
	}
	return f, nil
}

// MoveCursor is a place in the list of moves, which goes from the latest to the
// oldest. The zero MoveCursor is its beginning.
type MoveCursor struct {
	Ordered batch.Time  `json:"t"`
	Job     batch.JobID `json:"j"`
	Epoch   uint32      `json:"e"`
}

// Cursor returns the place after a move.
func (m *MoveOf) Cursor() MoveCursor {
	return MoveCursor{Ordered: m.Move.Ordered, Job: m.Job, Epoch: m.Move.Epoch}
}

// compare orders moves from the latest to the oldest.
func (c MoveCursor) compare(o MoveCursor) int {
	return cmp.Or(cmp.Compare(o.Ordered, c.Ordered), cmp.Compare(c.Job, o.Job), cmp.Compare(o.Epoch, c.Epoch))
}

// Moves returns what this site knows of moves after a place in the list, the
// latest first: of jobs that are here, have ended here and are not forgotten, or
// have gone and are not confirmed. limit is at least 1.
func (s *Site) Moves(f MoveFilter, after MoveCursor, limit int) []MoveOf {
	var out []MoveOf
	for _, j := range s.book.order {
		if j == nil || f.Job != "" && j.ID != f.Job {
			continue
		}
		for _, m := range j.Moves() {
			of := MoveOf{Job: j.ID, Service: j.Service, Move: m}
			if (f.State == 0 || m.State == f.State) && (after == MoveCursor{} || after.compare(of.Cursor()) < 0) {
				out = append(out, of)
			}
		}
	}
	slices.SortFunc(out, func(a, b MoveOf) int { return a.Cursor().compare(b.Cursor()) })
	return out[:min(limit, len(out))]
}
