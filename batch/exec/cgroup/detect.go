package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Detect finds out what this host offers, by trying it on an empty group. A missing ability
// is not an error: Offers reports it, with the reason. The caller closes the host.
func Detect(config Config) (*Host, error) {
	return detect(config, files{}, "/proc")
}

func detect(config Config, k kernel, proc string) (*Host, error) {
	const op = "detect"
	if !okName.MatchString(config.Name) {
		return nil, &Error{Op: op, Kind: ErrInvalid, Err: errName}
	}
	if config.Parent != "" && (!filepath.IsAbs(config.Parent) || filepath.Clean(config.Parent) != config.Parent) {
		return nil, &Error{Op: op, Kind: ErrInvalid, Err: fmt.Errorf("parent %q is not a clean absolute path",
			config.Parent)}
	}
	h := &Host{
		config: config, kernel: k, table: &table{proc: proc}, groups: map[string]*Group{},
		offers: make(Offers, abilities),
	}
	h.pacer = newPacer()
	for a := range abilities {
		h.offers[a].Ability = a
		if !slices.Contains(config.Without, a) {
			continue
		}
		h.offers[a].Why = "not looked for, as configured"
	}
	mounts, in, err := h.surroundings()
	if err != nil {
		// Not Linux, or a process that cannot read its own group.
		h.refuse(err.Error())
		h.fallBack()
		return h, nil
	}
	// Version 2 first: its implementation of an ability is the better one.
	for _, v2 := range []bool{true, false} {
		for _, m := range mounts {
			if m.v2 == v2 {
				h.try(m, in)
			}
		}
	}
	h.refuse("no hierarchy of control groups with it is mounted")
	h.fallBack()
	h.recall()
	return h, nil
}

func (h *Host) surroundings() ([]mount, membership, error) {
	text, err := os.ReadFile(filepath.Join(h.table.proc, "self", "mountinfo"))
	if err != nil {
		return nil, nil, err
	}
	mounts, err := parseMounts(string(text))
	if err != nil {
		return nil, nil, err
	}
	text, err = os.ReadFile(filepath.Join(h.table.proc, "self", "cgroup"))
	if err != nil {
		return nil, nil, err
	}
	in, err := parseMembership(string(text))
	return mounts, in, err
}

// wanted returns those of the given abilities that are configured and not found yet.
func (h *Host) wanted(of ...Ability) []Ability {
	return slices.DeleteFunc(of, func(a Ability) bool {
		return h.by[a] != nil || slices.Contains(h.config.Without, a)
	})
}

// try creates a tree in a mounted hierarchy and keeps it if it provides an ability.
func (h *Host) try(m mount, in membership) {
	var could []Ability
	if m.v2 {
		could = h.wanted(Shares, Processors, Memory, Pausing, Killing, Measuring)
	} else {
		for _, c := range m.controllers {
			could = append(could, h.wanted(map[string][]Ability{
				"cpu": {Shares}, "cpuset": {Processors}, "memory": {Memory},
				"freezer": {Pausing, Killing}, "cpuacct": {Measuring},
			}[c]...)...)
		}
	}
	if len(could) == 0 {
		return
	}
	t := &tree{v2: m.v2, point: m.point, sets: slices.Contains(m.controllers, "cpuset")}
	why := func(err error) {
		for _, a := range could {
			h.note(a, m.point, err)
		}
	}
	parent, err := h.parent(m, in)
	if err != nil {
		why(err)
		return
	}
	t.base = filepath.Join(parent, "drover-"+h.config.Name)
	// An existing one was created by a predecessor, and is reused.
	switch err := h.kernel.mkdir(t.base); {
	case err == nil && t.sets:
		err = inheritSet(h.kernel, parent, t.base)
		if err != nil {
			_ = h.kernel.rmdir(t.base) // an error means that it is not empty
			why(err)
			return
		}
	case err != nil && !errors.Is(err, fs.ErrExist):
		why(err)
		return
	}
	if m.v2 {
		could = h.handOn(parent, t.base, could)
	}
	h.probe(t, could)
	if !t.used {
		// An error means that it contains groups of a predecessor, which stay.
		_ = h.kernel.rmdir(t.base)
		return
	}
	h.trees = append(h.trees, t)
}

// parent returns the directory below which a tree is created.
func (h *Host) parent(m mount, in membership) (string, error) {
	if h.config.Parent != "" {
		return m.dir(h.config.Parent), nil
	}
	key := ""
	if !m.v2 {
		key = m.controllers[0]
	}
	path, ok := in[key]
	if !ok {
		return "", errors.New("this process is not in a group of it")
	}
	if m.v2 {
		// An earlier process of that name has stepped aside before.
		path = strings.TrimSuffix(path, "/"+h.aside())
	}
	return m.dir("/" + strings.TrimPrefix(path, "/")), nil
}

func (h *Host) aside() string { return "drover-" + h.config.Name + "-self" }

// handOn enables the controllers of a group of version 2 for the group below it and for the
// groups of that one, and returns the abilities that are then still possible.
func (h *Host) handOn(parent, base string, could []Ability) []Ability {
	var still []Ability
	for _, a := range could {
		name := map[Ability]string{Shares: "cpu", Processors: "cpuset", Memory: "memory"}[a]
		if name == "" {
			still = append(still, a)
			continue
		}
		err := h.enable(parent, name)
		if is(err, ErrBusy) && h.config.StepAside {
			if err = h.stepAside(parent); err == nil {
				err = h.enable(parent, name)
			}
		}
		if err == nil {
			err = h.enable(base, name)
		}
		if err != nil {
			h.note(a, parent, err)
			continue
		}
		still = append(still, a)
	}
	return still
}

// enable enables a controller for the groups below dir.
func (h *Host) enable(dir, controller string) error {
	there, err := h.kernel.read(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return err
	}
	if !slices.Contains(strings.Fields(there), controller) {
		return fmt.Errorf("controller %s is not available there", controller)
	}
	file := filepath.Join(dir, "cgroup.subtree_control")
	if on, err := h.kernel.read(file); err == nil && slices.Contains(strings.Fields(on), controller) {
		return nil
	}
	return h.kernel.write(file, "+"+controller)
}

// stepAside moves this process out of the parent, into a sibling of the host's group.
func (h *Host) stepAside(parent string) error {
	dir := filepath.Join(parent, h.aside())
	if err := h.kernel.mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return h.kernel.write(filepath.Join(dir, "cgroup.procs"), strconv.Itoa(os.Getpid()))
}

// note records why an ability is not offered by a hierarchy; each adds to it.
func (h *Host) note(a Ability, where string, err error) {
	text := fmt.Sprintf("%s: %v", where, err)
	if kind := kindOf(err); kind != nil && !errors.Is(kind, ErrVanished) {
		text = fmt.Sprintf("%s: %v: %v", where, kind, err)
	}
	if h.offers[a].Why != "" {
		text = h.offers[a].Why + "; " + text
	}
	h.offers[a].Why = text
}

// refuse records a reason for every ability without a tree or a reason.
func (h *Host) refuse(why string) {
	for a := range abilities {
		if h.by[a] == nil && h.offers[a].Why == "" {
			h.offers[a].Why = why
		}
	}
}

// fallBack selects the ways that need no control group.
func (h *Host) fallBack() {
	for _, a := range []Ability{Pausing, Killing, Shares, Measuring} {
		if h.by[a] != nil {
			continue
		}
		h.offers[a].Way = Signals
		if a == Shares && h.by[Pausing] != nil {
			h.offers[a].Way, h.offers[a].Where = Duty, h.by[Pausing].base
		}
	}
}

// probe finds out, on an empty group, which abilities a tree has. It writes values: the
// permission to open a file does not mean that the kernel accepts a value.
func (h *Host) probe(t *tree, could []Ability) {
	// No group has this name: a dot is not allowed in one.
	dir := filepath.Join(t.base, "probe."+strconv.Itoa(os.Getpid()))
	err := h.kernel.mkdir(dir)
	if err == nil || errors.Is(err, fs.ErrExist) {
		defer func() { _ = h.kernel.rmdir(dir) }() // a leftover contains no process
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
			return put("cgroup.kill", "1") // it is empty
		}
		_, err := h.kernel.read(filepath.Join(dir, "cgroup.procs"))
		return err
	case Measuring:
		_, err := h.cpuTime(t, dir)
		return err
	}
	return fmt.Errorf("no such ability: %s", a)
}

// inheritSet gives a new group the processors and memory nodes of its parent. Version 1
// leaves them empty, and then no process can enter it.
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

// mount is one mounted hierarchy.
type mount struct {
	v2          bool
	point       string   // where it is mounted
	root        string   // the group that is visible there
	controllers []string // v1: its controllers
}

// named are the options of a v1 mount that are controllers. Others are "rw", "xattr" and
// "name=systemd", for example.
var named = []string{"cpu", "cpuacct", "cpuset", "memory", "freezer"}

// parseMounts parses the control group hierarchies in the text of /proc/self/mountinfo. The
// first mount of a hierarchy counts; other file systems are skipped.
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
			return nil, fmt.Errorf("mountinfo: line %q has %d fields before the dash, want at least 6", line,
				len(fields))
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

// unescape decodes blanks in mountinfo: \040.
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

// membership is the groups of a process: the path in each hierarchy, by controller, and in v2
// by the empty name.
type membership map[string]string

// parseMembership parses the text of /proc/self/cgroup.
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

// dir returns the directory of the group with that path. A group that is not visible through
// this mount, such as one above a container, becomes the mount's root.
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
