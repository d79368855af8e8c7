package fractional

import "github.com/seed-9b8f70bb/drover/batch"

// The paper's settings.
const (
	// Period is that of the paper's tables, twice the penalty.
	Period = 600 * batch.Second
	// Recommended is the period that the paper recommends in the end, ten times the
	// penalty, and the policy's default.
	Recommended = 3000 * batch.Second
	// Penalty is that of all its experiments.
	Penalty = 300 * batch.Second
)
