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

// Detect finds out what this host offers, by trying it on an empty group. What
// it does not offer is no error: Offers says so, and why. Close the host.
func Detect(config Config) (*Host, error) {
	return detect(config, files{}, "/proc")
}

func detect(config Config, k kernel, proc string) (*Host, error) {
	const op = "detect"
	if !okName.MatchString(config.Name) {
		return nil, &Error{Op: op, Kind: ErrInvalid, Err: errName}
	}
	if config.Parent != "" && (!filepath.IsAbs(config.Parent) || filepath.Clean(config.Parent) != config.Parent) {
		return nil, &Error{Op: op, Kind: ErrInvalid, Err: fmt.Errorf("parent %q is no clean absolute path", config.Parent)}
	}
	h := &Host{config: config, kernel: k, table: &table{proc: proc}, groups: map[string]*Group{}, offers: make(Offers, abilities)}
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
		// Not Linux, or a process that may not know where it is.
		h.refuse(err.Error())
		h.fallBack()
		return h, nil
	}
	// The second version first: where it can do something it does it better.
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

// wanted returns the abilities that are to be looked for and not found yet, of
// those given.
func (h *Host) wanted(of ...Ability) []Ability {
	return slices.DeleteFunc(of, func(a Ability) bool {
		return h.by[a] != nil || slices.Contains(h.config.Without, a)
	})
}

// try makes a tree in a mounted hierarchy and keeps it if it is of use.
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
	// One that is there was made by a predecessor, and is taken over.
	switch err := h.kernel.mkdir(t.base); {
	case err == nil && t.sets:
		err = inheritSet(h.kernel, parent, t.base)
		if err != nil {
			_ = h.kernel.rmdir(t.base) // it is empty
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
		// It holds nothing of ours; a predecessor's groups keep it, and stay.
		_ = h.kernel.rmdir(t.base)
		return
	}
	h.trees = append(h.trees, t)
}

// parent returns the directory below which a tree is made.
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
		return "", errors.New("this process is in no group of it")
	}
	if m.v2 {
		// Somebody with our name has stepped aside before us.
		path = strings.TrimSuffix(path, "/"+h.aside())
	}
	return m.dir("/" + strings.TrimPrefix(path, "/")), nil
}

func (h *Host) aside() string { return "drover-" + h.config.Name + "-self" }

// handOn has a group of the second version and the one below it hand their
// controllers on, as many as they have, and returns the abilities that are still
// possible then.
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

// enable hands a controller on to the groups below dir.
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

// stepAside moves this process out of the parent, into a group beside ours.
func (h *Host) stepAside(parent string) error {
	dir := filepath.Join(parent, h.aside())
	if err := h.kernel.mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return h.kernel.write(filepath.Join(dir, "cgroup.procs"), strconv.Itoa(os.Getpid()))
}

// note keeps why something is not offered there; each place adds to it.
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

// refuse gives a reason to every ability that has no place and no reason yet.
func (h *Host) refuse(why string) {
	for a := range abilities {
		if h.by[a] == nil && h.offers[a].Why == "" {
			h.offers[a].Why = why
		}
	}
}

// fallBack says how things are done that no control group does.
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
