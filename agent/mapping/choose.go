package mapping

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Missing says why a candidate has no estimate.
type Missing uint8

// The reasons. Answered is the absence of one.
const (
	Answered    Missing = iota
	Timeout             // no answer in time
	Unreachable         // the question or the answer got lost
	Refused             // it would not accept the request, or never start it
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

// Answer is what one site said, or that it said nothing. Wait and Run are not
// negative.
type Answer struct {
	Site     string
	Missing  Missing
	Transfer batch.Duration // of the input, from the decision on

	// At is the instant, on the mapper's clock, from which Wait counts: when the
	// state was taken that the site planned with. For a site whose durations
	// count from its answer it is the instant at which the answer came, and Age
	// how old the state was then.
	At  batch.Time
	Age batch.Duration

	Wait     batch.Duration // from At to the start; Forever: it cannot run there
	Run      batch.Duration // from the start to the end that is expected
	Width    int32
	Walltime batch.Duration
	Kind     batch.Kind
	P        float64 // of Probable

	Record *Record // of the site's estimates; nil: it is not to be corrected
}

// Candidate is one site in a Decision. Durations count from the decision. Of a
// missing one only Site, Missing, Transfer and Answer mean anything.
type Candidate struct {
	Site       string
	Missing    Missing
	Transfer   batch.Duration // of the input
	Wait       batch.Duration // to the start, which is not before the end of the transfer
	Run        batch.Duration
	Completion batch.Duration // Wait + Run
	Margin     batch.Duration // how much later than at the chosen site
	Age        batch.Duration // how old the site's state was
	Width      int32
	Walltime   batch.Duration
	Kind       batch.Kind
	P          float64
	Correction batch.Duration // of Completion, which has it
	Answer     int32          // index among the answers
}

// Decision is where a request goes and why.
type Decision struct {
	At batch.Time
	// Ranked is how many of the Candidates have an estimate; the first of them
	// is chosen. 0: nobody can run it.
	Ranked int
	// Candidates are the ranked ones, best first, then the missing ones by name.
	Candidates []Candidate
}

// Chosen returns the best candidate; false if nobody can run the request.
func (d *Decision) Chosen() (Candidate, bool) {
	if d.Ranked == 0 {
		return Candidate{}, false
	}
	return d.Candidates[0], true
}

// Choose ranks the answers by completion time, equal ones by the names of the
// sites, and writes the decision of the instant now into out, whose memory it
// uses again. Answers are not changed. It is a function of now and the set of
// answers: the order in which they came does not matter.
//
// A start that has passed while other answers were awaited is a start at now.
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

// weigh returns the candidate of an answer that is some time old.
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

// better orders candidates: with an estimate before without, earlier completion
// before later, then by name.
func better(a, b Candidate) int {
	return cmp.Or(
		cmp.Compare(min(a.Missing, 1), min(b.Missing, 1)),
		cmp.Compare(a.Completion, b.Completion),
		strings.Compare(a.Site, b.Site),
	)
}
