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

// move takes a job out at the one site and puts it in at the other, with the next
// questions.
func (r *round) move(step *reallocation.Step) {
	if step.Failed = r.lost[step.From] || r.lost[step.To]; !step.Failed {
		i := r.choose(step)
		r.edit(step.From, i, Edit{Job: r.choices[i].Job})
		r.edit(step.To, i, r.putOf(i))
	}
}

// put puts a held job in, with the next questions. One of a site that was lost
// meanwhile stays as it is.
func (r *round) put(step *reallocation.Step) {
	if step.Failed = r.lost[step.From] || r.lost[step.To]; !step.Failed {
		i := r.choose(step)
		r.edit(step.To, i, r.putOf(i))
	}
}

// choose notes what a step chooses. The shape is told by the draft.
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

// after returns how long a job's input travels.
func (r *round) after(job, from, to int) batch.Duration {
	if from == to || r.in.Transfer == nil {
		return 0
	}
	d, _ := r.in.Transfer(job, from, to)
	return d
}
