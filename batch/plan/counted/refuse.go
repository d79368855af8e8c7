package counted

import "github.com/seed-9b8f70bb/drover/batch"

// Refuse answers for a policy without reservations and agreements: an ask for either gets
// no start. It reports whether the ask is one.
func Refuse(a *batch.Ask, out *batch.Estimate) bool {
	if a.Job.Window == nil && !a.Job.Agreed && a.Job.Into == batch.NoJob {
		return false
	}
	out.Kind, out.P = batch.Promised, 0
	starts := out.Grow(len(a.Shapes))
	for i := range starts {
		starts[i] = batch.Never
	}
	return true
}
