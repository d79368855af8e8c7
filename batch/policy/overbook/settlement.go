package overbook

import "github.com/seed-9b8f70bb/drover/batch"

// Verdict says what has become of an agreement, and why.
type Verdict uint8

// The verdicts. A policy is not told whether a job has done what it was to do: one
// that ends with the last of its estimate is taken for one that outran it, unless its
// driver knows better.
const (
	// Kept: it ended by itself, and in time.
	Kept Verdict = iota + 1
	// Outran: it was given all of its estimate in time, and that was not enough.
	Outran
	// Shortened: it had to make place before it was given all of its estimate.
	Shortened
	// Late: it ended too late, because it was given its estimate too late.
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

// Provider says whether the provider pays (section 3.1.3): what was agreed was not
// given. Otherwise the user does who asked for too little, or nobody.
func (v Verdict) Provider() bool { return v == Shortened || v == Late }

// Settlement is the verdict on one job's agreement. Its handle may be in use again.
type Settlement struct {
	Job     batch.Handle
	Verdict Verdict
	Ran     batch.Duration // for which it had its processors, in all
}

// maxSettled is how many settlements wait for a driver that does not ask for them.
const maxSettled = 1024

// Settlements appends to list what has been settled since the last call. Of more than 1024
// the newest are kept; Counts has all.
func (p *Policy) Settlements(list []Settlement) []Settlement {
	list = append(list, p.settled...)
	p.settled = p.settled[:0]
	return list
}

// Counts are how often something has happened.
type Counts struct {
	Overbooked   int // jobs given a place that is shorter than their estimate, or counts on others
	Counting     int // of those: count on others
	Straightened int // of those: booked for their whole estimate before they began
	Late         int // counted on others in vain, and began late
	Cut          int // began and were booked for less than their estimate
	Extended     int // ran on, because nobody needed their processors
	Paused       int // made place, and wait to go on
	Killed       int // made place for good

	Kept, Outran, Shortened, LateEnd int // settlements
}

// Counts returns what has happened so far.
func (p *Policy) Counts() Counts { return p.counts }

// settle writes down who has kept an agreement and who has not. ran is how long the
// job was given in all.
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
