package reallocation

import (
	"iter"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Transfer says how long the input of a job travels from site to site, and whether
// that is known.
type Transfer func(job, from, to int) (batch.Duration, bool)

// Round is one round of reallocation. Make one with NewRound.
type Round struct {
	config   Config
	sites    int
	jobs     []Job
	transfer Transfer

	est      answers
	present  []batch.Duration // by job: its ECT as it stands, when that was last asked
	standing bool             // regular: at its own site a job is asked about as it stands
	bias     uint64           // added to ECTs elsewhere when places are compared
	done     []bool           // by job: picked, or not to be
	again    []again          // scratch
	alike    alike
	record   Record

	yield     func(*Step) bool
	step      Step
	questions []Question
	asked     []Question // being made: of each site, and of each site about what stands there
	open      []int      // which of asked have jobs
}

// NewRound makes a round over the jobs that wait at so many sites, in order of
// submission. The configuration has been validated. A nil transfer knows nothing.
func NewRound(c Config, sites int, jobs []Job, transfer Transfer) *Round {
	return &Round{
		config: c, sites: sites, jobs: jobs, transfer: transfer, est: newAnswers(sites, jobs),
		present: make([]batch.Duration, len(jobs)), standing: c.Algorithm == Regular,
		done: make([]bool, len(jobs)), asked: make([]Question, 2*sites), record: Record{Jobs: len(jobs)},
	}
}

// Record returns what the round has come to so far.
func (r *Round) Record() Record { return r.record }

// Steps yields what is to be done, one after the other, to be ranged over once.
// Whoever breaks off leaves jobs held: their leases put them back.
func (r *Round) Steps() iter.Seq[*Step] {
	return func(yield func(*Step) bool) {
		if len(r.jobs) == 0 {
			return
		}
		r.yield = yield
		if r.config.Algorithm == AllCancellation {
			r.allCancellation()
		} else {
			r.regular()
		}
	}
}

// do yields a step; its answers are in r.step. It is false if the round is broken
// off.
func (r *Round) do(s Step) bool {
	r.step = s
	return r.yield(&r.step)
}

// window cuts jobs, which are in order of submission, at the heuristic's window.
func (r *Round) window(jobs []int) (compared, rest []int) {
	n := len(jobs)
	switch {
	case r.config.Heuristic == MCT:
		n = 0
	case r.config.Window != All:
		n = min(n, int(r.config.Window))
	}
	return jobs[:n:n], jobs[n:]
}
