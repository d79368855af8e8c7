package farm

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Reading is what the numbers of "Deadline [25-150]" could mean. A job of Estimated e on
// a machine of its own score, with d drawn from the range, has its deadline after its
// submission by
type Reading string

// The readings. Percent is the default; package documentation of Hopeless says why.
const (
	Percent    Reading = "percent"     // e + d% of e
	Units      Reading = "units"       // e + d units
	OfEstimate Reading = "of-estimate" // d% of e
	Earliest   Reading = "earliest"    // its time on the fastest machine that can run it + d units
	Slowest    Reading = "slowest"     // its time on the slowest machine that can run it + d% of that
)

// Readings are all of them.
var Readings = []Reading{Percent, Units, OfEstimate, Earliest, Slowest}

func (r Reading) known() bool { return slices.Contains(Readings, r) }

// deadline returns a job's deadline; d is what was drawn for it.
func (r Reading) deadline(in *Instance, j *Job, d int64) batch.Time {
	slowest, fastest := in.scores(j)
	var length batch.Duration
	switch r {
	case Percent:
		length = j.Estimate.Times(100+d, 100)
	case Units:
		length = j.Estimate + batch.Duration(d)*Unit
	case OfEstimate:
		length = j.Estimate.Times(d, 100)
	case Earliest:
		length = j.On(fastest) + batch.Duration(d)*Unit
	case Slowest:
		length = j.On(slowest).Times(100+d, 100)
	}
	return j.Submit.Add(length)
}
