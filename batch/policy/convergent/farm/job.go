package farm

import (
	"math"
	"math/bits"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Job is one job of the farm, running or waiting.
type Job struct {
	Order  int64 // of submission: unique, later jobs have larger ones
	Submit batch.Time
	// Deadline is the instant by which it should have ended; 0 for none.
	Deadline batch.Time
	// Estimate is the whole runtime on a machine of score Reference. A Reference of 0
	// means that the runtime is the same on every machine.
	Estimate  batch.Duration
	Reference int32
	// Done is the completed part of Estimate.
	Done     batch.Duration
	CPUs     int32
	Memory   int64 // bytes, all of it; 0 is not known and not counted
	Licenses []Need
	Input    []Input
	// Machine is where it runs, or must continue; Last is its machine in the previous
	// plan. NoMachine for none.
	Machine int32
	Last    int32
	// Held says that it runs and must not be preempted, or has run and can continue only on
	// its Machine: it is eligible for that one only. A maximum matching can always keep it
	// there, and does if its entry is larger than those of other jobs on that machine (Δ of
	// Overhead).
	Held bool
	// Fixed says that it runs on its Machine and is not preempted: it has its licenses
	// before other jobs get any.
	Fixed bool
}

// NoMachine is the index of no machine.
const NoMachine int32 = -1

// Input is data that a job needs, and its location. The state of an interrupted job on a
// machine is input, too.
type Input struct {
	Place int32 // index in State.Machines, or from len(State.Machines) on another place
	Bytes int64
}

// Remaining returns the rest of the estimate, on the machine of the estimate. A job that
// has overrun its estimate has a microsecond left.
func (j *Job) Remaining() batch.Duration { return max(j.Estimate-j.Done, 1) }

// On returns the remaining runtime on a machine of the given score, rounded up to a
// microsecond: Nxtime and Remaining of the paper.
func (j *Job) On(score int32) batch.Duration {
	rest := j.Remaining()
	if j.Reference == 0 {
		return rest
	}
	hi, lo := bits.Mul64(uint64(rest), uint64(j.Reference))
	if hi >= uint64(score) {
		return batch.Forever
	}
	d, rem := bits.Div64(hi, lo, uint64(score))
	if rem > 0 {
		d++
	}
	return batch.Duration(min(d, math.MaxInt64))
}

// holder returns the machine that holds the job, NoMachine if it is not held.
func (j *Job) holder() int32 {
	if j.Held {
		return j.Machine
	}
	return NoMachine
}
