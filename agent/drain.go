package agent

import (
	"context"
	"errors"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// wakeDrain has drainSites look at once. It never waits.
func (a *Agent) wakeDrain() {
	select {
	case a.draining <- struct{}{}:
	default:
	}
}

// drainSites moves the waiting jobs of draining sites away, until ctx ends.
func (a *Agent) drainSites(ctx context.Context) {
	tick := time.NewTicker(a.cfg.Poll) // pauses end without news
	defer tick.Stop()
	for {
		for _, e := range a.evictions() {
			a.following.Go(func() { a.evict(ctx, e) })
		}
		select {
		case <-ctx.Done():
			return
		case <-a.draining:
		case <-tick.C:
		}
	}
}

// eviction is a job that is to leave a draining site now.
type eviction struct {
	site *mapping.Site
	peer *peer
	job  string
}

// evictions returns what the core wants moved.
func (a *Agent) evictions() []eviction {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []eviction
	for _, s := range a.view.Sites(nil) {
		switch {
		case s.Lost: // it cannot be asked, and goes on where it was when it is back
		case !s.Load.Draining:
			a.drain.Stop(s.Name)
		default:
			for _, id := range a.drain.Next(a.now(), s.Name, a.jobs, nil) {
				out = append(out, eviction{site: s, peer: a.peers[s.Name], job: id})
			}
		}
	}
	return out
}

// evict has one job moved to the best other site, and tells the core what came
// of it.
func (a *Agent) evict(ctx context.Context, e eviction) {
	to, err := a.moveAway(ctx, e)
	outcome := outcomeOf(err)
	if ctx.Err() != nil {
		return
	}
	switch outcome {
	case mapping.Ordered:
		a.log.Info("a job leaves a draining site", "job", e.job, "site", e.site.Name, "to", to)
	case mapping.Overtaken: // another agent was quicker, or the job started
		a.log.Debug("a job does not wait any more", "job", e.job, "site", e.site.Name, "error", err)
	case mapping.NoPlace, mapping.Immovable:
		a.log.Warn("a job cannot leave a draining site", "job", e.job, "site", e.site.Name, "error", err)
	}
	a.mu.Lock()
	a.drain.Done(a.now(), e.site.Name, e.job, outcome)
	a.mu.Unlock()
	a.wakeDrain()
}

// outcomeOf sorts the ways in which an order can end.
func outcomeOf(err error) mapping.Outcome {
	var p *problem.Problem
	switch {
	case err == nil:
		return mapping.Ordered
	case errors.As(err, &p):
		switch p.Reason {
		case problem.UnknownJob, problem.NotWaiting, problem.StaleEpoch:
			return mapping.Overtaken
		case problem.NotMovable:
			return mapping.Immovable
		}
	}
	return mapping.NoPlace
}
