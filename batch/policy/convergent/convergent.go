package convergent

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/backfill"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/edf"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/roster"
)

// New returns the policy for a platform with a machine on each node. It is a
// batch.Factory. See package roster for how it reads a platform.
func New(p batch.Platform, s batch.Settings) (batch.Policy, error) {
	set, err := parse(s)
	if err != nil {
		return nil, err
	}
	r, err := roster.New(p, set.planner())
	if err != nil {
		return nil, err // a nil *Roster would not be a nil Policy
	}
	return r, nil
}

// planner returns the planner of the algorithm.
func (s *settings) planner() roster.Planner {
	switch s.algorithm {
	case BFeasy:
		return backfill.New(backfill.EASY, nil)
	case BFrm:
		return backfill.New(backfill.Renewed, s.heuristics)
	case BFunrm:
		return backfill.New(backfill.Kept, s.heuristics)
	case EDF:
		return edf.New(s.edf)
	}
	return newPlanner(*s)
}

// Edge checks which jobs a platform can ever run.
type Edge = roster.Edge

// NewEdge returns the edge of a platform, or an error about the platform.
func NewEdge(p batch.Platform) (*Edge, error) { return roster.NewEdge(p) }
