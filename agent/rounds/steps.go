package rounds

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

// ask fills in the completions of questions.
func (r *round) ask(questions []reallocation.Question) {
	type place struct{ question, at int }
	places := make([][]place, r.in.Sites) // by site: where its answers go
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
		r.call(site).Edits = append(r.call(site).Edits, Edit{Job: r.index[j]})
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

// move takes a job out at the one site and puts it in at the other.
func (r *round) move(step *reallocation.Step) {
	if step.Failed = r.lost[step.From] || r.lost[step.To]; step.Failed {
		return
	}
	j := r.index[step.Job]
	out, in := r.call(step.From), r.call(step.To)
	out.Edits = append(out.Edits, Edit{Job: j})
	in.Edits = append(in.Edits, Edit{Job: j, Put: true, After: r.after(j, step.From, step.To)})
	r.send()
	if step.Failed = failed(out) || failed(in); step.Failed {
		return
	}
	r.choose(step, in.Edited[0].Shape, r.needed(j, step.From, step.To))
}

// put puts a held job in. One of a site that was lost meanwhile stays as it is.
func (r *round) put(step *reallocation.Step) {
	if step.Failed = r.lost[step.From] || r.lost[step.To]; step.Failed {
		return
	}
	j := r.index[step.Job]
	in := r.call(step.To)
	in.Edits = append(in.Edits, Edit{Job: j, Put: true, After: r.after(j, step.From, step.To)})
	r.send()
	if step.Failed = failed(in); step.Failed {
		return
	}
	least := batch.Duration(0)
	if step.To != step.From {
		least = r.in.Config.LeastGain
	}
	r.choose(step, in.Edited[0].Shape, least)
}

func failed(c *Call) bool { return c.Failed || c.Edited[0].Refused }

func (r *round) choose(step *reallocation.Step, shape batch.Shape, least batch.Duration) {
	j := r.index[step.Job]
	r.choices = append(r.choices, Choice{
		Job: j, From: step.From, To: step.To, Before: r.standing[j], After: r.standing[j] - step.Gain,
		Least: least, Shape: shape, Past: step.Past,
	})
}

// after returns how long a job's input travels.
func (r *round) after(job, from, to int) batch.Duration {
	if from == to || r.in.Transfer == nil {
		return 0
	}
	d, _ := r.in.Transfer(job, from, to)
	return d
}

// needed is the gain that the regular algorithm has demanded of a move.
func (r *round) needed(job, from, to int) batch.Duration {
	least := max(r.in.Config.LeastGain, batch.Microsecond)
	if r.in.Transfer != nil {
		if _, known := r.in.Transfer(job, from, to); known {
			return least
		}
	}
	return max(least, r.in.Config.Threshold)
}
