package cgroup

import (
	"path/filepath"
	"strings"
)

// Places returns the directories in which groups of this host are, or will be made:
// what the next life is to be told as Config.Former.
func (h *Host) Places() []string { return h.bases() }

// bases returns the places of all trees, those of earlier lives behind this one's.
func (h *Host) bases() []string {
	var all []string
	for _, t := range h.trees {
		all = append(all, t.base)
	}
	for _, t := range h.trees {
		all = append(all, t.former...)
	}
	return all
}

// recall takes the places of earlier lives into the trees of their hierarchies. Only
// directories of this owner's name count, and those that are still there.
func (h *Host) recall() {
	for _, dir := range h.config.Former {
		if filepath.Base(dir) != "drover-"+h.config.Name || filepath.Clean(dir) != dir {
			continue
		}
		var of *tree // the innermost mount
		for _, t := range h.trees {
			if strings.HasPrefix(dir, strings.TrimSuffix(t.point, "/")+"/") && (of == nil || len(t.point) > len(of.point)) {
				of = t
			}
		}
		if of == nil || of.base == dir {
			continue
		}
		if _, err := h.kernel.dirs(dir); err == nil {
			of.former = append(of.former, dir)
		}
	}
}

// elsewhere returns the directories of a group in trees where not this life has it.
func (h *Host) elsewhere(name string) map[*tree]string {
	at := make(map[*tree]string)
	for _, t := range h.trees {
		if _, err := h.kernel.dirs(t.dir(name)); err == nil {
			continue
		}
		for _, base := range t.former {
			dir := filepath.Join(base, prefix+name)
			if _, err := h.kernel.dirs(dir); err == nil {
				at[t] = dir
			}
		}
	}
	return at
}
