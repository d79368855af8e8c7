package rounds

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

// Job is a waiting job that can be moved.
type Job struct {
	Site  int // where it waits
	Shape batch.Shape
	// Like groups jobs with equal requests: each site, whatever its plan, answers the same
	// about each of them, and their inputs have the same transfer times. 0 means like no other
	// job.
	Like int
	Past reallocation.Past
}

// Input is the input of a round.
type Input struct {
	Config reallocation.Config // validated
	Sites  int
	Jobs   []Job // in order of submission
	// Transfer returns the transfer time of a job's input; nil: nothing is known.
	Transfer reallocation.Transfer
	// Offers reports whether a site has the service of a job; nil: all sites have all
	// services.
	Offers func(job, site int) bool
}

// Choice is the decision about one job.
type Choice struct {
	Job, From, To int // the job stays if To is From
	// Before and After are its ECTs from the beginning of the round.
	Before, After batch.Duration
	Least         batch.Duration // minimum gain of a move
	Shape         batch.Shape    // new
	Past          reallocation.Past
}

// Gain returns how much earlier the job is to complete; negative for a delay.
func (c *Choice) Gain() batch.Duration { return c.Before - c.After }

// Result is a computed round.
type Result struct {
	Choices []Choice // in the order of the decisions
	Record  reallocation.Record
	Lost    []bool // by site: left out of the round, or of the rest of it
}

// round is a round while it is computed.
type round struct {
	in       Input
	drafts   Drafts
	seen     []reallocation.Job // jobs of participating sites, as the round numbers them
	index    []int              // by job of seen: its index in in.Jobs
	lost     []bool
	standing []batch.Duration // by index in in.Jobs: the ECT of the present slot, as last answered
	calls    []*Call          // by site: the next call, nil for none
	edits    [][]int          // by site: the choice of each edit of its call; -1 for none
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
		case reallocation.Back: // the job is only out of the draft, and is not held without a choice
		}
	}
	r.end()
	result := &Result{Record: made.Record(), Lost: r.lost}
	r.settle(result)
	return result
}

// transfer returns Input.Transfer with the round's job numbers.
func (r *round) transfer() reallocation.Transfer {
	if r.in.Transfer == nil {
		return nil
	}
	return func(job, from, to int) (batch.Duration, bool) { return r.in.Transfer(r.index[job], from, to) }
}

// begin makes the drafts and numbers the jobs. It asks about the last waiting job of each
// site to learn whether the site's estimates are promises.
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

// end ends the drafts, with the last edits. A site that does not answer is lost too: it
// would not answer orders either.
func (r *round) end() {
	for s, lost := range r.lost {
		if !lost {
			r.call(s).End = true
		}
	}
	r.send()
}

// settle leaves out the choices that failed: an edit was refused, or one of the sites was
// lost later.
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

// ask asks the drafts and fills in the completions of questions.
func (r *round) ask(questions []reallocation.Question) {
	type place struct{ question, at int }
	places := make([][]place, r.in.Sites) // by site: the targets of its answers
	for q := range questions {
		question := &questions[q]
		for i, j := range question.Jobs {
			question.Completions[i] = batch.Forever
			if r.lost[question.Site] || !question.Standing && !r.offers(r.index[j], question.Site) {
				continue
			}
			c := r.call(question.Site)
			c.Questions = append(c.Questions, Question{
				Job: r.index[j], Standing: question.Standing, After: question.After[i],
			})
			places[question.Site] = append(places[question.Site], place{question: q, at: i})
		}
	}
	for _, c := range r.send() {
		if c.Failed {
			continue
		}
		for k, p := range places[c.Site] {
			a := &c.Answers[k]
			if a.Refused {
				continue
			}
			questions[p.question].Completions[p.at] = a.Completion
			if c.Questions[k].Standing {
				r.standing[c.Questions[k].Job] = a.Completion
			}
		}
	}
}

func (r *round) offers(job, site int) bool { return r.in.Offers == nil || r.in.Offers(job, site) }

// hold takes jobs out of their sites' drafts.
func (r *round) hold(step *reallocation.Step) {
	places := make([][]int, r.in.Sites) // by site: positions in step.Jobs
	for i, j := range step.Jobs {
		site := r.seen[j].Site
		if step.Refused[i] = true; r.lost[site] {
			continue
		}
		r.edit(site, -1, Edit{Job: r.index[j]})
		places[site] = append(places[site], i)
	}
	for _, c := range r.send() {
		if c.Failed {
			continue
		}
		for k, i := range places[c.Site] {
			step.Refused[i] = c.Edited[k].Refused
		}
	}
}

// move takes a job out at one site and puts it in at the other, with the next questions.
func (r *round) move(step *reallocation.Step) {
	if step.Failed = r.lost[step.From] || r.lost[step.To]; !step.Failed {
		i := r.choose(step)
		r.edit(step.From, i, Edit{Job: r.choices[i].Job})
		r.edit(step.To, i, r.putOf(i))
	}
}

// put puts a held job into a draft, with the next questions. A job of a lost site stays.
func (r *round) put(step *reallocation.Step) {
	if step.Failed = r.lost[step.From] || r.lost[step.To]; !step.Failed {
		i := r.choose(step)
		r.edit(step.To, i, r.putOf(i))
	}
}

// choose records the choice of a step. The draft's answer will set the shape.
func (r *round) choose(step *reallocation.Step) int {
	j := r.index[step.Job]
	r.choices = append(r.choices, Choice{
		Job: j, From: step.From, To: step.To, Before: r.standing[j], After: r.standing[j] - step.Gain,
		Least: step.Least, Past: step.Past,
	})
	r.refused = append(r.refused, false)
	return len(r.choices) - 1
}

func (r *round) putOf(choice int) Edit {
	c := &r.choices[choice]
	return Edit{Job: c.Job, Put: true, After: r.after(c.Job, c.From, c.To)}
}

// after returns the transfer time of a job's input.
func (r *round) after(job, from, to int) batch.Duration {
	if from == to || r.in.Transfer == nil {
		return 0
	}
	d, _ := r.in.Transfer(job, from, to)
	return d
}

// call returns the call to a site that is sent next.
func (r *round) call(site int) *Call {
	if r.calls[site] == nil {
		r.calls[site] = &Call{Site: site}
	}
	return r.calls[site]
}

// edit adds an edit to the call to a site; it is part of a choice, or -1 of none.
func (r *round) edit(site, choice int, e Edit) {
	c := r.call(site)
	c.Edits = append(c.Edits, e)
	r.edits[site] = append(r.edits[site], choice)
}

// send sends the prepared calls, and returns them.
func (r *round) send() []*Call {
	var calls []*Call
	for s, c := range r.calls {
		if c != nil {
			calls = append(calls, c)
			r.calls[s] = nil
		}
	}
	if len(calls) == 0 {
		return nil
	}
	r.drafts.Call(calls)
	for _, c := range calls {
		if c.Failed || len(c.Edited) != len(c.Edits) || len(c.Answers) != len(c.Questions) {
			c.Failed = true
			r.lost[c.Site] = true
		}
		r.learn(c)
	}
	return calls
}

// learn takes in what has become of the edits that are part of choices.
func (r *round) learn(c *Call) {
	of := r.edits[c.Site]
	r.edits[c.Site] = of[:0]
	if c.Failed {
		return
	}
	for k, i := range of {
		switch {
		case i < 0:
		case c.Edited[k].Refused:
			r.refused[i] = true
		case c.Edits[k].Put:
			r.choices[i].Shape = c.Edited[k].Shape
		}
	}
}

// Drafts are the sites' drafts. The driver implements it.
type Drafts interface {
	// Call sends the calls at the same time, each to a different site, and fills in the
	// answers.
	Call(calls []*Call)
}

// Call is one message to one site's draft: begin, edits, questions and end, in this order.
// Jobs are indices into Input.Jobs.
type Call struct {
	Site      int
	Begin     bool // make the draft now
	Edits     []Edit
	Questions []Question
	End       bool // discard it

	// Filled in by the driver. Failed means that the site did not answer, or has no draft.
	Failed  bool
	Edited  []Answer // by position in Edits
	Answers []Answer // by position in Questions
}

// Edit takes a job out of a draft, or adds it at the end with a newly chosen shape.
type Edit struct {
	Job   int
	Put   bool
	After batch.Duration // of a put: transfer time of its input
}

// Question asks when a job would complete in its present slot, or if it were added.
type Question struct {
	Job      int
	Standing bool
	After    batch.Duration // transfer time of its input, unless it waits there
}

// Answer is what a job has or would get in a draft.
type Answer struct {
	Refused    bool           // it cannot run there, is not there, or must not be touched
	Completion batch.Duration // from the beginning of the draft
	Shape      batch.Shape
	Promised   bool // the completion is an upper bound
}
