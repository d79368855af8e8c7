package sla

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/overbook"
)

// Sum is a number of jobs and what they are worth.
type Sum struct {
	Jobs  int
	Worth int64 // processor seconds of their estimates
}

func (s *Sum) add(width int32, estimate batch.Duration) {
	s.Jobs++
	s.Worth += int64(width) * int64(estimate/batch.Second)
}

// Account is what has become of a demand. Offered is Accepted and what was refused;
// Accepted is Kept, Outran, Shortened and Late.
type Account struct {
	Offered, Accepted Sum
	Fixed             Sum // of the accepted
	Kept              Sum // completed in time
	Outran            Sum // used up their estimates; their users pay all the same
	Shortened         Sum // killed to make place
	Late              Sum // ended after their windows, because they were given their time late

	Useful int64      // processor seconds of the jobs that were completed
	Vain   int64      // and of those that were killed
	Span   batch.Time // from the first submission to the last end
	Counts overbook.Counts
}

// Paid returns what users pay, in processor hours.
func (a *Account) Paid() float64 { return float64(a.Kept.Worth+a.Outran.Worth) / 3600 }

// Broken returns the worth of the agreements that the provider has broken.
func (a *Account) Broken() float64 { return float64(a.Shortened.Worth+a.Late.Worth) / 3600 }

// Profit returns what is left of what users pay when the provider has paid a penalty of
// so many times what each broken agreement was worth.
func (a *Account) Profit(penalty float64) float64 { return a.Paid() - penalty*a.Broken() }

// Utilization returns the share of the machine that ran jobs, and that of it which ran
// jobs that were completed.
func (a *Account) Utilization(procs int32) (all, useful float64) {
	if a.Span <= 0 {
		return 0, 0
	}
	area := float64(procs) * a.Span.Sub(0).Seconds()
	return float64(a.Useful+a.Vain) / area, float64(a.Useful) / area
}
