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

// Config says where groups are made.
type Config struct {
	// Name keeps the groups of one owner apart from those of others: letters,
	// digits, '-' and '_', up to 100. Who gives the same name, and the same
	// Parent, finds the same groups again.
	Name string
	// Parent is the path of the group below which all are made, in each
	// hierarchy: "/" or "/batch.slice". Empty is the group of this process, so
	// that whatever holds this process also holds its groups; a process that
	// starts again in another one wants Former to find its groups.
	Parent string
	// StepAside allows this process to be moved into a group beside those it
	// makes, if it is in the parent itself. The second version of control groups
	// wants that: a group whose members are processes hands on no controllers.
	StepAside bool
	// Former are directories in which earlier lives of this owner made groups, see
	// Host.Places: they are found again although this one starts in another group.
	Former []string
	// Without names abilities that are not to be looked for. What is left to do
	// their work is signals.
	Without []Ability
}

var okName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// prefix begins the directories of groups. A group may therefore have any name,
// "tasks" as well, which is a file of the kernel's.
const prefix = "g-"

// tree is one hierarchy in which groups are made.
type tree struct {
	v2     bool
	point  string   // where the hierarchy is mounted
	base   string   // the directory that holds the groups' directories
	former []string // the same of earlier lives, elsewhere in the hierarchy
	used   bool     // by some ability
	sets   bool     // v1 with cpuset: a new group has no processor until it is given some
}

func (t *tree) dir(name string) string { return filepath.Join(t.base, prefix+name) }

// Host makes groups of processes. Its methods may be called from anywhere at
// any time.
type Host struct {
	config Config
	kernel kernel
	table  *table // of processes
	trees  []*tree
	by     [abilities]*tree // which tree does what; nil for none
	offers Offers
	pacer  *pacer

	mu     sync.Mutex
	groups map[string]*Group // those that were made or found, until they are removed
	claims *claims           // of processors; nil: there are none
}

// Offers returns what the host offers, as found out when it was detected.
func (h *Host) Offers() Offers { return slices.Clone(h.offers) }

// Make makes a group. Its processes have no limits until some are set.
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
				_ = h.kernel.rmdir(made.dir(name)) // it was made a moment ago and is empty
			}
			return nil, failed(op, name, err)
		}
	}
	h.groups[name] = g
	return g, nil
}

var errName = errors.New("a name has 1 to 100 letters, digits, '-' and '_'")

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

// Find returns the group that was made under that name, by this process or an
// earlier one. An earlier one's limits hold on; duty cycles do not, and begin
// anew when its processes are added and its share is set again.
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

// List returns the names of all groups, those of earlier processes too, sorted.
// Where the host has only signals it knows of those of this process alone.
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

// left returns the names of the groups that have a directory in any tree: one
// that was half removed is one that is still to be removed.
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

// Close ends the duty cycles and lets their groups run, but for those that are
// frozen. Groups and their limits stay; if there is none, the directory that
// held them goes, so that of two hosts of the same name and parent, which share
// it, the other can make no more groups.
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

// place returns the tree that has an ability, or why there is none.
func (h *Host) place(a Ability) (*tree, error) {
	if t := h.by[a]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("%s: %s", a, h.offers[a].Why)
}
