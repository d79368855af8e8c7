package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// TuningSchema names the version of a TuningReport in JSON.
const TuningSchema = "drover.sim.tuning/1"

// TuningReport compares exhaustive tuning with the paper's binary search, over all submissions
// of a scenario. Just before a job is submitted, both tune it at the chosen site on the same
// plan; the job gets the shape of exhaustive tuning. Times are in seconds.
type TuningReport struct {
	Schema   string `json:"schema"`
	Jobs     int    `json:"jobs"`     // that the grid has mapped
	Moldable int    `json:"moldable"` // of these, with more than one width
	// Worse is the number of jobs that binary search would have completed later, WorseShare
	// their share of the moldable jobs. Later and Ratio are about these jobs.
	Worse      int     `json:"worse"`
	WorseShare float64 `json:"worse_share"`
	// Later is the delay. Ratio is the time from submission to completion, relative to that of
	// exhaustive tuning.
	Later Spread `json:"later"`
	Ratio Spread `json:"ratio"`

	Exhaustive TuningFigures `json:"exhaustive"`
	Binary     TuningFigures `json:"binary"`
}

// Spread is a mean, and percentiles by the nearest rank. All are 0 if there are no values.
type Spread struct {
	Mean   float64 `json:"mean"`
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
	Max    float64 `json:"max"`
}

// TuningFigures are the figures of one way of tuning.
type TuningFigures struct {
	Questions int64 `json:"questions"` // to planners
	Estimates int64 `json:"estimates"` // shapes in all questions
	// A run in which all sites tune this way.
	ResponseMean        float64 `json:"response_mean"`
	WaitMean            float64 `json:"wait_mean"`
	BoundedSlowdownMean float64 `json:"bounded_slowdown_mean"`
}

// TuningCost is the time of both ways. It differs between runs.
type TuningCost struct {
	Exhaustive, Binary time.Duration
}

// CompareTunings runs a variant twice, once for each way of tuning, and tunes each submission
// of the first run both ways. Clock returns the time since some instant; it measures the time
// of the answers.
func (p *Prepared) CompareTunings(
	ctx context.Context, v Variant, clock func() time.Duration, progress func(done, total int),
) (*TuningReport, TuningCost, error) {
	if p.scenario.Mapping == MappingNone {
		return nil, TuningCost{}, errors.New("mapping none, under which nothing is tuned, accepted: mct")
	}
	c := &tuningProbe{clock: clock}
	v.Tuning, v.probe = site.Exhaustive.String(), c
	exhaustive, err := p.Run(ctx, v, progress)
	if err != nil {
		return nil, c.cost, err
	}
	v.Tuning, v.probe = site.Binary.String(), nil
	binary, err := p.Run(ctx, v, progress)
	if err != nil {
		return nil, c.cost, fmt.Errorf("with binary search: %w", err)
	}
	r := &c.report
	r.Schema = TuningSchema
	if r.Moldable > 0 {
		r.WorseShare = float64(r.Worse) / float64(r.Moldable)
	}
	r.Later, r.Ratio = c.later.spread(), c.ratio.spread()
	r.Exhaustive.take(&c.all, exhaustive)
	r.Binary.take(&c.some, binary)
	return r, c.cost, nil
}

func (f *TuningFigures) take(c *counting, r *Result) {
	grid := r.Summary.GridFigures()
	*f = TuningFigures{c.questions, c.estimates, grid.ResponseMean, grid.WaitMean, grid.BoundedSlowdownMean}
}

func (s *series) spread() Spread {
	if len(s.values) == 0 {
		return Spread{}
	}
	var out Spread
	out.Mean, out.Median, out.P95, out.Max = s.figures()
	return out
}

// tuningProbe tunes both ways and compares the results.
type tuningProbe struct {
	clock  func() time.Duration
	cores  []*site.Site // by site; they use binary search
	report TuningReport
	cost   TuningCost

	later, ratio series
	all, some    counting
}

// join creates for each site a second core that uses binary search.
func (t *tuningProbe) join(g *Grid, s *Scenario) error {
	if t == nil {
		return nil
	}
	searching := *s
	searching.Tuning = site.Binary.String()
	other, err := NewGrid(&searching, nil)
	if err != nil {
		return err
	}
	for _, s := range other.sites {
		t.cores = append(t.cores, s.core)
	}
	g.probe = t
	return nil
}

// ask tunes a job that is about to be submitted to a site. The two ways alternate in going
// first, because the second one finds the plan in the cache.
func (t *tuningProbe) ask(now batch.Time, s *gridSite, request *site.Request) error {
	if t == nil {
		return nil
	}
	t.report.Jobs++
	if len(request.Menu) > 1 {
		t.report.Moldable++
	}
	t.all.of, t.some.of = s, s
	question := site.Question{Request: request}
	begin := t.clock()
	var (
		best, found site.Quote
		err, err2   error
		middle, end time.Duration
	)
	if t.report.Jobs%2 == 0 {
		best, err = s.core.Quote(now, question, &t.all)
		middle = t.clock()
		found, err2 = t.cores[s.index].Quote(now, question, &t.some)
		end = t.clock()
		t.cost.Exhaustive += middle - begin
		t.cost.Binary += end - middle
	} else {
		found, err2 = t.cores[s.index].Quote(now, question, &t.some)
		middle = t.clock()
		best, err = s.core.Quote(now, question, &t.all)
		end = t.clock()
		t.cost.Binary += middle - begin
		t.cost.Exhaustive += end - middle
	}
	if err != nil || err2 != nil {
		return fmt.Errorf("site %s took back its quote: %w", s.name, errors.Join(err, err2))
	}
	d := found.Completion - best.Completion
	if d < 0 {
		return fmt.Errorf("site %s: exhaustive tuning has missed %v, and taken %v", s.name, found.Shape, best.Shape)
	}
	if d > 0 {
		t.report.Worse++
		t.later.add(d.Seconds())
		t.ratio.add(found.Completion.Seconds() / best.Completion.Seconds())
	}
	return nil
}

// counting is a site's planner that counts the questions.
type counting struct {
	of                   *gridSite
	questions, estimates int64
}

// Estimate implements site.Planner.
func (c *counting) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	c.questions++
	for i := range asks {
		c.estimates += int64(len(asks[i].Shapes))
	}
	return c.of.Estimate(now, asks, out)
}
