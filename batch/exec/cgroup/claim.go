package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// ClaimCPUs claims n processors for this host's groups and returns their numbers. They are
// usable by this process, and not claimed by another host with groups under the same parent.
// The claim lasts until the host is closed or its process has ended. If there are too few, it
// returns ErrTaken and claims none. SetCPUs assigns them to groups.
func (h *Host) ClaimCPUs(n int) ([]int, error) {
	const op = "claim processors"
	t, err := h.place(Processors)
	if err != nil {
		return nil, &Error{Op: op, Kind: ErrNotOffered, Err: err}
	}
	usable, err := h.usable(t)
	if err != nil {
		return nil, failed(op, "", err)
	}
	if n < 1 || n > len(usable) {
		return nil, &Error{Op: op, Kind: ErrTaken, Err: fmt.Errorf("%d wanted, this process can use %d", n,
			len(usable))}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.claims == nil {
		// A lock of a kernel file is visible through every mount of the hierarchy, in any
		// namespace, and ends with its process.
		if h.claims, err = openClaims(filepath.Join(filepath.Dir(t.base), "cgroup.procs")); err != nil {
			return nil, failed(op, "", err)
		}
	}
	var got []int
	for _, cpu := range usable {
		if len(got) == n {
			break
		}
		won, err := h.claims.take(cpu)
		if err != nil {
			return nil, errors.Join(failed(op, "", err), failed(op, "", h.claims.release(got)))
		}
		if won {
			got = append(got, cpu)
		}
	}
	if len(got) < n {
		err := &Error{Op: op, Kind: ErrTaken, Err: fmt.Errorf("%d wanted, %d of %d are not claimed", n, len(got),
			len(usable))}
		return nil, errors.Join(err, failed(op, "", h.claims.release(got)))
	}
	return got, nil
}

// usable returns the processors that this process can use and its groups can be given.
func (h *Host) usable(t *tree) ([]int, error) {
	own, err := affinity()
	if err != nil {
		return nil, err
	}
	// Version 1 has the effective ones under another name, since 3.16.
	for _, file := range []string{"cpuset.cpus.effective", "cpuset.effective_cpus"} {
		text, err := h.kernel.read(filepath.Join(t.base, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		given, err := parseCPUs(text)
		if err != nil {
			return nil, err
		}
		return slices.DeleteFunc(own, func(cpu int) bool { return !slices.Contains(given, cpu) }), nil
	}
	return own, nil
}

// Places returns the directories in which groups of this host are, or will be, created: the
// Config.Former of the next process.
func (h *Host) Places() []string { return h.bases() }

// bases returns the directories of all trees, with those of earlier processes last.
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

// recall adds the directories of earlier processes to the trees of their hierarchies. It
// ignores those that are gone, or have another owner's name.
func (h *Host) recall() {
	for _, dir := range h.config.Former {
		if filepath.Base(dir) != "drover-"+h.config.Name || filepath.Clean(dir) != dir {
			continue
		}
		var of *tree // the innermost mount
		for _, t := range h.trees {
			if strings.HasPrefix(dir, strings.TrimSuffix(t.point, "/")+"/") &&
				(of == nil || len(t.point) > len(of.point)) {
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

// elsewhere returns the directories of a group in trees where an earlier process has created
// it.
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
