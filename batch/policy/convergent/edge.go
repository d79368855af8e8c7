package convergent

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/roster"
)

// Edge checks which jobs a platform can ever run.
type Edge = roster.Edge

// NewEdge returns the edge of a platform, or an error about the platform.
func NewEdge(p batch.Platform) (*Edge, error) { return roster.NewEdge(p) }
