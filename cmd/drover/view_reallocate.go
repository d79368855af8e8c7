package main

import (
	"time"

	"github.com/seed-9b8f70bb/drover/client"
)

// reallocationView is one round of reallocation.
type reallocationView struct {
	Schema    string            `json:"schema"`
	Round     string            `json:"round"`
	Agent     string            `json:"agent"`
	Began     *time.Time        `json:"began_at,omitempty"`
	DryRun    bool              `json:"dry_run"`
	Algorithm string            `json:"algorithm"`
	Heuristic string            `json:"heuristic"`
	Window    string            `json:"window"`
	Sites     int               `json:"sites"`
	Waiting   int               `json:"waiting"`
	Held      int               `json:"held"`
	Kept      int               `json:"kept"`
	Moves     int               `json:"moves"`
	Failed    int               `json:"failed"`
	Later     int               `json:"later"`
	Questions int               `json:"questions"`
	Estimates int64             `json:"estimates"`
	Gain      float64           `json:"gain"`
	Thinking  float64           `json:"thinking"`
	Asking    float64           `json:"asking"`
	Took      float64           `json:"took"`
	Jobs      []reallocatedView `json:"jobs"`
	Missing   []missingView     `json:"missing"`
}

type reallocatedView struct {
	Job     string     `json:"job"`
	Service string     `json:"service"`
	From    string     `json:"from"`
	To      string     `json:"to"`
	Before  placedView `json:"before"`
	After   placedView `json:"after"`
	Gain    float64    `json:"gain"`
	Ordered bool       `json:"ordered"`
	Reason  string     `json:"reason,omitempty"`
	Message string     `json:"message,omitempty"`
}

// placedView is what a job has, or is to have, in a plan.
type placedView struct {
	Width    int     `json:"width"`
	Walltime float64 `json:"walltime"`
	ECT      float64 `json:"ect"`
}

func reallocationViewOf(r *client.Reallocation) reallocationView {
	n := &r.Round
	v := reallocationView{
		Schema: "drover.reallocation/1", Round: n.ID, Agent: n.Agent, Began: instant(n.Began), DryRun: n.DryRun,
		Algorithm: n.Algorithm, Heuristic: n.Heuristic, Window: n.Window, Sites: n.Sites, Waiting: n.Jobs, Held: n.Held, Kept: n.Kept,
		Moves: n.Moves, Failed: n.Failed, Later: n.Later, Questions: n.Questions, Estimates: n.Estimates, Gain: n.Gain.Seconds(),
		Thinking: n.Thinking.Seconds(), Asking: n.Asking.Seconds(), Took: n.Took.Seconds(),
		Jobs: []reallocatedView{}, Missing: []missingView{},
	}
	for i := range r.Jobs {
		j := &r.Jobs[i]
		w := reallocatedView{
			Job: j.ID, Service: j.Service, From: j.From, To: j.To, Gain: j.Gain.Seconds(), Ordered: j.Ordered,
			Before: placedView{Width: j.Before.Width, Walltime: j.Before.Walltime.Seconds(), ECT: j.ECTBefore.Seconds()},
			After:  placedView{Width: j.After.Width, Walltime: j.After.Walltime.Seconds(), ECT: j.ECTAfter.Seconds()},
		}
		if j.Problem != nil {
			w.Reason, w.Message = j.Problem.Reason, j.Problem.Error()
		}
		v.Jobs = append(v.Jobs, w)
	}
	for i := range r.Missing {
		v.Missing = append(v.Missing, *missingViewOf(&r.Missing[i]))
	}
	return v
}
