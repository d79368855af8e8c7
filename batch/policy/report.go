package policy

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
	"github.com/seed-9b8f70bb/drover/batch/policy/dynp"
	"github.com/seed-9b8f70bb/drover/batch/policy/overbook"
)

// Report is what a policy that has something to tell says of itself.
type Report struct {
	Active   string   // what it follows now; "" if it follows one way only
	Figures  []Figure // in an order of its own
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
	Values   []Figure // what led to it: each metric of each way that was weighed to the end
}

// tuned is a policy that chooses among others.
type tuned interface{ Tuning() dynp.Tuning }

// overbooks is a policy that promises more than there may be.
type overbooks interface{ Counts() overbook.Counts }

// overbooking says how often promises were made and broken.
func overbooking(c overbook.Counts) Report {
	r := Report{}
	for _, f := range []struct {
		name string
		n    int
	}{
		{"jobs overbooked", c.Overbooked},
		{"counting on early ends", c.Counting},
		{"straightened", c.Straightened},
		{"begun late", c.Late},
		{"run on", c.Extended},
		{"paused", c.Paused},
		{"killed to make place", c.Killed},
		{"agreements kept", c.Kept},
		{"outrun by users", c.Outran},
		{"broken: shortened", c.Shortened},
		{"broken: late", c.LateEnd},
	} {
		r.Figures = append(r.Figures, Figure{f.name, float64(f.n)})
	}
	return r
}

// shares is a policy that gives jobs parts of processors.
type shares interface {
	Counts() dfrs.Counts
	MinYield() batch.Share
}

// sharing says how often jobs were put elsewhere, and how little they have.
func sharing(s shares) Report {
	c := s.Counts()
	return Report{Figures: []Figure{
		{"packings", float64(c.Packings)},
		{"paused", float64(c.Paused)},
		{"migrated", float64(c.Migrated)},
		{"minimum yield", float64(s.MinYield()) / float64(batch.One)},
	}}
}

// ReportOf returns what a policy says of itself, with at most so many switches; false
// for one that says nothing.
func ReportOf(p batch.Policy, most int) (Report, bool) {
	if o, is := p.(overbooks); is {
		return overbooking(o.Counts()), true
	}
	if s, is := p.(shares); is {
		return sharing(s), true
	}
	t, is := p.(tuned)
	if !is {
		return Report{}, false
	}
	tuning := t.Tuning()
	r := Report{Active: tuning.Active, Figures: []Figure{
		{"self-tuning steps", float64(tuning.Steps)}, {"switches", float64(tuning.Switches)},
	}}
	for _, c := range tuning.Policies {
		r.Figures = append(r.Figures, Figure{"jobs started by " + c.Policy, float64(c.Started)})
	}
	for i := len(tuning.Last) - 1; i >= 0 && len(r.Switches) < most; i-- {
		last := &tuning.Last[i]
		s := Switch{At: last.At, From: last.From, To: last.To}
		for _, v := range last.Values {
			for k, m := range v.Metrics {
				s.Values = append(s.Values, Figure{tuning.Metrics[k] + " of " + v.Policy, m})
			}
		}
		r.Switches = append(r.Switches, s)
	}
	return r, true
}
