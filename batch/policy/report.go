package policy

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
	"github.com/seed-9b8f70bb/drover/batch/policy/dynp"
	"github.com/seed-9b8f70bb/drover/batch/policy/overbook"
)

// Report is what a policy says about itself.
type Report struct {
	Active   string   // which of its ways it follows now; "" if it has only one
	Figures  []Figure // in the policy's own order
	Switches []Switch // the last ones, the latest first
}

// Figure is a value with a name.
type Figure struct {
	Name  string
	Value float64
}

// Switch is a change from one way to another.
type Switch struct {
	At       batch.Time
	From, To string
	Values   []Figure // the metrics of all ways that were compared to the end
}

// ReportOf returns what a policy that New made says about itself, with at most the given
// number of switches; false if it says nothing.
func ReportOf(name string, p batch.Policy, switches int) (Report, bool) {
	e := Of(name)
	if e.Report == nil {
		return Report{}, false
	}
	return e.Report(p, switches), true
}

// reportOverbooking counts the promises that were made and broken.
func reportOverbooking(p batch.Policy, _ int) Report {
	c := p.(*overbook.Policy).Counts()
	r := Report{}
	for _, f := range []struct {
		name string
		n    int
	}{
		{"jobs overbooked", c.Overbooked},
		{"planned on early ends", c.Counting},
		{"booked in full again", c.Straightened},
		{"started late", c.Late},
		{"ran past their slots", c.Extended},
		{"paused", c.Paused},
		{"killed for other jobs", c.Killed},
		{"agreements kept", c.Kept},
		{"outrun by users", c.Outran},
		{"broken: shortened", c.Shortened},
		{"broken: late", c.LateEnd},
	} {
		r.Figures = append(r.Figures, Figure{f.name, float64(f.n)})
	}
	return r
}

// reportShares counts how often jobs were moved, and how little of a processor they have.
func reportShares(p batch.Policy, _ int) Report {
	d := p.(*dfrs.Policy)
	c := d.Counts()
	return Report{Figures: []Figure{
		{"packings", float64(c.Packings)},
		{"paused", float64(c.Paused)},
		{"migrated", float64(c.Migrated)},
		{"minimum yield", float64(d.MinYield()) / float64(batch.One)},
	}}
}

// reportTuning reports which order of the queue is active, and why it was chosen.
func reportTuning(p batch.Policy, switches int) Report {
	tuning := p.(*dynp.Policy).Tuning()
	r := Report{Active: tuning.Active, Figures: []Figure{
		{"self-tuning steps", float64(tuning.Steps)}, {"switches", float64(tuning.Switches)},
	}}
	for _, c := range tuning.Policies {
		r.Figures = append(r.Figures, Figure{"jobs started by " + c.Policy, float64(c.Started)})
	}
	for i := len(tuning.Last) - 1; i >= 0 && len(r.Switches) < switches; i-- {
		last := &tuning.Last[i]
		s := Switch{At: last.At, From: last.From, To: last.To}
		for _, v := range last.Values {
			for k, m := range v.Metrics {
				s.Values = append(s.Values, Figure{tuning.Metrics[k] + " of " + v.Policy, m})
			}
		}
		r.Switches = append(r.Switches, s)
	}
	return r
}
