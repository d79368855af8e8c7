package sim

import "github.com/seed-9b8f70bb/drover/batch"

// handles gives jobs handles and takes them back, so that a policy and its
// engine see as many as there are jobs in the system at once. A handle keeps its
// batch.Job.
type handles struct {
	specs  []*batch.Job // by handle
	index  []int32      // of the workload's job that has the handle
	unused []batch.Handle
}

// take returns a job with a handle that is not in use, for the workload's job i.
// Its other fields are those of the last job that had the handle.
func (h *handles) take(i int32) *batch.Job {
	if n := len(h.unused); n > 0 {
		handle := h.unused[n-1]
		h.unused = h.unused[:n-1]
		h.index[handle] = i
		return h.specs[handle]
	}
	if len(h.specs) == 0 { // batch.NoJob is nobody's
		h.specs, h.index = append(h.specs, nil), append(h.index, -1)
	}
	spec := &batch.Job{Handle: batch.Handle(len(h.specs))}
	h.specs, h.index = append(h.specs, spec), append(h.index, i)
	return spec
}

func (h *handles) release(handle batch.Handle) { h.unused = append(h.unused, handle) }
