// Package ljf_test is the policy that CONTRIBUTING.md adds step by step: it is registered by
// one line, and runs on one cluster, in a grid and live.
package ljf_test

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
)

// Policy starts the longest waiting job first. While that job does not fit, none starts.
type Policy struct{ counted.Backlog }

// New returns LJF for a platform. It has no settings.
func New(p batch.Platform, s batch.Settings) (batch.Policy, error) {
	if err := s.Only("ljf"); err != nil {
		return nil, err
	}
	return &Policy{counted.NewBacklog(p)}, nil
}

// Fork returns an independent copy.
func (p *Policy) Fork() batch.Policy { return &Policy{p.Backlog.Fork()} }

// Apply takes one event: the backlog keeps the queue, the running jobs and the reservations.
func (p *Policy) Apply(now batch.Time, ev *batch.Event) {
	switch {
	case ev.Kind == batch.Measured: // jobs have what they asked for, whatever they use
	case p.AboutAgreed(ev):
		p.ApplyAgreed(now, ev, p.Profile)
	default:
		p.Backlog.Apply(now, ev)
	}
}

// Decide starts jobs while the longest one fits.
func (p *Policy) Decide(now batch.Time, out *batch.Decisions) {
	if p.Prepare(now, out) {
		return
	}
	p.StartDue(now, out)
	for {
		longest := batch.NoJob
		for h := range p.InOrder {
			if p.Ready(h) && (longest == batch.NoJob || p.Job(h).Walltime > p.Job(longest).Walltime) {
				longest = h
			}
		}
		if longest == batch.NoJob || !p.Fits(now, p.Job(longest).Charge, p.Job(longest).Walltime) {
			return
		}
		p.Queue.Remove(longest)
		p.Launch(now, longest, out)
	}
}

// Estimate leaves the answer to a forecaster, which runs a copy of the policy forward.
func (p *Policy) Estimate(batch.Time, []batch.Ask, []batch.Estimate) batch.Runnable { return p }
