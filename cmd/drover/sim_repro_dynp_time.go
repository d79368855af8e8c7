package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dynp"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/sim"
)

// dynpTiming is what self-tuning steps cost on this machine: timing.json.
type dynpTiming struct {
	Schema string         `json:"schema"`
	Steps  []dynpStepTime `json:"steps"`
}

// dynpStepTime is the mean over all steps of a trace, under the settings that the
// paper's 6 ms with 22.5 waiting jobs are of: advanced, full, ARTwW.
type dynpStepTime struct {
	Trace        string  `json:"trace"`
	Steps        int     `json:"steps"`
	Waiting      float64 `json:"waiting"`      // jobs, on average
	Microseconds float64 `json:"microseconds"` // of the whole scheduling pass
}

// The paper's.
const (
	paperStep    = 6000. // microseconds
	paperWaiting = 22.5
)

// timed is dynP with a stopwatch for the passes that have a self-tuning step.
type timed struct {
	*dynp.Policy
	steps, waiting int
	spent          time.Duration
}

// Decide is batch.Policy's.
func (t *timed) Decide(now batch.Time, out *batch.Decisions) {
	waiting, before := t.Queue.Len(), t.Steps()
	begin := time.Now()
	t.Policy.Decide(now, out)
	if spent := time.Since(begin); t.Steps() > before {
		t.steps++
		t.waiting += waiting
		t.spent += spent
	}
}

// time replays each trace once more, nothing beside it.
func (r *dynpRunner) time() (*dynpTiming, error) {
	all := &dynpTiming{Schema: "drover.sim.repro-dynp-timing/1"}
	for _, trace := range r.traces {
		p, err := dynp.New(batch.Processors(int32(trace.Procs)), batch.Settings{"metric": "ARTwW"})
		if err != nil {
			return nil, err
		}
		watch := &timed{Policy: p.(*dynp.Policy)}
		if _, err := (&sim.Cluster{Policy: watch}).Run(r.ctx, r.workloads[trace.Name]); err != nil {
			return nil, err
		}
		n := float64(max(watch.steps, 1))
		all.Steps = append(all.Steps, dynpStepTime{
			Trace: trace.Name, Steps: watch.steps, Waiting: float64(watch.waiting) / n, Microseconds: float64(watch.spent.Microseconds()) / n,
		})
	}
	return all, nil
}

// String has a line for each trace.
func (t *dynpTiming) String() string {
	var b strings.Builder
	for _, s := range t.Steps {
		fmt.Fprintf(&b, "a self-tuning step on %s: %.1f µs with %.1f waiting jobs on average, over %d steps (paper, CTC: %.0f µs with %.1f; %.0f times as long)\n",
			s.Trace, s.Microseconds, s.Waiting, s.Steps, paperStep, paperWaiting, paperStep/max(s.Microseconds, 0.1))
	}
	return b.String()
}

// timedReport is a report with what steps cost in a file of its own: that differs from
// run to run.
type timedReport struct {
	*papers.DynPReport
	timing *dynpTiming
}

// Write writes the files of the report, and that one.
func (r timedReport) Write(dir string) ([]string, error) {
	names, err := r.DynPReport.Write(dir)
	if err != nil {
		return nil, err
	}
	return append(names, "timing.json"), r.timing.write(dir)
}

func (t *dynpTiming) write(dir string) error {
	var out bytes.Buffer
	if err := sim.WriteJSON(&out, t); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "timing.json"), out.Bytes(), 0o644); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}
