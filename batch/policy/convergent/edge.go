package convergent

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/roster"
)

// Edge says which jobs a platform could ever run. It can be asked often.
type Edge = roster.Edge

// NewEdge returns the edge of a platform, or what is wrong with it.
func NewEdge(p batch.Platform) (*Edge, error) { return roster.NewEdge(p) }
