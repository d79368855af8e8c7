package sim

import (
	"errors"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Comparison compares a run with its reference: the same scenario, seed and share of local jobs
// without reallocation (section 4.4). It covers only grid jobs. Times are in seconds.
type Comparison struct {
	Jobs     int `json:"jobs"`      // grid and local jobs
	GridJobs int `json:"grid_jobs"` // all figures below are about grid jobs

	// Impacted jobs complete at least a second earlier or later than in the reference.
	Impacted      int     `json:"impacted"`
	ImpactedShare float64 `json:"impacted_share"` // of the grid jobs
	// Reallocations counts moves from site to site, each move of a job separately.
	Reallocations      int     `json:"reallocations"`
	ReallocationsShare float64 `json:"reallocations_share"` // relative to the grid jobs
	// Early counts impacted jobs that complete earlier.
	Early      int     `json:"early"`
	EarlyShare float64 `json:"early_share"` // of the impacted jobs; 0 if there are none
	// RelativeResponse is the mean response time of the impacted jobs over that of the same
	// jobs in the reference, where the sum is at least one second; 1 if there are none.
	RelativeResponse float64 `json:"relative_response"`

	ResponseMean             float64 `json:"response_mean"`
	ResponseReference        float64 `json:"response_reference"`
	WaitMean                 float64 `json:"wait_mean"`
	WaitReference            float64 `json:"wait_reference"`
	BoundedSlowdownMean      float64 `json:"bounded_slowdown_mean"`
	BoundedSlowdownReference float64 `json:"bounded_slowdown_reference"`
	Killed                   int     `json:"killed"`
	KilledReference          int     `json:"killed_reference"`

	// The cost; see ReallocationFigures.
	Rounds     int   `json:"rounds"`
	Questions  int   `json:"questions"`
	Estimates  int64 `json:"estimates"`
	Later      int   `json:"later"`
	Kept       int   `json:"kept"`
	LaterMost  int   `json:"put_back_later_most"`
	BytesMoved int64 `json:"bytes_moved"`
}

// ErrOtherWorkload reports that two runs have different jobs.
var ErrOtherWorkload = errors.New("the two runs are not of the same jobs")

// impact is the minimum difference between two completions that counts.
const impact = batch.Second

// Compare compares a run with the reference. The error wraps ErrOtherWorkload.
func Compare(reference, run *Result) (Comparison, error) {
	jobs, others := run.Workload.Jobs, reference.Workload.Jobs
	if len(jobs) != len(others) {
		return Comparison{}, fmt.Errorf("%w: %d and %d of them", ErrOtherWorkload, len(others), len(jobs))
	}
	with, without := run.Summary.GridFigures(), reference.Summary.GridFigures()
	c := Comparison{
		Jobs: len(jobs), GridJobs: with.Jobs,
		ResponseMean: with.ResponseMean, ResponseReference: without.ResponseMean,
		WaitMean: with.WaitMean, WaitReference: without.WaitMean,
		BoundedSlowdownMean: with.BoundedSlowdownMean, BoundedSlowdownReference: without.BoundedSlowdownMean,
		Killed: with.Killed, KilledReference: without.Killed, RelativeResponse: 1,
	}
	var response, before batch.Area
	for i := range jobs {
		j, o := &jobs[i], &others[i]
		if j.Home != o.Home || j.ID != o.ID || j.Submit != o.Submit || j.Local != o.Local || j.Type != o.Type {
			return Comparison{}, fmt.Errorf("%w: job %d of site %d is one", ErrOtherWorkload, j.ID, j.Home)
		}
		end, was := run.Outcomes[i].End, reference.Outcomes[i].End
		if j.Local || end.Sub(was) < impact && was.Sub(end) < impact {
			continue
		}
		c.Impacted++
		if end < was {
			c.Early++
		}
		response = response.Add(batch.AreaOf(1, end.Sub(j.Submit)))
		before = before.Add(batch.AreaOf(1, was.Sub(j.Submit)))
	}
	if c.Impacted > 0 {
		c.EarlyShare = part(c.Early, c.Impacted)
		c.RelativeResponse = response.Seconds() / max(before.Seconds(), 1)
	}
	c.ImpactedShare = part(c.Impacted, c.GridJobs)
	if f := run.Summary.Reallocation; f != nil {
		c.Reallocations = f.Moves
		c.ReallocationsShare = part(f.Moves, c.GridJobs)
		c.Rounds, c.Questions, c.Estimates = f.Rounds, f.Questions, f.Estimates
		c.Later, c.Kept, c.LaterMost, c.BytesMoved = f.Later, f.Kept, f.LaterMost, f.BytesMoved
	}
	return c, nil
}

// part returns n/m, or 0 if m is 0.
func part(n, m int) float64 {
	if m == 0 {
		return 0
	}
	return float64(n) / float64(m)
}
