package main

import (
	"encoding/json"
	"io"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
)

// The views are the shapes of what --json prints, as docs/cli.md lists them.
// Times are RFC 3339 and durations seconds. A name or meaning changes only with
// the number of its schema; new fields may appear.

type jobView struct {
	Schema    string            `json:"schema,omitempty"`
	ID        string            `json:"id"`
	State     client.State      `json:"state"`
	Site      string            `json:"site"`
	Service   string            `json:"service"`
	Owner     string            `json:"owner,omitempty"`
	Arguments map[string]string `json:"arguments,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Width     int               `json:"width"`
	Walltime  float64           `json:"walltime"`

	Submitted           *time.Time          `json:"submitted_at,omitempty"`
	Started             *time.Time          `json:"started_at,omitempty"`
	Ended               *time.Time          `json:"ended_at,omitempty"`
	EstimatedWait       float64             `json:"estimated_wait"`
	EstimatedCompletion float64             `json:"estimated_completion"`
	EstimateKind        client.EstimateKind `json:"estimate_kind,omitempty"`
	Outcome             *outcomeView        `json:"outcome,omitempty"`
	Outputs             []outputView        `json:"outputs,omitempty"`
	Nodes               []string            `json:"nodes,omitempty"`
	Epoch               uint32              `json:"epoch"`
	Peer                string              `json:"peer,omitempty"`
	MovedTo             string              `json:"moved_to,omitempty"`
	Moves               []moveView          `json:"moves,omitempty"`
	CancelRecorded      bool                `json:"cancel_recorded,omitempty"`
	Attempt             int                 `json:"attempt,omitempty"`
	RetryOf             string              `json:"retry_of,omitempty"`
	Checkpoints         int                 `json:"checkpoints,omitempty"`
	CheckpointedAfter   float64             `json:"checkpointed_after,omitempty"`
	UnknownFor          float64             `json:"unknown_for,omitempty"`

	Deadline  *time.Time            `json:"deadline,omitempty"`
	Agreement client.AgreementState `json:"agreement,omitempty"`
	Value     float64               `json:"value,omitempty"`
	Penalty   float64               `json:"penalty,omitempty"`
	Into      string                `json:"into,omitempty"`
	Kept      map[string]keptView   `json:"kept,omitempty"`
	OnlySite  string                `json:"only_site,omitempty"`
	After     []afterView           `json:"after,omitempty"`
	NodesAway []string              `json:"nodes_away,omitempty"`
	Awaits    []string              `json:"awaits,omitempty"`
	Retries   int                   `json:"retries,omitempty"`
	RetryOn   []int                 `json:"retry_on,omitempty"`
	Retried   int                   `json:"retried,omitempty"`
	Needs     *needsView            `json:"needs,omitempty"`
}

type outcomeView struct {
	ExitCode int    `json:"exit_code"`
	Signal   string `json:"signal,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

type outputView struct {
	Argument string `json:"argument"`
	Size     int64  `json:"size"`
	SHA256   string `json:"sha256,omitempty"`

	Element    client.ElementType `json:"element,omitempty"`
	Dimensions []int64            `json:"dimensions,omitempty"`
	Data       string             `json:"data,omitempty"`
}

func jobViewOf(j *client.Job) jobView {
	v := jobView{
		ID: j.ID, State: j.State, Site: j.Site, Service: j.Service, Owner: j.Owner, Arguments: j.Arguments, Labels: j.Labels,
		Width: j.Shape.Width, Walltime: j.Shape.Walltime.Seconds(),
		Submitted: instant(j.Submitted), Started: instant(j.Started), Ended: instant(j.Ended),
		EstimatedWait: j.EstimatedWait.Seconds(), EstimatedCompletion: j.EstimatedCompletion.Seconds(),
		EstimateKind: j.EstimateKind, Nodes: j.Nodes, Epoch: j.Epoch,
		Peer: j.Peer, MovedTo: j.MovedTo, CancelRecorded: j.CancelRecorded, Attempt: j.Attempt, RetryOf: j.RetryOf,
		Checkpoints: j.Checkpoints, CheckpointedAfter: j.CheckpointedAfter.Seconds(),
		UnknownFor: j.UnknownFor.Seconds(), Deadline: instant(j.Deadline), Agreement: j.Agreement, Into: j.Into,
	}
	v.Kept, v.Needs = keptViewOf(j.Kept), (*needsView)(j.Needs)
	if t := j.Terms; t != nil {
		v.Value, v.Penalty = t.Value, t.Penalty
	}
	v.NodesAway = j.NodesAway
	v.OnlySite, v.Awaits, v.Retries, v.RetryOn, v.Retried = j.OnlySite, j.Awaits, j.Retries, j.RetryOn, j.Retried
	for _, d := range j.After {
		v.After = append(v.After, afterView(d))
	}
	for i := range j.Moves {
		v.Moves = append(v.Moves, moveViewOf(&j.Moves[i]))
	}
	if j.State.Final() {
		v.Outcome = &outcomeView{ExitCode: j.Outcome.ExitCode, Signal: j.Outcome.Signal, Reason: j.Outcome.Reason}
	}
	for _, o := range j.Outputs {
		v.Outputs = append(v.Outputs, outputView{Argument: o.Argument, Size: o.Size, SHA256: o.SHA256, Element: o.Element, Dimensions: o.Dimensions, Data: o.Data})
	}
	return v
}

type queueView struct {
	Schema  string        `json:"schema"`
	Jobs    []jobView     `json:"jobs"`
	Missing []missingView `json:"missing"`
}

type missingView struct {
	Site    string `json:"site"`
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}

func missingViewOf(site string, m *client.Missing) *missingView {
	if m == nil {
		return nil
	}
	v := &missingView{Site: site, Reason: m.Reason}
	if m.Detail != nil {
		v.Message = m.Detail.Error()
	}
	return v
}

type sitesView struct {
	Schema string     `json:"schema"`
	Sites  []siteView `json:"sites"`
}

type siteView struct {
	Name       string          `json:"name"`
	Address    string          `json:"address"`
	Policy     string          `json:"policy"`
	Processors int             `json:"processors"`
	Nodes      int             `json:"nodes"`
	Speed      float64         `json:"speed"`
	Status     *statusView     `json:"status,omitempty"`
	HeardAgo   float64         `json:"heard_ago"`
	Missing    *missingView    `json:"missing,omitempty"`
	Agreed     *agreementsView `json:"agreements,omitempty"`
}

type statusView struct {
	Running int     `json:"running"`
	Waiting int     `json:"waiting"`
	Busy    int     `json:"processors_busy"`
	Load    float64 `json:"load"`
	Backlog float64 `json:"backlog_processor_seconds"`
	Ended   int64   `json:"ended"`

	Bound    int   `json:"bound,omitempty"`
	Draining bool  `json:"draining,omitempty"`
	Degraded bool  `json:"degraded,omitempty"`
	Commits  int64 `json:"commits,omitempty"`
	Syncs    int64 `json:"syncs,omitempty"`

	Data *dataUsageView `json:"data,omitempty"`
}

type servicesView struct {
	Schema   string        `json:"schema"`
	Services []serviceView `json:"services"`
}

type serviceView struct {
	Name      string         `json:"name"`
	Doc       string         `json:"doc"`
	Arguments []argumentView `json:"arguments"`
	MinWidth  int            `json:"min_width"`
	MaxWidth  int            `json:"max_width"`
	Moldable  bool           `json:"moldable"`
	Memory    int64          `json:"memory,omitempty"`
	Sites     []string       `json:"sites"`
}

type argumentView struct {
	Name     string              `json:"name"`
	Doc      string              `json:"doc,omitempty"`
	Type     client.ArgumentType `json:"type"`
	Required bool                `json:"required"`
	Default  string              `json:"default,omitempty"`
	Minimum  string              `json:"minimum,omitempty"`
	Maximum  string              `json:"maximum,omitempty"`
	Choices  []string            `json:"choices,omitempty"`

	Element    client.ElementType `json:"element,omitempty"`
	Dimensions []string           `json:"dimensions,omitempty"`
}

type decisionView struct {
	Schema     string          `json:"schema"`
	Job        string          `json:"job"`
	Site       string          `json:"site"`
	MadeAt     *time.Time      `json:"made_at,omitempty"`
	Agent      string          `json:"agent,omitempty"`
	Chosen     string          `json:"chosen,omitempty"`
	Candidates []candidateView `json:"candidates"`
}

type candidateView struct {
	Site        string              `json:"site"`
	Wait        float64             `json:"wait"`
	Transfer    float64             `json:"transfer"`
	Run         float64             `json:"run"`
	Completion  float64             `json:"completion"`
	Margin      float64             `json:"margin"`
	StateAge    float64             `json:"state_age"`
	Width       int                 `json:"width"`
	Walltime    float64             `json:"walltime"`
	Kind        client.EstimateKind `json:"kind,omitempty"`
	Probability float64             `json:"probability,omitempty"`
	Correction  float64             `json:"correction,omitempty"`
	Missing     *missingView        `json:"missing,omitempty"`
}

type upView struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
	URL    string `json:"url"`
	Gossip string `json:"gossip"`
}

type versionView struct {
	Schema  string `json:"schema"`
	Version string `json:"version"`
	Go      string `json:"go"`
	API     int    `json:"api"`
}

// instant returns a time for a view, nil for none.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// writeLine writes one view on one line, as one of many.
func writeLine(w io.Writer, view any) error { return json.NewEncoder(w).Encode(view) }
