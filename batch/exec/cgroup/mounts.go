package cgroup

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mount is one mounted hierarchy.
type mount struct {
	v2          bool
	point       string   // where it is mounted
	root        string   // which of its groups is seen there
	controllers []string // v1: those that it was mounted with
}

// named are the options of a v1 mount that tell of controllers. The others are
// "rw", "xattr", "name=systemd" and the like.
var named = []string{"cpu", "cpuacct", "cpuset", "memory", "freezer"}

// parseMounts reads the control group hierarchies from the text of
// /proc/self/mountinfo. Of a hierarchy that is mounted more than once the first
// counts; lines of other kinds of file systems are passed over unread.
func parseMounts(text string) ([]mount, error) {
	var all []mount
	for line := range strings.Lines(text) {
		before, after, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
		kind, rest, _ := strings.Cut(after, " ")
		if !ok || kind != "cgroup" && kind != "cgroup2" {
			continue
		}
		// 33 31 0:30 / /sys/fs/cgroup/cpu rw,relatime shared:9
		fields := strings.Fields(before)
		if len(fields) < 6 {
			return nil, fmt.Errorf("mountinfo: line %q has %d fields before the dash, want at least 6", line, len(fields))
		}
		m := mount{v2: kind == "cgroup2", root: unescape(fields[3]), point: unescape(fields[4])}
		if !m.v2 {
			_, options, _ := strings.Cut(rest, " ")
			for option := range strings.SplitSeq(options, ",") {
				if slices.Contains(named, option) {
					m.controllers = append(m.controllers, option)
				}
			}
			if len(m.controllers) == 0 {
				continue
			}
		}
		if !slices.ContainsFunc(all, func(o mount) bool {
			return o.v2 == m.v2 && slices.Equal(o.controllers, m.controllers)
		}) {
			all = append(all, m)
		}
	}
	return all, nil
}

// unescape undoes what mountinfo does to blanks: \040.
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+3 < len(text) {
			if c, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// membership is where a process is: the group's path in each hierarchy, by
// controller, and in v2 by the empty name.
type membership map[string]string

// parseMembership reads the text of /proc/self/cgroup.
func parseMembership(text string) (membership, error) {
	in := membership{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		_, rest, ok := strings.Cut(line, ":")
		controllers, path, ok2 := strings.Cut(rest, ":")
		if !ok || !ok2 || !strings.HasPrefix(path, "/") {
			return nil, fmt.Errorf("line %q of a process's control groups is not number:controllers:path", line)
		}
		for controller := range strings.SplitSeq(controllers, ",") {
			in[controller] = path
		}
	}
	return in, nil
}

// dir returns the directory of the group with that path. A group that this
// mount does not show, as those above a container, becomes the mount's root.
func (m mount) dir(path string) string {
	clean := filepath.Clean("/" + strings.TrimPrefix(path, "/"))
	if strings.HasPrefix(path, "/..") {
		clean = "/"
	}
	root := filepath.Clean(m.root)
	switch {
	case root == "/":
		return filepath.Join(m.point, clean)
	case clean == root:
		return m.point
	case strings.HasPrefix(clean, root+"/"):
		return filepath.Join(m.point, strings.TrimPrefix(clean, root))
	}
	return m.point
}
