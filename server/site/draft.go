package site

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Draft is a copy of the site for one round of reallocation: the plan and the jobs that can move,
// at one fixed instant. Edits and answers are those that the site itself would give; they change
// nothing in the site. One goroutine at a time may use a Draft, not necessarily the one that uses
// the Site.
type Draft struct {
	site    *Site // tunes like the site; has no jobs
	plan    batch.Draft
	list    []draftJob // jobs that have not ended; find turns it into jobs
	jobs    map[batch.JobID]draftJob
	waiting int

	keys   []batch.Key
	places []batch.Standing
	at     []int
}

// draftJob is a job as a draft sees it.
type draftJob struct {
	id      batch.JobID
	key     batch.Key
	state   State // Absent if it was taken out
	movable bool
}

// Draft returns a draft around a fresh copy of the site's plan. It costs the site one pass over its
// jobs; the first user of the draft pays for the rest.
func (s *Site) Draft(plan batch.Draft) *Draft {
	d := &Draft{
		site: &Site{
			config: s.config, width: s.width, processors: s.processors, perProcessor: s.perProcessor,
			nodeMemory: s.nodeMemory,
			tuner:      tuner{method: s.tuner.method}, draining: s.draining, offer: s.offer.clone(),
		},
		plan: plan, list: make([]draftJob, 0, s.book.load.Waiting+s.book.load.Running), waiting: s.book.load.Waiting,
	}
	for _, j := range s.book.order {
		if j != nil && j.State != Absent && !j.State.Final() {
			d.list = append(d.list, draftJob{j.ID, j.Key(), j.State, j.movable()})
		}
	}
	return d
}

// Made returns the instant of the copy.
func (d *Draft) Made() batch.Time { return d.plan.Made() }

// Waiting returns the number of waiting jobs, without those taken out and with those put in.
func (d *Draft) Waiting() int { return d.waiting }

// find returns a job of the draft.
func (d *Draft) find(id batch.JobID) (draftJob, bool) {
	if d.jobs == nil {
		d.jobs = make(map[batch.JobID]draftJob, len(d.list))
		for _, j := range d.list {
			d.jobs[j.id] = j
		}
		d.list = nil
	}
	j, known := d.jobs[id]
	return j, known
}

// Take removes a waiting job from the plan. The error is a *problem.Problem if the job is unknown,
// does not wait, has started in the copy, or can never move. Jobs that are taken in a row leave at
// once: the plan is not compressed in between.
func (d *Draft) Take(id batch.JobID) error {
	j, known := d.find(id)
	switch {
	case !known:
		return unknownJob(id)
	case j.state != Waiting:
		return d.notWaiting(j)
	case !j.movable:
		return notMovable(id, "bound to its site, or a local user's")
	case !d.plan.Cancel(j.key):
		return begun(id)
	}
	j.state = Absent
	d.jobs[id] = j
	d.waiting--
	return nil
}

// Put tunes a job, adds it at the end of the plan and returns its quote. The job starts at q.From
// or later. The error is a *problem.Problem, with problem.JobConflict for a job that is already in
// the plan, or ErrNoPlan; then nothing is changed.
func (d *Draft) Put(id batch.JobID, q Question) (Quote, error) {
	if j, known := d.find(id); known && j.state != Absent {
		return Quote{}, &problem.Problem{
			Reason: problem.JobConflict, Field: "job_id", Accepted: "a job that is not at this site, or was taken out",
			Message: fmt.Sprintf("job %s is at this site: %v", id, j.state),
		}
	}
	if d.site.draining {
		return Quote{}, d.site.drains()
	}
	now, job := d.Made(), &batch.Job{}
	d.site.scratch.shapes = d.site.scratch.shapes[:0]
	quote, err := d.site.quote(now, q, job, d.plan)
	if err != nil {
		return Quote{}, err
	}
	job.Shape, job.EarliestStart = quote.Shape, max(job.EarliestStart, d.site.from(now, q))
	key := batch.Key{Job: id} // attempts of the site count from 1
	d.plan.Submit(key, job)
	d.jobs[id] = draftJob{id: id, key: key, state: Waiting, movable: job.Origin == batch.Grid}
	d.waiting++
	return quote, nil
}

// Quotes estimates jobs as if they were put in, like Site.Quotes.
func (d *Draft) Quotes(qs []Question, out []Answer) { d.site.Quotes(d.Made(), qs, out, d.plan) }

// Standing returns the quotes of waiting jobs in the present plan, one element of out for each. The
// error of a job that is unknown or does not wait is a *problem.Problem.
func (d *Draft) Standing(ids []batch.JobID, out []Answer) {
	d.keys, d.at = d.keys[:0], d.at[:0]
	for i, id := range ids {
		j, known := d.find(id)
		out[i] = Answer{}
		switch {
		case !known:
			out[i].Err = unknownJob(id)
		case j.state != Waiting:
			out[i].Err = d.notWaiting(j)
		default:
			d.keys, d.at = append(d.keys, j.key), append(d.at, i)
		}
	}
	for len(d.places) < len(d.keys) {
		d.places = append(d.places, batch.Standing{})
	}
	planned := d.plan.Standing(d.keys, d.places)
	for k, i := range d.at {
		switch p := &d.places[k]; {
		case !planned:
			out[i].Err = ErrNoPlan
		case !p.Waits:
			out[i].Err = begun(ids[i])
		case p.Start == batch.Never:
			out[i].Err = problem.Field(problem.CannotRun, "job_id", "a job that can start",
				"job %s cannot start in the present plan", ids[i])
		default:
			now := d.Made()
			out[i].Quote = Quote{
				Shape: p.Shape, Wait: p.Start.Sub(now), Run: p.End.Sub(p.Start), Completion: p.End.Sub(now),
				Kind: p.Kind, P: p.P,
			}
		}
	}
}

func (d *Draft) notWaiting(j draftJob) *problem.Problem {
	what := j.state.String()
	if j.state == Absent {
		what = "taken out"
	}
	return &problem.Problem{
		Reason: problem.NotWaiting, Field: "job_id", Accepted: "a job that waits", Message: fmt.Sprintf("job %s is %s",
			j.id, what),
	}
}

// begun is the refusal of a job that has left the queue of the copy.
func begun(id batch.JobID) *problem.Problem {
	return &problem.Problem{
		Reason: problem.NotWaiting, Field: "job_id", Accepted: "a job that waits",
		Message: fmt.Sprintf("job %s has started, or starts by this copy of the plan", id),
	}
}
