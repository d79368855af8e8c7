package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
)

// Config says where groups are created.
type Config struct {
	// Name separates the groups of one owner from those of others: letters, digits, '-' and
	// '_', up to 100. The same name and Parent give access to the same groups.
	Name string
	// Parent is the path of the group below which all are created, in each hierarchy: "/" or
	// "/batch.slice". Empty is the group of this process, so that its limits apply to the
	// groups too; a process that restarts in another group then needs Former to find its
	// groups.
	Parent string
	// StepAside allows moving this process into a sibling of the groups it creates, if it is
	// in the parent itself. Version 2 requires that: a group that contains processes cannot
	// enable controllers for its children.
	StepAside bool
	// Former are directories in which earlier processes of this owner created groups, see
	// Host.Places. Groups in them are found too.
	Former []string
	// Without names abilities that are not detected. Signals replace them where possible.
	Without []Ability
}

var okName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// prefix begins the directories of groups. A group can therefore have any name, including
// "tasks", which is a kernel file.
const prefix = "g-"

// tree is one hierarchy in which groups are created.
type tree struct {
	v2     bool
	point  string   // where the hierarchy is mounted
	base   string   // the directory that holds the groups' directories
	former []string // those of earlier processes, elsewhere in the hierarchy
	used   bool     // it provides an ability
	sets   bool     // v1 with cpuset: a new group has no processors until they are set
}

func (t *tree) dir(name string) string { return filepath.Join(t.base, prefix+name) }

// Host creates groups of processes. Its methods may be called from several goroutines.
type Host struct {
	config Config
	kernel kernel
	table  *table // of processes
	trees  []*tree
	by     [abilities]*tree // the tree of each ability; nil for none
	offers Offers
	pacer  *pacer

	mu     sync.Mutex
	groups map[string]*Group // created or found, and not removed
	claims *claims           // of processors; nil: there are none
}

// Offers returns the abilities found by Detect.
func (h *Host) Offers() Offers { return slices.Clone(h.offers) }

// Make creates a group. Its processes have no limits until some are set.
func (h *Host) Make(name string) (*Group, error) {
	const op = "make"
	if !okName.MatchString(name) {
		return nil, &Error{Op: op, Group: name, Kind: ErrInvalid, Err: errName}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.groups[name] != nil {
		return nil, &Error{Op: op, Group: name, Kind: ErrExists}
	}
	g := newGroup(h, name)
	for i, t := range h.trees {
		if err := h.makeIn(t, name); err != nil {
			for _, made := range h.trees[:i] {
				_ = h.kernel.rmdir(made.dir(name)) // it was just created and is empty
			}
			return nil, failed(op, name, err)
		}
	}
	h.groups[name] = g
	return g, nil
}

var errName = errors.New("accepted: 1 to 100 letters, digits, '-' and '_'")

func (h *Host) makeIn(t *tree, name string) error {
	dir := t.dir(name)
	if err := h.kernel.mkdir(dir); err != nil {
		return err
	}
	if !t.sets {
		return nil
	}
	if err := inheritSet(h.kernel, t.base, dir); err != nil {
		_ = h.kernel.rmdir(dir) // as above
		return err
	}
	return nil
}

// Find returns the group of that name, created by this process or an earlier one. Limits set
// by an earlier process persist; a duty cycle starts again when processes are added and a
// share is set.
func (h *Host) Find(name string) (*Group, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.find(name)
}

func (h *Host) find(name string) (*Group, error) {
	const op = "find"
	if g := h.groups[name]; g != nil {
		return g, nil
	}
	if !okName.MatchString(name) {
		return nil, &Error{Op: op, Group: name, Kind: ErrInvalid, Err: errName}
	}
	names, err := h.left()
	if err != nil {
		return nil, failed(op, name, err)
	}
	if !names[name] {
		return nil, &Error{Op: op, Group: name, Kind: ErrNotFound}
	}
	g := newGroup(h, name)
	g.at = h.elsewhere(name)
	h.groups[name] = g
	return g, nil
}

// List returns the names of all groups, including those of earlier processes, sorted. If the
// host has only signals, it knows only those of this process.
func (h *Host) List() ([]string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	names, err := h.left()
	if err != nil {
		return nil, failed("list", "", err)
	}
	for name := range h.groups {
		names[name] = true
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// left returns the names of the groups that have a directory in any tree: one that is partly
// removed still has to be removed.
func (h *Host) left() (map[string]bool, error) {
	names := map[string]bool{}
	for _, base := range h.bases() {
		dirs, err := h.kernel.dirs(base)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, dir := range dirs {
			if len(dir) > len(prefix) && dir[:len(prefix)] == prefix {
				names[dir[len(prefix):]] = true
			}
		}
	}
	return names, nil
}

// Close ends the duty cycles and continues their groups, except frozen ones. Groups and their
// limits stay. If there are none, their parent directory is removed; then another host of the
// same name and parent, which shares it, can create no more groups.
func (h *Host) Close() error {
	h.pacer.close()
	h.mu.Lock()
	groups := slices.Collect(maps.Values(h.groups))
	claimed := h.claims
	h.claims = nil
	h.mu.Unlock()
	for _, g := range groups {
		g.mu.Lock()
		g.unpace()
		g.mu.Unlock()
	}
	var all []error
	if claimed != nil {
		all = append(all, failed("close", "", claimed.close()))
	}
	for _, base := range h.bases() {
		err := h.kernel.rmdir(base)
		if err != nil && !is(err, ErrBusy) && !errors.Is(err, fs.ErrNotExist) {
			all = append(all, failed("close", "", err))
		}
	}
	return errors.Join(all...)
}

// place returns the tree that provides an ability, or why there is none.
func (h *Host) place(a Ability) (*tree, error) {
	if t := h.by[a]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("%s: %s", a, h.offers[a].Why)
}
