package rounds

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

// Job is a waiting job that may be moved.
type Job struct {
	Site  int // where it waits
	Shape batch.Shape
	// Like groups jobs that ask for just the same: any site, whatever its plan, answers
	// the same about each of them, and their input travels alike. 0 is like no other.
	Like int
	Past reallocation.Past
}

// Input is what a round is about.
type Input struct {
	Config reallocation.Config // validated
	Sites  int
	Jobs   []Job // in order of submission
	// Transfer says how long a job's input travels; nil: nothing is known.
	Transfer reallocation.Transfer
	// Offers says whether a site has the service of a job; nil: all have all.
	Offers func(job, site int) bool
}

// Choice is what is to become of one job.
type Choice struct {
	Job, From, To int // it stays if To is From
	// Before and After are its ECTs from the beginning of the round.
	Before, After batch.Duration
	Least         batch.Duration // the gain that is demanded of a move
	Shape         batch.Shape    // that it is to get
	Past          reallocation.Past
}

// Gain is how much sooner the job is to be completed.
func (c *Choice) Gain() batch.Duration { return c.Before - c.After }

// Result is a round that was computed.
type Result struct {
	Choices []Choice // in the order in which they were made
	Record  reallocation.Record
	Lost    []bool // by site: left out, from the beginning or from some instant on
}

// round is one round being computed.
type round struct {
	in       Input
	drafts   Drafts
	seen     []reallocation.Job // of the round, those of sites that take part
	index    []int              // of seen, in in.Jobs
	lost     []bool
	standing []batch.Duration // by job of in: its ECT when it was last asked about as it stands
	calls    []*Call          // by site: what it is called for next, nil for nothing
	edits    [][]int          // by site: the choices that the edits of its call are of; -1: of none
	choices  []Choice
	refused  []bool // by choice
}

// Compute computes a round on drafts.
func Compute(in Input, drafts Drafts) *Result {
	r := &round{
		in: in, drafts: drafts, lost: make([]bool, in.Sites), standing: make([]batch.Duration, len(in.Jobs)),
		calls: make([]*Call, in.Sites), edits: make([][]int, in.Sites),
	}
	r.begin()
	made := reallocation.NewRound(in.Config, in.Sites, r.seen, r.transfer())
	for step := range made.Steps() {
		switch step.Kind {
		case reallocation.Ask:
			r.ask(step.Questions)
		case reallocation.Hold:
			r.hold(step)
		case reallocation.Move:
			r.move(step)
		case reallocation.Put:
			r.put(step)
		case reallocation.Back: // it was taken out of the draft alone, and none is to be held that has no choice
		}
	}
	r.end()
	result := &Result{Record: made.Record(), Lost: r.lost}
	r.settle(result)
	return result
}

// transfer returns Input.Transfer by the numbers of the round.
func (r *round) transfer() reallocation.Transfer {
	if r.in.Transfer == nil {
		return nil
	}
	return func(job, from, to int) (batch.Duration, bool) { return r.in.Transfer(r.index[job], from, to) }
}

// begin makes the drafts and the round's view of the jobs. Whether a site promises
// is asked about the last job that waits there.
func (r *round) begin() {
	last := make([]int, r.in.Sites)
	for s := range last {
		last[s] = -1
		r.call(s).Begin = true
	}
	for j := range r.in.Jobs {
		last[r.in.Jobs[j].Site] = j
	}
	for s, j := range last {
		if j >= 0 {
			r.call(s).Questions = []Question{{Job: j, Standing: true}}
		}
	}
	promises := make([]bool, r.in.Sites)
	for _, c := range r.send() {
		promises[c.Site] = !c.Failed && len(c.Answers) > 0 && !c.Answers[0].Refused && c.Answers[0].Promised
	}
	for j := range r.in.Jobs {
		job := &r.in.Jobs[j]
		if r.lost[job.Site] {
			continue
		}
		seen := reallocation.Job{Site: job.Site, Width: job.Shape.Width, Like: job.Like, Past: job.Past}
		if promises[job.Site] {
			seen.Walltime = job.Shape.Walltime
		}
		r.seen, r.index = append(r.seen, seen), append(r.index, j)
	}
}

// end ends the drafts, with the last edits. A site that is silent now is lost, too:
// it would not answer orders either.
func (r *round) end() {
	for s, lost := range r.lost {
		if !lost {
			r.call(s).End = true
		}
	}
	r.send()
}

// settle leaves out the choices that have come to nothing: their edit was refused,
// or a site of theirs was lost after it.
func (r *round) settle(out *Result) {
	for i := range r.choices {
		c := &r.choices[i]
		if !r.refused[i] && !r.lost[c.From] && !r.lost[c.To] {
			out.Choices = append(out.Choices, *c)
			continue
		}
		out.Record.Failed++
		if c.To != c.From {
			out.Record.Moves--
			out.Record.Gain -= c.Gain()
		}
		if c.After > c.Before {
			out.Record.Later--
		}
	}
}
