package sim

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// Job is a job of a workload, for a site of speed 1.0.
type Job struct {
	ID       int64 // in its trace
	Submit   batch.Time
	Runtime  batch.Duration // if it is not killed
	Walltime batch.Duration // at least a second
	Width    int32
	User     int32 // in its trace; 0 or less if unknown
	App      int32 // its executable; 0 or less if unknown
	Home     int32 // index of the site of its trace
	Local    bool  // a local job: it stays at its site and is not mapped
	Type     uint8 // index of the scenario's moldable types, from 1; 0: rigid
}

// Workload is the list of jobs submitted to a simulated machine, in order of submission.
type Workload struct {
	Jobs     []Job
	Rejected Rejected
}

// Rejected counts the skipped jobs of a trace by reason.
type Rejected struct {
	UnknownRuntime int `json:"unknown_runtime"`
	NoWidth        int `json:"no_width"`
	TooWide        int `json:"too_wide"` // wider than the machine
}

// Total returns the number of skipped jobs.
func (r Rejected) Total() int { return r.UnknownRuntime + r.NoWidth + r.TooWide }

func (r *Rejected) add(o Rejected) {
	r.UnknownRuntime += o.UnknownRuntime
	r.NoWidth += o.NoWidth
	r.TooWide += o.TooWide
}

// Overrun decides what happens to a job at its walltime.
type Overrun uint8

// Overrun rules.
const (
	Kill   Overrun = iota // kill the job
	Extend                // let it run
)

// ParseOverrun parses a rule.
func ParseOverrun(s string) (Overrun, error) {
	switch s {
	case "", "kill":
		return Kill, nil
	case "extend":
		return Extend, nil
	}
	return 0, fmt.Errorf("overrun: %q, accepted: kill, extend", s)
}

// FromTrace creates a workload from a trace. A job's width is the requested number of
// processors, else the allocated one; its walltime is the requested time, else the runtime, and
// at least a second.
func FromTrace(t *swf.Trace, procs int32) *Workload {
	w := &Workload{Jobs: make([]Job, 0, len(t.Jobs))}
	for i := range t.Jobs {
		j := &t.Jobs[i]
		width, walltime := j.ReqProcs, j.ReqTime
		if width <= 0 {
			width = j.UsedProcs
		}
		if walltime <= 0 {
			walltime = j.Run
		}
		switch {
		case j.Run < 0:
			w.Rejected.UnknownRuntime++
		case width <= 0:
			w.Rejected.NoWidth++
		case width > procs:
			w.Rejected.TooWide++
		default:
			w.Jobs = append(w.Jobs, Job{
				ID: j.ID, Submit: batch.Time(j.Submit) * batch.Time(batch.Second),
				Runtime:  batch.Duration(j.Run) * batch.Second,
				Walltime: batch.Duration(max(walltime, 1)) * batch.Second, Width: width, User: j.User, App: j.App,
			})
		}
	}
	return w
}

// Outcome is the result of a job.
type Outcome struct {
	Start, End batch.Time
	Walltime   batch.Duration // planned
	Width      int32          // allocated
	Site       int32          // index of the site where it ran
	Killed     bool           // at its walltime
	Processors string         // as intervals; "" if they were not recorded
	// Work is the runtime without sharing, if jobs share processors; else 0.
	Work batch.Duration
}

// run returns the runtime on processors that are not shared.
func (o *Outcome) run() batch.Duration {
	if o.Work > 0 {
		return o.Work
	}
	return o.End.Sub(o.Start)
}

// HorizonError reports that a job would still wait or run at the end of time, after 292,000
// years.
type HorizonError struct {
	Job int64 // in its trace
}

// Error names likely causes.
func (e *HorizonError) Error() string {
	return fmt.Sprintf("job %d would not end within %.0f s, where time ends: the runtimes or walltimes of the trace "+
		"are too long, or a speed is too low",
		e.Job, batch.Never.Sub(0).Seconds())
}

// unended returns a *HorizonError if a run has an unfinished job.
func unended(w *Workload, outcomes []Outcome) error {
	for i := range outcomes {
		if outcomes[i].End == batch.Never {
			return &HorizonError{Job: w.Jobs[i].ID}
		}
	}
	return nil
}

// work returns how long a job runs and whether it is then killed.
func (o Overrun) work(runtime, walltime batch.Duration) (batch.Duration, bool) {
	if o == Kill && runtime > walltime {
		return walltime, true
	}
	return runtime, false
}
