package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/agent/rounds"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

// roundReport is what one round has come to.
type roundReport struct {
	id     string // a UUIDv7
	began  time.Time
	dryRun bool
	config reallocation.Config
	sites  int
	record reallocation.Record
	jobs   []reallocated
	// missing are the sites that were left out, by name, or lost on the way.
	missing []leftOut
	// asking is the time spent waiting for sites, thinking that of the heuristic,
	// and took that of the round with its orders.
	asking, thinking, took time.Duration
}

// reallocated is one job of a round, and what became of its order.
type reallocated struct {
	rounds.Choice
	id, service string
	from, to    string
	before      batch.Shape
	ordered     bool
	problem     *problem.Problem // why not
}

// leftOut is a site that takes no part in a round.
type leftOut struct {
	site    string
	missing mapping.Missing
	problem *problem.Problem
}

// reallocateRegularly runs rounds at the multiples of the period, while this agent
// is the one to do so, until ctx ends.
func (a *Agent) reallocateRegularly(ctx context.Context) {
	config, period, _ := a.cfg.Reallocation.rounds() // it was validated
	if period == 0 {
		return
	}
	// A timer may go off a little before the clock on the wall says so.
	var due batch.Time
	for {
		now := max(batch.Time(time.Now().UnixMicro()), due)
		due = now.Add(rounds.Next(now, period))
		timer := time.NewTimer(time.Until(time.UnixMicro(int64(due))))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if !a.leads() {
			a.log.Debug("another agent runs the rounds")
			continue
		}
		if _, err := a.round(ctx, config, false); err != nil && ctx.Err() == nil {
			a.log.Warn("no round of reallocation", "error", err)
		}
	}
}

// leads says whether this agent runs the periodic rounds.
func (a *Agent) leads() bool {
	var living []string
	for _, m := range a.group.Members() {
		if m.Role == gossip.Agent && !m.Lost {
			living = append(living, m.Name)
		}
	}
	return rounds.Leads(a.cfg.Name, living)
}

// round makes one round, after the one that is under way.
func (a *Agent) round(ctx context.Context, config reallocation.Config, dryRun bool) (*roundReport, error) {
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return nil, &problem.Problem{
			Reason: problem.Timeout, Retryable: true, Message: "another round of this agent is still under way",
		}
	}
	r, err := a.makeRound(ctx, config, dryRun)
	if err != nil {
		return nil, fmt.Errorf("round of reallocation: %w", err)
	}
	a.tellMissing(r)
	failed := 0
	for i := range r.jobs {
		if p := r.jobs[i].problem; p != nil {
			failed++
			a.log.Debug("a job is not reallocated", "round", r.id, "job", r.jobs[i].id, "because", p)
		}
	}
	level := hclog.Info
	if r.record.Jobs == 0 { // a grid where nothing waits would fill the log
		level = hclog.Debug
	}
	a.log.Log(
		level, "round of reallocation", "round", r.id, "algorithm", config.Algorithm, "heuristic", config.Heuristic, "dry_run", dryRun,
		"sites", r.sites, "jobs", r.record.Jobs, "moves", r.record.Moves, "failed", failed, "took", r.took,
		"asking", r.asking, "thinking", r.thinking,
	)
	return r, nil
}

// tellMissing tells who is left out of a round. What was so in the last one is not
// worth another warning: rounds may be a second apart, and a site may never take part.
func (a *Agent) tellMissing(r *roundReport) {
	now := make(map[string]problem.Reason, len(r.missing))
	for _, m := range r.missing {
		level := hclog.Warn
		if now[m.site] = m.problem.Reason; now[m.site] == a.leftOut[m.site] {
			level = hclog.Debug
		}
		a.log.Log(level, "a site is left out of reallocation", "round", r.id, "site", m.site, "because", m.problem)
	}
	a.leftOut = now
}
