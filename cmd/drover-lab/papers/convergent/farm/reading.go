package farm

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Reading is what the numbers of "Deadline [25-150]" could mean. A job of Estimated e on
// a machine of its own score, with d drawn from the range, has its deadline after its
// submission by what stands behind each.
//
// The paper calls late jobs satisfactory where the farm is fast enough, from 12 units
// between submissions on, and CS better than its peers at every load. With seed 1, late
// jobs in percent at 12 and at 20 units, where hardly anybody waits (the last column is
// CS_ip preset=deadlines):
//
//	             hopeless      CS_ip        BF-rm         EDF         preset
//	percent         0.0     30.4   8.8    25.7   3.7    6.6   3.5    0.4   0.0
//	units           0.2     66.0  41.5    58.1  27.4   33.9  24.2    8.3   2.9
//	of-estimate    35.2     76.4  63.4    70.8  52.1   56.8  50.7   36.4  36.1
//	earliest        0.0     96.2  89.8    92.4  78.4   81.5  71.6   56.2  43.6
//	slowest         0.0      5.1   0.0     6.9   0.1    0.0   0.0
//
// Of-estimate and earliest are out: nearly half of the jobs, or those that no machine
// could save, are late whatever is done. With slowest EDF loses none, and at 4 units 4.5%
// where CS_ip loses 56%: nobody could be better by much. Percent and units leave room on
// both sides; but with units CS_ip has 41% late at 20 units with the paper's constants,
// which nobody would call satisfactory. So it is percent. No reading makes CS_ip better
// than EDF with the paper's constants; with the preset it is, with percent and with units.
type Reading string

// The readings. Percent is the one that all but the set Deadlines use.
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
