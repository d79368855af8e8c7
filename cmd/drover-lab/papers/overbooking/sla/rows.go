package sla

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/overbook"
)

// Row is an experiment and what came of it.
type Row struct {
	Case
	Account
}

// Run makes the experiment. It ends early only if ctx does.
func (c *Case) Run(ctx context.Context) (Row, error) {
	a, err := Run(ctx, c.workload, c.Procs, c.demand, c.settings)
	if err != nil {
		return Row{}, fmt.Errorf("%s, %s, maxPoF %s: %w", c.Trace, c.Way, c.MaxPoF, err)
	}
	return Row{*c, a}, nil
}

// Schema names the columns of a table of rows.
const Schema = "drover.sim.overbooking/1"

// Columns are those of a table of rows. Worths are in processor hours, useful and vain
// areas too; slack is in parts of the estimate.
var Columns = []string{
	"schema", "trace", "processors", "slack", "way", "maxPoF", "seed",
	"offered", "accepted", "kept", "outran", "shortened", "late",
	"offered_worth", "accepted_worth", "paid", "broken", "useful", "vain", "utilization", "useful_utilization",
	"overbooked", "counting", "straightened", "began_late", "ran_on", "paused", "killed",
}

// WriteCSV writes rows as a table.
func WriteCSV(w io.Writer, rows []Row) error {
	out := csv.NewWriter(w)
	if err := out.Write(Columns); err != nil {
		return err
	}
	for i := range rows {
		if err := out.Write(rows[i].record()); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func (r *Row) record() []string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	all, useful := r.Utilization(r.Procs)
	c := &r.Counts
	record := []string{
		Schema, r.Trace, strconv.Itoa(int(r.Procs)), number(float64(r.Slack) / 1000), r.Way, r.MaxPoF,
		strconv.FormatUint(r.Seed, 10),
	}
	for _, n := range []int{
		r.Offered.Jobs, r.Accepted.Jobs, r.Kept.Jobs, r.Outran.Jobs, r.Shortened.Jobs, r.Late.Jobs,
	} {
		record = append(record, strconv.Itoa(n))
	}
	for _, v := range []float64{
		float64(r.Offered.Worth) / 3600, float64(r.Accepted.Worth) / 3600, r.Paid(), r.Broken(),
		float64(r.Useful) / 3600, float64(r.Vain) / 3600, all, useful,
	} {
		record = append(record, number(v))
	}
	for _, n := range []int{c.Overbooked, c.Counting, c.Straightened, c.Late, c.Extended, c.Paused, c.Killed} {
		record = append(record, strconv.Itoa(n))
	}
	return record
}

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
	Shortened         Sum // killed to free processors
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
