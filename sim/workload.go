package sim

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// Job is a job of a workload, in the terms of a site of speed 1.0.
type Job struct {
	ID       int64 // in its trace
	Submit   batch.Time
	Runtime  batch.Duration // how long it runs if it is not killed
	Walltime batch.Duration // at least a second
	Width    int32
	User     int32 // in its trace; not above 0 if that does not say
	App      int32 // its executable; as User
	Home     int32 // index of the site of its trace
	Local    bool  // a local user's: it stays there and is not mapped
	Type     uint8 // of the scenario's moldable types, from 1; 0: it is rigid
}

// Workload is what is submitted to a simulated machine, in order of submission.
type Workload struct {
	Jobs     []Job
	Rejected Rejected
}

// Rejected counts the jobs of a trace that were left out, by reason.
type Rejected struct {
	UnknownRuntime int `json:"unknown_runtime"`
	NoWidth        int `json:"no_width"`
	TooWide        int `json:"too_wide"` // for the machine
}

// Total returns their number.
func (r Rejected) Total() int { return r.UnknownRuntime + r.NoWidth + r.TooWide }

func (r *Rejected) add(o Rejected) {
	r.UnknownRuntime += o.UnknownRuntime
	r.NoWidth += o.NoWidth
	r.TooWide += o.TooWide
}

// Overrun says what becomes of a job at its walltime.
type Overrun uint8

// The rules.
const (
	Kill   Overrun = iota // it is killed
	Extend                // it runs on
)

// ParseOverrun reads a rule's name.
func ParseOverrun(s string) (Overrun, error) {
	switch s {
	case "", "kill":
		return Kill, nil
	case "extend":
		return Extend, nil
	}
	return 0, fmt.Errorf("overrun: %q, accepted: kill, extend", s)
}

// FromTrace makes a workload of a trace. A job's width is the requested number
// of processors, else the allocated one; its walltime is the requested time,
// else the runtime, and at least a second.
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
				ID: j.ID, Submit: batch.Time(j.Submit) * batch.Time(batch.Second), Runtime: batch.Duration(j.Run) * batch.Second,
				Walltime: batch.Duration(max(walltime, 1)) * batch.Second, Width: width, User: j.User, App: j.App,
			})
		}
	}
	return w
}

// Outcome is what became of a job.
type Outcome struct {
	Start, End batch.Time
	Walltime   batch.Duration // that it was planned with
	Width      int32          // that it got
	Site       int32          // index of the site it ran at
	Killed     bool           // at its walltime
	Processors string         // which ones, as intervals; "" if they were not recorded
	// Work is how long it would have run by itself, where jobs share processors; 0
	// where each has its own.
	Work batch.Duration
}

// run returns how long it ran, on processors of its own.
func (o *Outcome) run() batch.Duration {
	if o.Work > 0 {
		return o.Work
	}
	return o.End.Sub(o.Start)
}

// HorizonError says that a job would still wait or run when time ends, which is
// after 292,000 years.
type HorizonError struct {
	Job int64 // in its trace
}

// Error names likely causes.
func (e *HorizonError) Error() string {
	return fmt.Sprintf("job %d would not end within %.0f s, where time ends: the runtimes or walltimes of the trace are too long, or a speed is too low",
		e.Job, batch.Never.Sub(0).Seconds())
}

// unended returns a *HorizonError if a run has left a job behind.
func unended(w *Workload, outcomes []Outcome) error {
	for i := range outcomes {
		if outcomes[i].End == batch.Never {
			return &HorizonError{Job: w.Jobs[i].ID}
		}
	}
	return nil
}

// work returns how long a job runs and whether it is killed then.
func (o Overrun) work(runtime, walltime batch.Duration) (batch.Duration, bool) {
	if o == Kill && runtime > walltime {
		return walltime, true
	}
	return runtime, false
}
