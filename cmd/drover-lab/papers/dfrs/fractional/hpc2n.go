package fractional

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// HPC2N's log and its machine: 120 nodes of two processors and 2 GB.
const (
	HPC2NFile  = "HPC2N-2002-2.2-cln.swf.gz"
	hpc2nNodes = 120
	hpc2nKB    = 2 << 20 // of a node
)

// week is the length of an instance of HPC2N, in seconds.
const week = 604_800

// Weeks cuts a log into weeks, counted from its instant 0. Each begins with an empty
// machine, and times are from its begin. A week without a job is left out.
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

// runs says whether the log knows what a job is.
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
