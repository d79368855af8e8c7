package heuristic

import "github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"

// Heuristic adds points to the entries of eligible jobs.
type Heuristic interface {
	// Name returns the heuristic's name in lower case.
	Name() string
	// Begin reads all jobs, once per pass. The rows' Columns are known.
	Begin(s *farm.State, m *farm.Matrix)
	// Look returns the points that a job gets on all eligible machines, 0..farm.Ceiling, and a
	// key of what Write would add to its cells: all inputs except those that farm.Key names.
	// The zero key means that Write has nothing to add.
	Look(j *farm.Job, r *farm.Row) (farm.Points, farm.Key)
	// Write adds 0..farm.Ceiling to cells of the row's Columns. It is called only if the key is
	// not zero, and not in every pass.
	Write(j *farm.Job, r *farm.Row)
}
