package heuristic

import "github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"

// Heuristic adds points to the entries of jobs that are eligible.
type Heuristic interface {
	// Name is the word for it, lower case.
	Name() string
	// Begin looks at all jobs, once in a pass. The rows' Columns are known.
	Begin(s *farm.State, m *farm.Matrix)
	// Look returns what all eligible machines of a job get alike, 0..farm.Ceiling, and
	// the key of what Write would add to its cells: all that it follows from besides
	// what farm.Key names. The zero key is for nothing to write.
	Look(j *farm.Job, r *farm.Row) (farm.Points, farm.Key)
	// Write adds 0..farm.Ceiling to cells of the row's Columns. It is called only for a
	// key that is not zero, and not in every pass.
	Write(j *farm.Job, r *farm.Row)
}
