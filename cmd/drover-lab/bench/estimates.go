package bench

import "slices"

// Errors are what happened minus what was said, in seconds: positive of what came
// later.
type Errors struct {
	Jobs     int
	Bias     float64 // mean
	P50, P90 float64 // of the amounts, early or late
}

// Estimates compares what Drover and sbatch --test-only said of the same jobs at the
// same moment about the same cluster with what happened. Only jobs are counted that
// both have said something about, and that have stayed where they were submitted.
type Estimates struct {
	DroverStart, TestStart Errors
	// Ends are estimated by walltimes: of sbatch's its start and the walltime.
	DroverEnd, TestEnd Errors
}

// EstimatesOf compares the estimates of runs.
func EstimatesOf(runs []Run) Estimates {
	var start, test, end, testEnd []float64
	for i := range runs {
		r := &runs[i]
		if r.Times == 0 || r.Moves > 0 || r.Test.IsZero() || r.Forecast.IsZero() {
			continue
		}
		start = append(start, r.Begun.Sub(r.Forecast).Seconds())
		test = append(test, r.Begun.Sub(r.Test).Seconds())
		end = append(end, r.Ended.Sub(r.Expected).Seconds())
		testEnd = append(testEnd, r.Ended.Sub(r.Test.Add(r.Job.Walltime)).Seconds())
	}
	return Estimates{DroverStart: errorsOf(start), TestStart: errorsOf(test), DroverEnd: errorsOf(end), TestEnd: errorsOf(testEnd)}
}

// TestErrors are those of sbatch --test-only alone, of the starts of all the grid's
// jobs that have stayed: of the side that Slurm's rule has placed, where none moves.
func TestErrors(runs []Run) Errors {
	var errs []float64
	for i := range runs {
		if r := &runs[i]; r.Times > 0 && r.Moves == 0 && !r.Test.IsZero() {
			errs = append(errs, r.Begun.Sub(r.Test).Seconds())
		}
	}
	return errorsOf(errs)
}

func errorsOf(errs []float64) Errors {
	e := Errors{Jobs: len(errs)}
	if len(errs) == 0 {
		return e
	}
	for i, x := range errs {
		e.Bias += x
		errs[i] = max(x, -x)
	}
	e.Bias /= float64(len(errs))
	slices.Sort(errs)
	e.P50, e.P90 = percentile(errs, 50), percentile(errs, 90)
	return e
}
