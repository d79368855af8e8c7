package sla

import (
	"fmt"
	"math/rand/v2"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/sim"
)

// Demand says what the windows of jobs are drawn from. Shares are in thousandths.
type Demand struct {
	Fixed      int // so many of the jobs are fixed reservations
	Later      int // of so many others the window begins later
	Slack      int // a window is longer than the estimate by up to so much of it, evenly
	Checkpoint int // so many can be checkpointed
	Seed       uint64
}

// Limits of a Demand.
const maxSlack = 1_000_000

// horizon is how far ahead windows begin; notice is the least of a fixed one.
const (
	horizon = 24 * batch.Hour
	notice  = batch.Hour
)

// DemandError is a field of a Demand that is out of range.
type DemandError struct {
	Field         string
	Value, Accept int
}

// Error names the field and the range.
func (e *DemandError) Error() string {
	return fmt.Sprintf("%s: %d thousandths, accepted: 0..%d", e.Field, e.Value, e.Accept)
}

// Validate reports the first field out of range, as a *DemandError.
func (d *Demand) Validate() error {
	for _, f := range []DemandError{
		{"fixed", d.Fixed, 1000},
		{"later", d.Later, 1000},
		{"slack", d.Slack, maxSlack},
		{"checkpoint", d.Checkpoint, 1000},
	} {
		if f.Value < 0 || f.Value > f.Accept {
			return &f
		}
	}
	return nil
}

// wish is what a job wants.
type wish struct {
	fixed      bool
	from       batch.Time // earliest start
	due        batch.Time // latest completion
	checkpoint bool
}

// of draws what a job wants. Every draw is made, so that each depends on nothing but
// the seed and the job.
func (d *Demand) of(j *sim.Job) wish {
	r := rand.New(rand.NewPCG(d.Seed, uint64(j.ID)))
	thousandth := func() int { return r.IntN(1000) }
	fixed, later, checkpoint := thousandth() < d.Fixed, thousandth() < d.Later, thousandth() < d.Checkpoint
	ahead := batch.Duration(r.Int64N(int64(horizon / batch.Second)))
	slack := r.Int64N(maxSlack) * int64(d.Slack) / maxSlack
	w := wish{fixed: fixed, checkpoint: checkpoint, from: j.Submit}
	switch {
	case fixed:
		w.from = j.Submit.Add(max(notice, ahead*batch.Second))
		w.due = w.from.Add(j.Walltime)
		return w
	case later:
		w.from = j.Submit.Add(ahead * batch.Second)
	}
	w.due = w.from.Add(j.Walltime + j.Walltime.Times(slack, 1000))
	return w
}
