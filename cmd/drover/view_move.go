package main

import (
	"time"

	"github.com/seed-9b8f70bb/drover/client"
)

type moveView struct {
	Job           string           `json:"job"`
	Service       string           `json:"service,omitempty"`
	From          string           `json:"from"`
	To            string           `json:"to"`
	Epoch         uint32           `json:"epoch"`
	State         client.MoveState `json:"state"`
	Ordered       *time.Time       `json:"ordered_at,omitempty"`
	Settled       *time.Time       `json:"settled_at,omitempty"`
	Reason        string           `json:"reason,omitempty"`
	Agent         string           `json:"agent,omitempty"`
	AbortedWhy    string           `json:"aborted_why,omitempty"`
	PredictedGain *float64         `json:"predicted_gain,omitempty"`
	RealisedGain  *float64         `json:"realised_gain,omitempty"`
	MinGain       *float64         `json:"min_gain,omitempty"`
}

func moveViewOf(m *client.Move) moveView {
	return moveView{
		Job: m.Job, Service: m.Service, From: m.From, To: m.To, Epoch: m.Epoch, State: m.State,
		Ordered: instant(m.Ordered), Settled: instant(m.Settled), Reason: m.Reason, Agent: m.Agent, AbortedWhy: m.AbortedWhy,
		PredictedGain: gainView(m.PredictedGain), RealisedGain: gainView(m.RealisedGain), MinGain: gainView(m.MinGain),
	}
}

type movesView struct {
	Schema  string        `json:"schema"`
	Moves   []moveView    `json:"moves"`
	Missing []missingView `json:"missing"`
}

// moveBegunView is one move that was ordered, and what came of it.
type moveBegunView struct {
	Schema     string           `json:"schema"`
	Job        string           `json:"job"`
	From       string           `json:"from"`
	To         string           `json:"to"`
	State      client.MoveState `json:"state"`
	Epoch      uint32           `json:"epoch,omitempty"`
	AbortedWhy string           `json:"aborted_why,omitempty"`
}

type drainView struct {
	Schema string     `json:"schema"`
	Site   string     `json:"site"`
	Status statusView `json:"status"`
}

// gainView returns a gain for a view, nil for none.
func gainView(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	s := d.Seconds()
	return &s
}
