package sim

import (
	"context"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/reallocation"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// rounds reallocates the waiting jobs of a grid at the multiples of a period, after all
// other events of that instant. A nil *rounds does nothing.
//
// A round takes no simulated time and loses no message; sim/faults simulates the protocol by
// which a live grid moves a job. Here a move, or a hold and the placement after it, is a
// cancellation at one site and a submission under the same ID at the other or the same site:
// the job comes last in the plan and is tuned again. The sites' cores do both.
type rounds struct {
	config  reallocation.Config
	grid    *Grid
	now     batch.Time
	next    batch.Time
	jobs    *gridRun
	waiting []int32 // in order of submission; can contain started jobs
	// By job of the workload.
	requests []*site.Request
	past     []reallocation.Past

	sum   reallocation.Record
	n     int
	bytes int64 // moved input

	// Scratch of a round.
	seen      []reallocation.Job
	questions []site.Question
	answers   []site.Answer
	asks      []batch.Ask
	estimates []batch.Estimate
}

func newRounds(g *Grid, c reallocation.Config) *rounds { return &rounds{config: c, grid: g} }

// begin prepares for a run.
func (o *rounds) begin(r *gridRun) {
	if o == nil {
		return
	}
	n := len(r.jobs)
	o.jobs, o.next = r, 0
	r.handles, o.requests, o.past = make([]batch.Handle, n), make([]*site.Request, n), make([]reallocation.Past, n)
}

// note adds a job that a site has accepted.
func (o *rounds) note(i int, request *site.Request) {
	if o != nil {
		o.requests[i] = request
		o.waiting = append(o.waiting, int32(i))
	}
}

// due returns the earlier of now, the next event of the grid, and the next round. Rounds in
// which no job waits are skipped.
func (o *rounds) due(now batch.Time) batch.Time {
	if o == nil {
		return now
	}
	o.dropStarted()
	if len(o.waiting) == 0 {
		o.next = max(o.next, after(now, o.config.Period))
	}
	return min(now, o.next)
}

// dropStarted removes jobs that have started.
func (o *rounds) dropStarted() {
	kept := o.waiting[:0]
	for _, i := range o.waiting {
		if o.jobs.outcomes[i].Start == batch.Never {
			kept = append(kept, i)
		} else {
			o.requests[i] = nil
		}
	}
	o.waiting = kept
}

// run makes the round that is due, if there is one.
func (o *rounds) run(ctx context.Context, now batch.Time) error {
	if o == nil || now != o.next {
		return nil
	}
	o.next = after(now+1, o.config.Period)
	if o.dropStarted(); len(o.waiting) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	o.now = now
	o.n++
	o.view()
	var transfer reallocation.Transfer
	if o.grid.links != nil {
		transfer = func(job, from, to int) (batch.Duration, bool) { return o.transfer(o.waiting[job], from, to) }
	}
	round := reallocation.NewRound(o.config, len(o.grid.sites), o.seen, transfer)
	for step := range round.Steps() {
		if err := o.carryOut(step); err != nil {
			return err
		}
	}
	r := round.Record()
	o.sum.Moves += r.Moves
	o.sum.Held += r.Held
	o.sum.Kept += r.Kept
	o.sum.Later += r.Later
	o.sum.Questions += r.Questions
	o.sum.Estimates += r.Estimates
	return nil
}

// view fills seen. One waiting job shows whether its site promises starts.
func (o *rounds) view() {
	o.seen = o.seen[:0]
	promises := make([]int8, len(o.grid.sites)) // 0: unknown
	for _, i := range o.waiting {
		s := o.site(i)
		job := reallocation.Job{Site: int(s.index), Width: o.jobs.outcomes[i].Width, Past: o.past[i]}
		if promises[s.index] == 0 {
			promises[s.index] = -1
			o.estimate(s, []int32{i})
			if o.estimates[0].Kind == batch.Promised {
				promises[s.index] = 1
			}
		}
		if promises[s.index] > 0 {
			job.Walltime = o.jobs.outcomes[i].Walltime
		}
		if request := o.requests[i]; request.EarliestStart <= o.now {
			job.Like, job.Size = kind(&o.jobs.jobs[i], request.Menu)
		}
		o.seen = append(o.seen, job)
	}
}

func (o *rounds) site(i int32) *gridSite { return o.grid.sites[o.jobs.outcomes[i].Site] }

// estimate asks a site about jobs that wait there and fills o.estimates.
func (o *rounds) estimate(s *gridSite, jobs []int32) {
	o.asks = o.asks[:0]
	for _, i := range jobs {
		spec := s.handles.specs[o.jobs.handles[i]]
		o.asks = append(o.asks, batch.Ask{Job: spec, Shapes: []batch.Shape{spec.Shape}})
	}
	for len(o.estimates) < len(jobs) {
		o.estimates = append(o.estimates, batch.Estimate{})
	}
	s.Estimate(o.now, o.asks, o.estimates[:len(jobs)])
}

func (o *rounds) carryOut(step *reallocation.Step) error {
	switch step.Kind {
	case reallocation.Ask:
		for k := range step.Questions {
			if q := &step.Questions[k]; q.Standing {
				o.standing(q)
			} else {
				o.ask(q)
			}
		}
	case reallocation.Hold:
		for _, j := range step.Jobs {
			o.withdraw(o.waiting[j])
		}
		for _, s := range o.grid.sites {
			s.settle()
		}
	case reallocation.Move:
		i := o.waiting[step.Job]
		o.withdraw(i)
		o.grid.sites[step.From].settle()
		return o.put(i, step)
	case reallocation.Put, reallocation.Back:
		return o.put(o.waiting[step.Job], step)
	}
	return nil
}

// standing answers questions about jobs at their present sites.
func (o *rounds) standing(q *reallocation.Question) {
	s := o.grid.sites[q.Site]
	var jobs []int32
	var at []int
	for k, j := range q.Jobs {
		q.Completions[k] = batch.Forever
		if i := o.waiting[j]; o.jobs.outcomes[i].Start == batch.Never {
			jobs, at = append(jobs, i), append(at, k)
		}
	}
	if len(jobs) == 0 {
		return
	}
	o.estimate(s, jobs)
	for n, i := range jobs {
		q.Completions[at[n]] = o.estimates[n].End(0, o.jobs.outcomes[i].Walltime).Sub(o.now)
	}
}

// ask answers questions about jobs as if they were submitted.
func (o *rounds) ask(q *reallocation.Question) {
	s := o.grid.sites[q.Site]
	o.questions = o.questions[:0]
	for k, j := range q.Jobs {
		question := site.Question{Request: o.requests[o.waiting[j]]}
		if q.After[k] > 0 {
			question.From = o.now.Add(q.After[k])
		}
		o.questions = append(o.questions, question)
	}
	for len(o.answers) < len(q.Jobs) {
		o.answers = append(o.answers, site.Answer{})
	}
	s.core.Quotes(o.now, o.questions, o.answers[:len(q.Jobs)], s)
	for k := range q.Jobs {
		q.Completions[k] = o.answers[k].Quote.Completion
		if o.answers[k].Err != nil {
			q.Completions[k] = batch.Forever
		}
	}
}

// withdraw removes a waiting job from its site.
func (o *rounds) withdraw(i int32) {
	s, h := o.site(i), o.jobs.handles[i]
	key := s.keys[h]
	must(s.core.Cancel(o.now, key.Job))
	s.core.Claimed(o.now, key, true) // the job waits, so nothing has launched it
	if err := s.core.Forget(key.Job); err != nil {
		panic(err)
	}
	s.core.Take(o.now, &s.effects)
	s.engine.Advance(o.now)
	s.engine.Apply(&batch.Event{Kind: batch.Cancel, Job: h})
	s.keys[h] = batch.Key{}
	s.handles.release(h)
	s.pending = true
}

// put submits a job to the site of a step. The job starts after its input has arrived.
func (o *rounds) put(i int32, step *reallocation.Step) error {
	s, request := o.grid.sites[step.To], o.requests[i]
	if step.From != step.To {
		if d, known := o.transfer(i, step.From, step.To); known {
			request.EarliestStart = o.now.Add(d)
		}
		o.bytes += o.grid.input
	}
	if err := s.accept(o.now, int(i), request); err != nil {
		return err
	}
	s.settle()
	o.past[i] = step.Past
	return nil
}

// transfer returns how long the input of a waiting job takes from its site to another one,
// counted from now, and whether that is known. Input that is still in transit arrives at
// the first site before it is sent on.
func (o *rounds) transfer(i int32, from, to int) (batch.Duration, bool) {
	if o.grid.links == nil {
		return 0, false
	}
	there := max(o.requests[i].EarliestStart.Sub(o.now), 0)
	d := o.grid.links.Transfer(o.grid.sites[from].name, o.grid.sites[to].name, o.grid.input)
	return batch.Duration(min(uint64(there)+uint64(d), uint64(batch.Forever))), true
}

// figures returns the figures of all rounds; nil if there were none.
func (o *rounds) figures() *ReallocationFigures {
	if o == nil {
		return nil
	}
	f := &ReallocationFigures{
		Algorithm: o.config.Algorithm.String(), Heuristic: o.config.Heuristic.String(), Rounds: o.n, Moves: o.sum.Moves,
		Held: o.sum.Held, Later: o.sum.Later, Kept: o.sum.Kept, Questions: o.sum.Questions, Estimates: o.sum.Estimates,
		BytesMoved: o.bytes,
	}
	for i := range o.past {
		f.LaterMost = max(f.LaterMost, o.past[i].Later)
		if o.past[i].Moves > 0 {
			f.Moved++
		}
	}
	return f
}

// kind groups jobs that differ in size only: rigid jobs of one width, and jobs of one
// moldable type. Within a group the order of the walltimes is the same at every width, so it
// is the order of their sums. kind is 0 if the sum overflows.
func kind(j *Job, menu []batch.Shape) (like int, size int64) {
	for i := range menu {
		if menu[i].Walltime >= batch.Forever-batch.Duration(size) {
			return 0, 0
		}
		size += int64(menu[i].Walltime)
	}
	if j.Type == 0 {
		return int(j.Width), size
	}
	return -int(j.Type), size
}
