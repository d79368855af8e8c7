package dfrs

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/runtimes"
)

// history predicts the runtimes of jobs without walltimes.
type history struct {
	within *runtimes.History // jobs with a walltime: ratios to it
	whole  *runtimes.History // jobs without: ratios to an hour
}

// samples is the number of jobs that a prediction needs; shortest is the least predicted
// remaining time.
const (
	samples  = 5
	shortest = batch.Second
)

func newHistory() *history {
	return &history{within: runtimes.New(runtimes.Default), whole: runtimes.New(runtimes.Default)}
}

func (h *history) fork() *history { return &history{within: h.within.Fork(), whole: h.whole.Fork()} }

// of returns the history for jobs with the given walltime, and its unit.
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

// length predicts the total runtime of a job with the given virtual time: its walltime, as
// long as it has not reached it; then the median of similar jobs that ran longer; else
// twice its virtual time.
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
