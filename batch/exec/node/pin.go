package node

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
)

// Pin claims processors of the host for its parts, as many as each has, and returns
// their numbers by part, until the host is closed. An error says why there are none, to
// whoever keeps the host: it has not that many, others have them (cgroup.ErrTaken), or it
// cannot hold tasks to them (cgroup.ErrNotOffered).
func (h *Host) Pin(parts []int) ([][]int, error) {
	sum := 0
	for _, n := range parts {
		sum += n
	}
	cpus, err := h.groups.ClaimCPUs(sum)
	if err != nil {
		return nil, err
	}
	all := make([][]int, len(parts))
	for i, n := range parts {
		all[i], cpus = cpus[:n:n], cpus[n:]
	}
	return all, nil
}

// confine finds the processors for all tasks, if they are not to have the host's.
func (h *Host) confine() {
	if h.cfg.Processors == 0 {
		return
	}
	pins, err := h.Pin([]int{h.cfg.Processors})
	if err != nil {
		h.log.Warn("tasks run on any processor of the host", "wanted", h.cfg.Processors, "why", err)
		return
	}
	h.cpus = pins[0]
	h.log.Info("tasks run on some processors of the host only", "processors", h.cpus)
}

// SetCPUs says on which processors of the host, by number, the task runs; none is all
// that the host's groups may have. What is set already costs nothing.
func (p *Task) SetCPUs(cpus []int) error {
	if p.group == nil {
		return cgroup.ErrNotOffered
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pinned && slices.Equal(p.cpus, cpus) {
		return nil
	}
	if err := p.group.SetCPUs(cpus); err != nil {
		return p.gone(err)
	}
	p.pinned, p.cpus = true, slices.Clone(cpus)
	return nil
}
