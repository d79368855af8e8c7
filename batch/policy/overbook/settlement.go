package overbook

import "github.com/seed-9b8f70bb/drover/batch"

// Verdict is the result of an agreement.
type Verdict uint8

// The verdicts. A policy does not know whether a job has succeeded: one that ends exactly
// with its estimate counts as Outran, unless the driver knows better.
const (
	// Kept: the job ended by itself and in time.
	Kept Verdict = iota + 1
	// Outran: the job had its whole estimate in time, and that was not enough.
	Outran
	// Shortened: the job was preempted before it had its whole estimate.
	Shortened
	// Late: the job ended too late, because it got its estimate too late.
	Late
)

var verdictNames = [...]string{Kept: "kept", Outran: "outran", Shortened: "shortened", Late: "late"}

// String names a verdict.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) && verdictNames[v] != "" {
		return verdictNames[v]
	}
	return "unspecified"
}

// Provider reports whether the provider pays (section 3.1.3) because it broke the
// agreement. Otherwise the user pays for a short estimate, or neither.
func (v Verdict) Provider() bool { return v == Shortened || v == Late }

// Settlement is the verdict on one job's agreement. The handle may be reused.
type Settlement struct {
	Job     batch.Handle
	Verdict Verdict
	Ran     batch.Duration // total time on processors
}

// maxSettled bounds the settlements that wait for the driver.
const maxSettled = 1024

// Settlements appends the settlements since the last call to list, at most the newest
// 1024; Counts counts all.
func (p *Policy) Settlements(list []Settlement) []Settlement {
	list = append(list, p.settled...)
	p.settled = p.settled[:0]
	return list
}

// Counts are event counters.
type Counts struct {
	Overbooked   int // jobs with a slot shorter than their estimate, or that count on others
	Counting     int // of those, jobs that count on others
	Straightened int // of those, jobs booked for their whole estimate before they began
	Late         int // jobs that counted on others in vain and began late
	Cut          int // jobs that began with a booking shorter than their estimate
	Extended     int // jobs that ran past their booking on processors that were not needed
	Paused       int // jobs preempted at a checkpoint
	Killed       int // jobs preempted by a kill

	Kept, Outran, Shortened, LateEnd int // settlements
}

// Counts returns the counters so far.
func (p *Policy) Counts() Counts { return p.counts }

// settle records the verdict on a job's agreement. ran is its total time on processors.
func (p *Policy) settle(now batch.Time, h batch.Handle, j *job, ran batch.Duration) {
	if !j.spec.Agreed {
		return
	}
	due := batch.Never
	if j.spec.Deadline > 0 {
		due = j.spec.Deadline
	}
	v := Late
	switch {
	case j.killed && ran < j.estimate:
		v = Shortened
	case ran < j.estimate && now <= due:
		v = Kept
	case ran >= j.estimate && now.Add(j.estimate-ran) <= due:
		v = Outran
	}
	switch v {
	case Kept:
		p.counts.Kept++
	case Outran:
		p.counts.Outran++
	case Shortened:
		p.counts.Shortened++
	case Late:
		p.counts.LateEnd++
	}
	if len(p.settled) == maxSettled {
		p.settled = append(p.settled[:0], p.settled[1:]...)
	}
	p.settled = append(p.settled, Settlement{h, v, ran})
}
