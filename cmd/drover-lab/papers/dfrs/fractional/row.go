package fractional

import (
	"cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

// The sets of instances.
const (
	// HPC2N are the 182 weeks of the log, each begun with an empty machine.
	HPC2N = "hpc2n"
	// Unscaled are 100 workloads of 1,000 jobs each by the model.
	Unscaled = "unscaled"
	// Scaled are the same at loads of 0.1 to 0.9.
	Scaled = "scaled"
	// Whole is HPC2N's log in one piece: it has no bound.
	Whole = "hpc2n-whole"
)

// Sets are the names of the sets.
var Sets = []string{HPC2N, Unscaled, Scaled, Whole}

// The algorithms that are not the policy's.
const (
	FCFS = "FCFS"
	EASY = "EASY"
)

// Case is an instance and what is done to it.
type Case struct {
	Set   string
	Trace int // the week, from 0, or the seed, from 1
	Load  int // tenths, of Scaled; else 0
	// Algorithm is FCFS, EASY or a name as package dfrs prints it. Settings of the
	// policy beyond the paper stand behind it: "NAME decay=1h match=true".
	Algorithm string
	Period    batch.Duration // 0 for an algorithm that does nothing periodically
	Penalty   batch.Duration
}

// Compare orders cases: by set, in the order of Sets by name, load and trace, then by
// algorithm, period and penalty.
func (c *Case) Compare(o *Case) int {
	return cmp.Or(
		cmp.Compare(c.Set, o.Set), cmp.Compare(c.Load, o.Load), cmp.Compare(c.Trace, o.Trace),
		cmp.Compare(c.Algorithm, o.Algorithm), cmp.Compare(c.Period, o.Period), cmp.Compare(c.Penalty, o.Penalty),
	)
}

// Row is a case and what came of it.
type Row struct {
	Case
	Jobs        int
	Bound       float64 // of the maximum stretch; 0 if it was not asked for
	MaxStretch  float64
	MeanStretch float64

	Preemptions    int   // of jobs
	Migrations     int   // of jobs
	PreemptedBytes int64 // out and in
	MigratedBytes  int64 // out and in

	Span   batch.Duration // from the first submission to the last end
	Work   float64        // of all jobs, in seconds of a node
	Demand float64        // the integral of min(nodes, demand), in seconds of a node
}

// Degradation returns the largest stretch over the bound; 0 without one.
func (r *Row) Degradation() float64 {
	if r.Bound == 0 {
		return 0
	}
	return r.MaxStretch / r.Bound
}

// Underutilization returns how much more than the work could have been done while
// there was demand, as a part of the work; 0 without work.
func (r *Row) Underutilization() float64 {
	if r.Work == 0 {
		return 0
	}
	return (r.Demand - r.Work) / r.Work
}

// PerHour returns how often jobs are preempted and migrated in an hour.
func (r *Row) PerHour() (preemptions, migrations float64) {
	return r.per(3600*float64(r.Preemptions), r.Span.Seconds()), r.per(3600*float64(r.Migrations), r.Span.Seconds())
}

// PerJob returns how often a job is preempted and migrated.
func (r *Row) PerJob() (preemptions, migrations float64) {
	return r.per(float64(r.Preemptions), float64(r.Jobs)), r.per(float64(r.Migrations), float64(r.Jobs))
}

// Bandwidth returns what preemptions and migrations take, in GB (10^9 bytes) a second.
func (r *Row) Bandwidth() (preemptions, migrations float64) {
	return r.per(float64(r.PreemptedBytes)/1e9, r.Span.Seconds()), r.per(float64(r.MigratedBytes)/1e9, r.Span.Seconds())
}

func (r *Row) per(n, of float64) float64 {
	if of == 0 {
		return 0
	}
	return n / of
}
