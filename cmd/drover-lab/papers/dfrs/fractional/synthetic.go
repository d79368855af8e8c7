package fractional

import (
	"context"
	"math/rand/v2"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/sim/lublin"
)

// The synthetic workloads: their machine has nodes of four processors and 8 GB.
const (
	Seeds           = 100 // from 1
	Loads           = 9   // from 0.1
	syntheticJobs   = 1000
	syntheticNodes  = 128
	syntheticMemory = 8 << 30
)

// memoryStream keeps the draws of memory apart from the model's own.
const memoryStream = 0x6d656d6f7279

// Synthetic makes the workload of a seed by the model of Lublin and Feitelson, with its
// batch and its interactive jobs: the first and the last submission are then 6 days
// apart in the mean, as the paper says (4 to 6); with all jobs of one class, 11. A width
// is a number of tasks. The one of a job of width 1 is sequential and needs a quarter
// of a node, others all of one. 55% of the jobs have tasks that need a tenth of a
// node's memory; the others 2 to 10 tenths, drawn evenly. Times are from the first
// submission.
func Synthetic(ctx context.Context, seed int) (*Instance, error) {
	trace, err := lublin.Generate(ctx, lublin.Config{Jobs: syntheticJobs, Procs: syntheticNodes, Seed: uint64(seed), Classes: lublin.Divided})
	if err != nil {
		return nil, err
	}
	in := &Instance{Set: Unscaled, Trace: seed, Nodes: syntheticNodes, Memory: syntheticMemory}
	r := rand.New(rand.NewPCG(uint64(seed), memoryStream))
	for i := range trace.Jobs {
		j := &trace.Jobs[i]
		job := Job{
			Submit: batch.Time(j.Submit-trace.Jobs[0].Submit) * batch.Time(batch.Second), Runtime: batch.Duration(j.Run) * batch.Second,
			Tasks: j.ReqProcs, Need: batch.One,
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
