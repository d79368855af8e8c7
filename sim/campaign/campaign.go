package campaign

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/reallocation"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/sim"
)

// The limits of a campaign.
const (
	// MaxExperiments bounds a campaign, its references included.
	MaxExperiments = 250_000
	// MaxValues bounds each list of a campaign file.
	MaxValues = 10_000
	// maxFile bounds a campaign file, in bytes.
	maxFile = 1 << 20
)

// Campaign is what is combined with what. Each list has at least one value, and
// none twice; results have the order of the lists.
type Campaign struct {
	Name        string
	Scenarios   []Scenario
	Seeds       []uint64
	Dedicated   []bool // false: most jobs are local users', see the scenario
	Homogeneous []bool // true: all sites have speed 1
	Tunings     []site.Tuning
	Algorithms  []reallocation.Algorithm
	Heuristics  []reallocation.Heuristic
	Windows     []reallocation.Window
	Periods     []batch.Duration
	Thresholds  []batch.Duration
	Patience    []int

	// Days cuts each scenario to its first days; 0: it is not cut. Quick sets it.
	Days int
}

// Scenario is one of a campaign.
type Scenario struct {
	Name string // as the campaign has it, and the rows
	Path string // its traces are looked for beside this file
	Text []byte // rows of two texts are not of one campaign
	Grid *sim.Scenario
}
