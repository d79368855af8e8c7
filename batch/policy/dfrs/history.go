package dfrs

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/runtimes"
)

// history guesses how long jobs run of which nobody has said so.
type history struct {
	within *runtimes.History // of jobs with a walltime: runtimes in parts of it
	whole  *runtimes.History // of those without: in hours
}

// samples is how many jobs a guess needs; shortest is the least that it says is left.
const (
	samples  = 5
	shortest = batch.Second
)

func newHistory() *history {
	return &history{within: runtimes.New(runtimes.Default), whole: runtimes.New(runtimes.Default)}
}

func (h *history) fork() *history { return &history{within: h.within.Fork(), whole: h.whole.Fork()} }

// of returns the history for jobs with so much walltime, and what it counts in.
func (h *history) of(walltime batch.Duration) (*runtimes.History, batch.Duration) {
	if walltime > 0 {
		return h.within, walltime
	}
	return h.whole, batch.Hour
}

func (h *history) learn(owner, application string, walltime, runtime batch.Duration) {
	in, unit := h.of(walltime)
	in.Add(owner, application, unit, runtime)
}

// length guesses the whole runtime of a job that has had so much virtual time: its
// walltime as long as that is possible; then the median of jobs like it that ran
// longer than it has; else it is half done.
func (h *history) length(j *job) batch.Duration {
	if j.virtual < j.walltime {
		return j.walltime
	}
	in, unit := h.of(j.walltime)
	if seen, _ := in.Of(j.spec.Owner, j.spec.Name, samples); seen != nil {
		if ratio, ok := seen.Within(runtimes.Certain/2, runtimes.RatioOf(j.virtual, unit)); ok {
			return max(ratio.Of(unit), j.virtual+shortest)
		}
	}
	return j.virtual + max(j.virtual, shortest)
}
