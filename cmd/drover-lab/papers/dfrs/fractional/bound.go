package fractional

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs/bound"
)

// Bound returns what no schedule's maximum stretch can be below, ignoring memory.
func (in *Instance) Bound() (float64, error) {
	jobs := make([]bound.Job, len(in.Jobs))
	for i := range in.Jobs {
		j := &in.Jobs[i]
		jobs[i] = bound.Job{Release: j.Submit, Length: j.Runtime, Rate: j.rate()}
	}
	b, err := bound.MaxStretch(jobs, int64(in.Nodes)*int64(batch.One), leastTime)
	return b.Low, err
}
