package mapping

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Missing is why a candidate has no estimate.
type Missing uint8

// The reasons. Answered means that there is an estimate.
const (
	Answered    Missing = iota
	Timeout             // no answer in time
	Unreachable         // the call failed
	Refused             // it would not accept the request, or would never start it
)

// String returns the reason in lower case.
func (m Missing) String() string {
	switch m {
	case Answered:
		return "answered"
	case Timeout:
		return "timeout"
	case Unreachable:
		return "unreachable"
	case Refused:
		return "refused"
	}
	return "unspecified"
}

// Answer is one site's answer, or why there is none. Wait and Run are not negative.
type Answer struct {
	Site     string
	Missing  Missing
	Transfer batch.Duration // of the input, from the decision

	// At is the instant, on the mapper's clock, from which Wait counts: when the site's state
	// was taken. If the durations of a site count from its answer, At is when the answer
	// arrived, and Age how old the state was then.
	At  batch.Time
	Age batch.Duration

	Wait     batch.Duration // from At to the start; Forever if it cannot run there
	Run      batch.Duration // expected runtime
	Width    int32
	Walltime batch.Duration
	Kind     batch.Kind
	P        float64 // of Probable

	Record *Record // of the site's estimates; nil for no correction
}

// Candidate is one site in a Decision. Durations count from the decision. A missing
// candidate has only Site, Missing, Transfer and Answer.
type Candidate struct {
	Site       string
	Missing    Missing
	Transfer   batch.Duration // of the input
	Wait       batch.Duration // to the start, which is not before the end of the transfer
	Run        batch.Duration
	Completion batch.Duration // Wait + Run
	Margin     batch.Duration // Completion minus that of the chosen site
	Age        batch.Duration // how old the site's state was
	Width      int32
	Walltime   batch.Duration
	Kind       batch.Kind
	P          float64
	Correction batch.Duration // of Completion, which includes it
	Answer     int32          // index among the answers
}

// Decision is where a request goes, and why.
type Decision struct {
	At batch.Time
	// Ranked is how many Candidates have an estimate. The first one is chosen. 0 means that no
	// site can run the request.
	Ranked int
	// Candidates has the ranked ones, best first, then the missing ones by name.
	Candidates []Candidate
}

// Chosen returns the best candidate; false if no site can run the request.
func (d *Decision) Chosen() (Candidate, bool) {
	if d.Ranked == 0 {
		return Candidate{}, false
	}
	return d.Candidates[0], true
}

// Choose ranks the answers by completion time, ties by name of the site, and writes the
// decision as of now into out and reuses the memory of out. It does not change answers. The
// result depends only on now and the set of answers, not on their order.
//
// A start that passed while the driver waited for other answers counts as now.
func Choose(now batch.Time, answers []Answer, out *Decision) {
	out.At = now
	out.Ranked = 0
	out.Candidates = out.Candidates[:0]
	for i := range answers {
		c := weigh(now, &answers[i])
		c.Answer = int32(i)
		if c.Missing == Answered {
			out.Ranked++
		}
		out.Candidates = append(out.Candidates, c)
	}
	slices.SortStableFunc(out.Candidates, better)
	for i := range out.Candidates[:out.Ranked] {
		c := &out.Candidates[i]
		c.Margin = c.Completion - out.Candidates[0].Completion
	}
}

// weigh returns the candidate of an answer, corrected by the answer's age.
func weigh(now batch.Time, a *Answer) Candidate {
	c := Candidate{Site: a.Site, Missing: a.Missing, Transfer: a.Transfer}
	if c.Missing == Answered && (a.Wait == batch.Forever || a.Transfer == batch.Forever) {
		c.Missing = Refused
	}
	if c.Missing != Answered {
		return c
	}
	old := max(now.Sub(a.At), 0)
	c.Wait = max(a.Wait-old, a.Transfer, 0)
	c.Run = a.Run
	c.Completion = plus(c.Wait, c.Run)
	if a.Record != nil {
		a.Record.correct(&c)
	}
	c.Age = plus(a.Age, old)
	c.Width, c.Walltime, c.Kind, c.P = a.Width, a.Walltime, a.Kind, a.P
	return c
}

// better orders candidates: those with an estimate first, then by completion, then by
// name.
func better(a, b Candidate) int {
	return cmp.Or(
		cmp.Compare(min(a.Missing, 1), min(b.Missing, 1)),
		cmp.Compare(a.Completion, b.Completion),
		strings.Compare(a.Site, b.Site),
	)
}

// Record is the accuracy of a site's earlier estimates for a service. It has medians,
// because a few jobs that waited for days say little about the next one.
type Record struct {
	Jobs  int
	Start batch.Duration // actual minus estimated start
	Run   batch.Share    // actual over estimated runtime
}

// enoughRecord is the number of jobs from which a record counts.
const enoughRecord = 10

// The range of a runtime correction: a factor beyond it comes from different jobs.
const (
	leastRun = batch.One / 16
	mostRun  = 16 * batch.One
)

// correct corrects a candidate by the record. A start never becomes earlier than now, or
// than the end of the transfer.
func (r *Record) correct(c *Candidate) {
	if r.Jobs < enoughRecord {
		return
	}
	before := c.Completion
	if r.Start > 0 {
		c.Wait = plus(c.Wait, r.Start)
	} else {
		c.Wait = max(c.Wait+r.Start, c.Transfer, 0)
	}
	c.Run = scale(c.Run, min(max(r.Run, leastRun), mostRun))
	c.Completion = plus(c.Wait, c.Run)
	c.Correction = c.Completion - before
}

// scale returns d times share, d not negative, to 2^-20 of it.
func scale(d batch.Duration, share batch.Share) batch.Duration {
	whole, rest := d/batch.Duration(batch.One), d%batch.Duration(batch.One)
	if whole >= batch.Forever/batch.Duration(mostRun) {
		return d
	}
	return whole*batch.Duration(share) + rest*batch.Duration(share)/batch.Duration(batch.One)
}
