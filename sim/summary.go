package sim

import (
	"math"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dynp"
)

// SummarySchema names the version of a Summary in JSON.
const SummarySchema = "drover.sim.summary/1"

// Summary holds the figures of a run. Times are in seconds.
type Summary struct {
	Schema string `json:"schema"`
	Figures
	// SelfTuning is nil unless there is one site and its policy tunes itself.
	*SelfTuning
	// Grid has the figures of the grid jobs if some jobs are local. Its utilization is the
	// share of all processors that grid jobs use.
	Grid  *Figures      `json:"grid,omitempty"`
	Sites []SiteSummary `json:"sites"`
	// Reallocation is nil without rounds.
	Reallocation *ReallocationFigures `json:"reallocation,omitempty"`
	// Comparison is nil unless the run was compared with a reference.
	Comparison *Comparison `json:"comparison,omitempty"`
}

// ReallocationFigures are the figures of all rounds of a run.
type ReallocationFigures struct {
	Algorithm string `json:"algorithm"`
	Heuristic string `json:"heuristic"`
	Rounds    int    `json:"rounds"`    // in which jobs waited
	Moves     int    `json:"moves"`     // from site to site
	Moved     int    `json:"moved"`     // jobs moved at least once
	Held      int    `json:"held"`      // holds, over all rounds
	Later     int    `json:"later"`     // delays, over all rounds
	Kept      int    `json:"kept"`      // jobs not held because rounds had delayed them too often, over all rounds
	Questions int    `json:"questions"` // to one site each
	Estimates int64  `json:"estimates"` // jobs in all questions
	// LaterMost is the maximum number of delays of one job.
	LaterMost int `json:"put_back_later_most"`
	// BytesMoved is the input of all moves.
	BytesMoved int64 `json:"bytes_moved"`
}

// GridFigures are the figures of the jobs that the grid has mapped.
func (s *Summary) GridFigures() *Figures {
	if s.Grid != nil {
		return s.Grid
	}
	return &s.Figures
}

// SiteSummary has the figures of one site.
type SiteSummary struct {
	Name       string `json:"name"`
	Policy     string `json:"policy"`
	Processors int32  `json:"processors"`
	Speed      string `json:"speed"`
	Figures
	*SelfTuning // nil unless its policy tunes itself
}

// Figures are the figures of a set of jobs.
//
// The slowdown of a job is its response time over its runtime, both measured; a runtime below a
// second counts as a second. The bounded slowdown (10 s) is max(1, response / max(runtime, 10
// s)). The area-weighted slowdown is the sum of width times response over the sum of width
// times runtime.
type Figures struct {
	Jobs        int      `json:"jobs"`
	Rejected    Rejected `json:"rejected"`
	Killed      int      `json:"killed"`
	Makespan    float64  `json:"makespan"`    // first submission to last end
	Utilization float64  `json:"utilization"` // of the processors, over the makespan

	WaitMean   float64 `json:"wait_mean"`
	WaitMedian float64 `json:"wait_median"`
	WaitP95    float64 `json:"wait_p95"`
	WaitMax    float64 `json:"wait_max"`

	ResponseMean   float64 `json:"response_mean"`
	ResponseMedian float64 `json:"response_median"`
	ResponseP95    float64 `json:"response_p95"`
	ResponseMax    float64 `json:"response_max"`

	SlowdownMean   float64 `json:"slowdown_mean"`
	SlowdownMedian float64 `json:"slowdown_median"`
	SlowdownP95    float64 `json:"slowdown_p95"`
	SlowdownMax    float64 `json:"slowdown_max"`

	BoundedSlowdownMean   float64 `json:"bounded_slowdown_mean"`
	BoundedSlowdownMedian float64 `json:"bounded_slowdown_median"`
	BoundedSlowdownP95    float64 `json:"bounded_slowdown_p95"`
	BoundedSlowdownMax    float64 `json:"bounded_slowdown_max"`

	SlowdownAreaWeighted float64 `json:"slowdown_area_weighted"`
}

// boundedBelow is the minimum runtime in the bounded slowdown.
const boundedBelow = 10 * batch.Second

// measure returns the figures of the jobs for which keep returns true, or of all if keep is
// nil, on a machine with the given number of processors.
func measure(w *Workload, outcomes []Outcome, processors int64, keep func(i int) bool) Figures {
	f := Figures{Rejected: w.Rejected}
	var (
		wait, response    series
		slowdown, bounded series
		used, responded   batch.Area
		first, last       = batch.Never, batch.Time(math.MinInt64)
	)
	n := len(outcomes)
	if keep != nil {
		n = 0
		for i := range outcomes {
			if keep(i) {
				n++
			}
		}
	}
	for _, s := range []*series{&wait, &response, &slowdown, &bounded} {
		s.values = make([]float64, 0, n)
	}
	for i := range outcomes {
		if keep != nil && !keep(i) {
			continue
		}
		o, submit := &outcomes[i], w.Jobs[i].Submit
		run, resp := o.run(), o.End.Sub(submit)
		first, last = min(first, submit), max(last, o.End)
		if o.Killed {
			f.Killed++
		}
		used = used.Add(batch.AreaOf(o.Width, run))
		if run > 0 {
			responded = responded.Add(batch.AreaOf(o.Width, resp))
		}
		wait.add(o.Start.Sub(submit).Seconds())
		response.add(resp.Seconds())
		slowdown.add(float64(resp) / float64(max(run, batch.Second)))
		bounded.add(max(1, float64(resp)/float64(max(run, boundedBelow))))
	}
	if f.Jobs = n; n == 0 {
		return f
	}
	f.Makespan = last.Sub(first).Seconds()
	if f.Makespan > 0 {
		f.Utilization = used.Seconds() / (float64(processors) * f.Makespan)
	}
	if s := used.Seconds(); s > 0 {
		f.SlowdownAreaWeighted = responded.Seconds() / s
	}
	f.WaitMean, f.WaitMedian, f.WaitP95, f.WaitMax = wait.figures()
	f.ResponseMean, f.ResponseMedian, f.ResponseP95, f.ResponseMax = response.figures()
	f.SlowdownMean, f.SlowdownMedian, f.SlowdownP95, f.SlowdownMax = slowdown.figures()
	f.BoundedSlowdownMean, f.BoundedSlowdownMedian, f.BoundedSlowdownP95, f.BoundedSlowdownMax = bounded.figures()
	return f
}

// series are the values of one metric.
type series struct {
	values []float64
	sum    float64
}

func (s *series) add(v float64) {
	s.values = append(s.values, v)
	s.sum += v
}

// figures returns the mean, and the median, 95th percentile and maximum by the nearest rank. It
// changes the order of the values.
func (s *series) figures() (mean, median, p95, most float64) {
	n := len(s.values)
	top := rank(n, 95)
	p95 = nth(s.values, top)
	most = p95
	for _, v := range s.values[top:] {
		most = max(most, v)
	}
	return s.sum / float64(n), nth(s.values[:top+1], rank(n, 50)), p95, most
}

// rank returns the position of a percentile among n sorted values.
func rank(n, percent int) int { return max((n*percent+99)/100, 1) - 1 }

// nth returns the value at position k of the sorted values. It reorders the values so that no
// later one is smaller and no earlier one larger (C. A. R. Hoare, "Algorithm 65: Find", 1961).
// This takes linear time; sorting four metrics would cost as much as a simulation.
func nth(values []float64, k int) float64 {
	for lo, hi := 0, len(values)-1; lo < hi; {
		pivot := values[lo+(hi-lo)/2]
		i, j := lo, hi
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for values[j] > pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return values[k]
		}
	}
	return values[k]
}

// SelfTuning reports the work of a self-tuning policy.
type SelfTuning struct {
	Steps    int `json:"self_tuning_steps"`
	Switches int `json:"policy_switches"` // steps after which another policy was active
	// Policies have the order of the setting.
	Policies []PolicyShare `json:"policies"`
	// Cases count the results of the steps.
	Cases []TuningCase `json:"self_tuning_cases"`
}

// PolicyShare is the part of one of the policies among which a self-tuning policy chooses.
type PolicyShare struct {
	Name     string  `json:"name"`
	Switches int     `json:"switches"` // to it
	Started  int     `json:"started"`  // jobs, while it was active
	Share    float64 `json:"share"`    // of all started jobs
}

// TuningCase counts the steps in which, while Active was active, the policies in Best were
// best.
type TuningCase struct {
	Active string   `json:"active"`
	Best   []string `json:"best"`
	Steps  int      `json:"steps"`
}

// selfTuner is a policy that reports its self-tuning.
type selfTuner interface{ Tuning() dynp.Tuning }

// selfTuning returns the report of a policy, or nil if it does not tune itself.
func selfTuning(p batch.Policy) *SelfTuning {
	tuner, ok := p.(selfTuner)
	if !ok {
		return nil
	}
	t := tuner.Tuning()
	s := &SelfTuning{Steps: t.Steps, Switches: t.Switches, Cases: []TuningCase{}}
	started := 0
	for _, c := range t.Policies {
		started += c.Started
	}
	for _, c := range t.Policies {
		share := PolicyShare{Name: c.Policy, Switches: c.Switches, Started: c.Started}
		if started > 0 {
			share.Share = float64(c.Started) / float64(started)
		}
		s.Policies = append(s.Policies, share)
	}
	for _, c := range t.Cases {
		s.Cases = append(s.Cases, TuningCase(c))
	}
	return s
}
