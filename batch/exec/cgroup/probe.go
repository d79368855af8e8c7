package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// probe finds out, on an empty group, which abilities a tree has. Values are
// written and not only looked for: rights to a file are no right to a value.
func (h *Host) probe(t *tree, could []Ability) {
	// No group of ours may have this name: a dot is not allowed in one.
	dir := filepath.Join(t.base, "probe."+strconv.Itoa(os.Getpid()))
	err := h.kernel.mkdir(dir)
	if err == nil || errors.Is(err, fs.ErrExist) {
		defer func() { _ = h.kernel.rmdir(dir) }() // what is left of it holds no process
		err = nil
		if t.sets {
			err = inheritSet(h.kernel, t.base, dir)
		}
	}
	for _, a := range could {
		trying := err
		if trying == nil {
			trying = h.tryOn(t, dir, a)
		}
		if trying != nil {
			h.note(a, t.base, trying)
			continue
		}
		t.used = true
		h.by[a] = t
		way := V1
		if t.v2 {
			way = V2
		}
		h.offers[a].Way, h.offers[a].Where = way, t.base
	}
}

func (h *Host) tryOn(t *tree, dir string, a Ability) error {
	put := func(file, text string) error { return h.kernel.write(filepath.Join(dir, file), text) }
	switch a {
	case Shares:
		if t.v2 {
			return put("cpu.max", fmt.Sprintf("max %d", period))
		}
		return put("cpu.cfs_quota_us", "-1")
	case Processors:
		if t.v2 {
			return put("cpuset.cpus", "")
		}
		return nil // inheritSet has written it
	case Memory:
		if t.v2 {
			return put("memory.max", "max")
		}
		return put("memory.limit_in_bytes", "-1")
	case Pausing:
		if t.v2 {
			return put("cgroup.freeze", "0")
		}
		return put("freezer.state", "THAWED")
	case Killing:
		if t.v2 {
			return put("cgroup.kill", "1") // nobody is in it
		}
		_, err := h.kernel.read(filepath.Join(dir, "cgroup.procs"))
		return err
	case Measuring:
		_, err := h.cpuTime(t, dir)
		return err
	}
	return fmt.Errorf("no such ability: %s", a)
}

// inheritSet gives a new group the processors and memory nodes of the one above
// it. The first version of control groups gives it none, and then no process
// may be in it.
func inheritSet(k kernel, above, dir string) error {
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		text, err := k.read(filepath.Join(above, file))
		if err != nil {
			return err
		}
		if err := k.write(filepath.Join(dir, file), strings.TrimSpace(text)); err != nil {
			return err
		}
	}
	return nil
}
