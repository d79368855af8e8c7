package campaign

import (
	"strconv"

	"github.com/seed-9b8f70bb/drover/sim"
)

// keys is how many columns name the experiment.
const keys = 11

// Columns are those of results.csv; each row is one experiment. The first eleven name
// it. Times are in seconds. What compares with a reference is empty in a reference,
// and so are shares of impacted jobs where none is.
var Columns = []string{
	"scenario", "homogeneous", "dedicated", "tuning", "seed", "algorithm", "heuristic", "window", "period_s", "threshold_s", "patience",
	"jobs", "grid_jobs", "impacted", "impacted_share", "reallocations", "reallocations_share", "early", "early_share",
	"relative_response", "response_mean", "response_reference", "wait_mean", "bounded_slowdown_mean", "bounded_slowdown_reference",
	"killed", "rounds", "questions", "estimates", "later", "kept", "put_back_later_most", "bytes_moved",
}

// rowOf returns the row of an experiment; a reference is compared with itself.
func rowOf(e *Experiment, c *sim.Comparison) []string {
	figures := []struct {
		text     string
		compares bool
	}{
		{whole(c.Jobs), false},
		{whole(c.GridJobs), false},
		{whole(c.Impacted), true},
		{number(c.ImpactedShare), true},
		{whole(c.Reallocations), true},
		{number(c.ReallocationsShare), true},
		{whole(c.Early), true},
		{ofImpacted(c, c.EarlyShare), true},
		{ofImpacted(c, c.RelativeResponse), true},
		{number(c.ResponseMean), false},
		{number(c.ResponseReference), true},
		{number(c.WaitMean), false},
		{number(c.BoundedSlowdownMean), false},
		{number(c.BoundedSlowdownReference), true},
		{whole(c.Killed), false},
		{whole(c.Rounds), false},
		{whole(c.Questions), false},
		{whole(c.Estimates), false},
		{whole(c.Later), false},
		{whole(c.Kept), false},
		{whole(c.LaterMost), false},
		{whole(c.BytesMoved), false},
	}
	row := append(make([]string, 0, len(Columns)), e.Key[:]...)
	for _, f := range figures {
		if e.Reference && f.compares {
			f.text = ""
		}
		row = append(row, f.text)
	}
	return row
}

func ofImpacted(c *sim.Comparison, v float64) string {
	if c.Impacted == 0 {
		return ""
	}
	return number(v)
}

func whole[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// number writes a figure so that it is read back as the same.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
