package fractional

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/pack"
	"github.com/seed-9b8f70bb/drover/sim/lublin"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// MaxNodes is the largest machine of an instance: its CPU, in shares, fits an int32.
const MaxNodes = 2047

// Instance is a machine of equal nodes and its jobs.
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

// rate is the capacity that a job can use, in shares of a node.
func (j *Job) rate() int64 { return int64(j.Tasks) * int64(j.Need) }

// JobError reports a job that does not fit an instance.
type JobError struct {
	Set           string
	Trace, Number int // of the job, from 1
	Field         string
	Value         int64
	Accepted      string
}

// Error names the job, the field and what is accepted.
func (e *JobError) Error() string {
	return fmt.Sprintf("%s, trace %d, job %d: %s: %d, accepted: %s", e.Set, e.Trace, e.Number, e.Field, e.Value,
		e.Accepted)
}

// Validate returns the first problem, a *JobError if it is in a job.
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

// The synthetic workloads: their machine has nodes of four processors and 8 GB.
const (
	Seeds           = 100 // from 1
	Loads           = 9   // from 0.1
	syntheticJobs   = 1000
	syntheticNodes  = 128
	syntheticMemory = 8 << 30
)

// memoryStream separates the random draws of memory from those of the model.
const memoryStream = 0x6d656d6f7279

// Synthetic makes the workload of a seed by the model of Lublin and Feitelson, with its
// batch and its interactive jobs: the first and the last submission are then 6 days
// apart in the mean, as the paper says (4 to 6); with all jobs of one class, 11. A width
// is a number of tasks. The one of a job of width 1 is sequential and needs a quarter
// of a node, others all of one. 55% of the jobs have tasks that need a tenth of a
// node's memory; the others 2 to 10 tenths, drawn evenly. Times are from the first
// submission.
func Synthetic(ctx context.Context, seed int) (*Instance, error) {
	trace, err := lublin.Generate(ctx, lublin.Config{
		Jobs: syntheticJobs, Procs: syntheticNodes, Seed: uint64(seed),
		Classes: lublin.Divided,
	})
	if err != nil {
		return nil, err
	}
	in := &Instance{Set: Unscaled, Trace: seed, Nodes: syntheticNodes, Memory: syntheticMemory}
	r := rand.New(rand.NewPCG(uint64(seed), memoryStream))
	for i := range trace.Jobs {
		j := &trace.Jobs[i]
		job := Job{
			Submit:  batch.Time(j.Submit-trace.Jobs[0].Submit) * batch.Time(batch.Second),
			Runtime: batch.Duration(j.Run) * batch.Second,
			Tasks:   j.ReqProcs, Need: batch.One,
		}
		if job.Tasks == 1 {
			job.Need = batch.One / 4
		}
		little, tenths := r.IntN(100) < 55, 2+r.Int64N(9)
		if little {
			tenths = 1
		}
		job.Memory = tenths * (syntheticMemory / 10)
		in.Jobs = append(in.Jobs, job)
	}
	return in, nil
}

// Scale returns the instance with the gaps between submissions multiplied by what
// gives it an offered load of so many tenths: tasks times runtimes of all jobs, over
// nodes times the last submission. This is the model's own definition.
func (in *Instance) Scale(tenths int) *Instance {
	scaled := *in
	scaled.Set, scaled.Load = Scaled, tenths
	scaled.Jobs = make([]Job, len(in.Jobs))
	copy(scaled.Jobs, in.Jobs)
	area, last := int64(0), int64(0)
	for i := range in.Jobs {
		j := &in.Jobs[i]
		area += int64(j.Tasks) * int64(j.Runtime/batch.Second)
		last = int64(j.Submit.Sub(0) / batch.Second)
	}
	if last == 0 {
		return &scaled // all come at once, whatever the load
	}
	for i := range scaled.Jobs {
		s := &scaled.Jobs[i].Submit
		*s = batch.Time(s.Sub(0).Times(10*area, int64(tenths)*int64(in.Nodes)*last))
	}
	return &scaled
}

// HPC2N's log and its machine: 120 nodes of two processors and 2 GB.
const (
	HPC2NFile  = "HPC2N-2002-2.2-cln.swf.gz"
	hpc2nNodes = 120
	hpc2nKB    = 2 << 20 // of a node
)

// week is the length of an instance of HPC2N, in seconds.
const week = 604_800

// Weeks cuts a log into weeks, counted from its instant 0. Each starts with an empty
// machine and at time 0. Weeks without jobs are dropped.
func Weeks(log *swf.Trace) []*Instance {
	var all []*Instance
	last := int64(-1)
	for i := range log.Jobs {
		j := &log.Jobs[i]
		if !runs(j) {
			continue
		}
		if n := j.Submit / week; n != last {
			last = n
			all = append(all, &Instance{Set: HPC2N, Trace: int(n), Nodes: hpc2nNodes, Memory: hpc2nKB << 10})
		}
		in := all[len(all)-1]
		in.Jobs = append(in.Jobs, hpc2nJob(j, last*week))
	}
	return all
}

// InOnePiece returns a log as one instance.
func InOnePiece(log *swf.Trace) *Instance {
	in := &Instance{Set: Whole, Nodes: hpc2nNodes, Memory: hpc2nKB << 10}
	for i := range log.Jobs {
		if runs(&log.Jobs[i]) {
			in.Jobs = append(in.Jobs, hpc2nJob(&log.Jobs[i], 0))
		}
	}
	return in
}

// runs reports whether the log has the job's runtime and width.
func runs(j *swf.Job) bool { return j.Run >= 0 && j.ReqProcs > 0 }

// hpc2nJob is the paper's reading of a job. Memory is that of a processor, the larger
// of what was asked for and used, a tenth of a node where the log says less or
// nothing. Two processors that have less than half a node each are one task that
// takes all of a node's CPU; else each processor is a task that takes half of it.
func hpc2nJob(j *swf.Job, from int64) Job {
	memory := max(j.ReqMem, j.UsedMem) << 10
	memory = max(memory, hpc2nKB<<10/10)
	job := Job{
		Submit: batch.Time(j.Submit-from) * batch.Time(batch.Second), Runtime: batch.Duration(j.Run) * batch.Second,
		Tasks: j.ReqProcs, Need: batch.One / 2, Memory: memory,
	}
	if j.ReqProcs%2 == 0 && memory < hpc2nKB<<10/2 {
		job.Tasks, job.Need, job.Memory = j.ReqProcs/2, batch.One, 2*memory
	}
	return job
}

// The states that the paper times MCB8 on: those of as many jobs, met by the algorithm
// that packs most often.
const (
	statesAlgorithm = "MCB8*/opt=min"
	leastJobs       = 11
	mostJobs        = 102
	statesEvery     = 300 // one in so many is kept
)

// WriteStates runs the unscaled workloads and writes some of the states that MCB8 is
// asked to pack. It returns how many it met and wrote.
func WriteStates(ctx context.Context, w io.Writer) (met, written int, err error) {
	for seed := 1; seed <= Seeds; seed++ {
		in, failed := Synthetic(ctx, seed)
		if failed != nil {
			return met, written, failed
		}
		watch := func(p batch.Policy) batch.Policy {
			p.(*dfrs.Policy).WatchPackings(func(m *pack.Machine, jobs []pack.Job) {
				if n := len(jobs); err != nil || n < leastJobs || n > mostJobs {
					return
				}
				if met++; met%statesEvery == 0 {
					written++
					err = pack.WriteState(w, m, jobs)
				}
			})
			return p
		}
		if _, failed := Run(ctx, in, statesAlgorithm, 0, Penalty, Options{Wrap: watch}); failed != nil {
			return met, written, failed
		}
		if err != nil {
			return met, written, err
		}
	}
	return met, written, nil
}
