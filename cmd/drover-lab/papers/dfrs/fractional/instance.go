package fractional

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// MaxNodes is the largest machine of an instance: its CPU, in shares, fits an int32.
const MaxNodes = 2047

// Instance is a machine of equal nodes and the jobs that come to it.
type Instance struct {
	Set         string
	Trace, Load int   // as in Case
	Nodes       int32 // each of one processor
	Memory      int64 // of a node, in bytes
	Jobs        []Job // in order of submission
}

// Job is a job of equal tasks.
type Job struct {
	Submit  batch.Time
	Runtime batch.Duration // at full rate
	Tasks   int32
	Need    batch.Share // of a task
	Memory  int64       // of a task, in bytes
}

// Favoured is the owner of every tenth job of an instance, the first one among them,
// for runs with the policy's setting priorities. Others have no owner.
const Favoured = "tenth"

func ownerOf(index int) string {
	if index%10 == 0 {
		return Favoured
	}
	return ""
}

// rate is what a job can use of the machine, in shares of a node.
func (j *Job) rate() int64 { return int64(j.Tasks) * int64(j.Need) }

// JobError is a job that an instance cannot have.
type JobError struct {
	Set           string
	Trace, Number int // of the job, from 1
	Field         string
	Value         int64
	Accepted      string
}

// Error names the job, the field and what is accepted.
func (e *JobError) Error() string {
	return fmt.Sprintf("%s, trace %d, job %d: %s: %d, accepted: %s", e.Set, e.Trace, e.Number, e.Field, e.Value, e.Accepted)
}

// Validate reports the first thing that is wrong, a *JobError where it is a job.
func (in *Instance) Validate() error {
	if in.Nodes < 1 || in.Nodes > MaxNodes {
		return fmt.Errorf("%s, trace %d: nodes: %d, accepted: 1..%d", in.Set, in.Trace, in.Nodes, MaxNodes)
	}
	last := batch.Time(0)
	for i := range in.Jobs {
		j := &in.Jobs[i]
		wrong := func(field string, value int64, format string, args ...any) error {
			return &JobError{in.Set, in.Trace, i + 1, field, value, fmt.Sprintf(format, args...)}
		}
		switch {
		case j.Submit < last:
			return wrong("submit", int64(j.Submit), "not before the job that stands before it, %d", last)
		case j.Runtime < 0:
			return wrong("runtime", int64(j.Runtime), "0 or more")
		case j.Need < 1 || j.Need > batch.One:
			return wrong("need", int64(j.Need), "1..%d", batch.One)
		case j.Memory < 0 || j.Memory > in.Memory:
			return wrong("memory", j.Memory, "0..%d, what a node has", in.Memory)
		case j.Tasks < 1 || int64(j.Tasks) > int64(in.Nodes):
			return wrong("tasks", int64(j.Tasks), "1..%d, one on each node", in.Nodes)
		}
		last = j.Submit
	}
	return nil
}
