package farm

import "github.com/seed-9b8f70bb/drover/batch"

// State is the farm at one instant, as the caller of a pass sees it.
type State struct {
	Now      batch.Time
	Machines []Machine
	Licenses []License
	Links    *Links // nil: the bandwidth is the same between all places
	Jobs     []Job  // running and waiting, in order of submission
}
