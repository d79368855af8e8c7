package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
)

// Ability is one operation on groups that a host may support.
type Ability int

// The abilities.
const (
	Shares     Ability = iota // limit the group's processor time
	Processors                // choose the processors it runs on
	Memory                    // limit its memory
	Pausing                   // stop and continue all its processes
	Killing                   // kill all its processes
	Measuring                 // report the processor time used
	abilities
)

func (a Ability) String() string {
	names := [...]string{"shares", "processors", "memory", "pausing", "killing", "measuring"}
	if a < 0 || int(a) >= len(names) {
		return fmt.Sprintf("ability %d", int(a))
	}
	return names[a]
}

// Way is how an ability is implemented.
type Way int

// The ways, best last.
const (
	None    Way = iota // not at all
	Signals            // signals to process groups; shares by duty cycles
	Duty               // shares by duty cycles of a freezer
	V1                 // a control group of the first version
	V2                 // a control group of the second version
)

func (w Way) String() string {
	names := [...]string{"none", "signals", "duty", "v1", "v2"}
	if w < 0 || int(w) >= len(names) {
		return fmt.Sprintf("way %d", int(w))
	}
	return names[w]
}

// Offer says how a host implements an ability, and why in no better way.
type Offer struct {
	Ability Ability
	Way     Way
	Where   string // the directory in which the groups are created, if any
	Why     string // why no better way is possible; empty if there is none
}

func (o Offer) String() string {
	text := fmt.Sprintf("%s: %s", o.Ability, o.Way)
	if o.Where != "" {
		text += " at " + o.Where
	}
	if o.Why != "" {
		text += " (" + o.Why + ")"
	}
	return text
}

// Offers are the abilities of a host, in their order.
type Offers []Offer

// Of returns the way of a.
func (o Offers) Of(a Ability) Way {
	if a < 0 || int(a) >= len(o) {
		return None
	}
	return o[a].Way
}

// String has a line for each ability.
func (o Offers) String() string {
	lines := make([]string, len(o))
	for i, offer := range o {
		lines[i] = offer.String()
	}
	return strings.Join(lines, "\n")
}

// The kinds of errors. Every error of a [Host] or a [Group] is an [*Error], and errors.Is
// finds at most one of these in it.
var (
	// ErrNotOffered: the host does not support it. Host.Offers says why.
	ErrNotOffered = errors.New("this host does not support it")
	// ErrNoRights: the hierarchy exists, but this user cannot change it.
	ErrNoRights = errors.New("no right to change the control group")
	// ErrReadOnly: the hierarchy is mounted read-only.
	ErrReadOnly = errors.New("the hierarchy is read-only")
	// ErrVanished: the group or its controller existed and no longer does.
	ErrVanished = errors.New("the control group or its controller has gone")
	// ErrBusy: processes still exist, or more memory is in use than the new limit.
	ErrBusy = errors.New("the control group is in use")
	// ErrRefused: the kernel does not accept the value, for example more than
	// the group above may use.
	ErrRefused = errors.New("the kernel refuses the value")
	// ErrTaken: too few processors are unclaimed.
	ErrTaken = errors.New("not enough processors are free")
	// ErrExists: a group of that name exists.
	ErrExists = errors.New("a control group of that name exists")
	// ErrNotFound: no group of that name exists.
	ErrNotFound = errors.New("no control group of that name exists")
	// ErrInvalid: an argument is out of range.
	ErrInvalid = errors.New("invalid argument")
)

// Error describes a failed operation.
type Error struct {
	Op    string // such as "set share" or "freeze"
	Group string // its name; empty for the host
	Kind  error  // one of the errors above, or nil
	Err   error  // the system's error, or nil
}

func (e *Error) Error() string {
	at := e.Op
	if e.Group != "" {
		at += " of group " + e.Group
	}
	switch {
	case e.Kind == nil:
		return fmt.Sprintf("%s: %v", at, e.Err)
	case e.Err == nil:
		return fmt.Sprintf("%s: %v", at, e.Kind)
	}
	return fmt.Sprintf("%s: %v: %v", at, e.Kind, e.Err)
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	var all []error
	for _, err := range []error{e.Kind, e.Err} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

// kindOf classifies a system's error about an existing group.
func kindOf(err error) error {
	switch {
	case errors.Is(err, syscall.EROFS):
		return ErrReadOnly
	case errors.Is(err, fs.ErrPermission):
		return ErrNoRights
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENODEV):
		return ErrVanished
	case errors.Is(err, syscall.ESRCH):
		return os.ErrProcessDone
	case errors.Is(err, syscall.EBUSY), errors.Is(err, syscall.ENOTEMPTY):
		return ErrBusy
	case errors.Is(err, fs.ErrExist):
		return ErrExists
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ERANGE), errors.Is(err, syscall.ENOSPC):
		return ErrRefused
	}
	return nil
}

// is reports whether err is one of the system's errors.
func is(err, kind error) bool { return errors.Is(kindOf(err), kind) }

func failed(op, group string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Op: op, Group: group, Kind: kindOf(err), Err: err}
}

// kernel is the file system that controls groups. Tests replace it by one with other rules or
// with faults.
type kernel interface {
	read(path string) (string, error)
	write(path, text string) error
	mkdir(path string) error
	rmdir(path string) error
	dirs(path string) ([]string, error) // names of the directories in it
}

type files struct{}

// read and write are called for every task that is measured, and every share that changes: a
// file of package os would be registered with the poller for nothing.
func (files) read(path string) (string, error) {
	fd, err := again(func() (int, error) { return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return "", &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = syscall.Close(fd) }() // nothing was written
	text := make([]byte, 0, 512)
	for {
		n, err := again(func() (int, error) { return syscall.Read(fd, text[len(text):cap(text)]) })
		if err != nil {
			return "", &fs.PathError{Op: "read", Path: path, Err: err}
		}
		if n == 0 {
			return string(text), nil
		}
		if text = text[:len(text)+n]; len(text) == cap(text) {
			text = slices.Grow(text, len(text))
		}
	}
}

// write never creates a file: the kernel creates all of them, and a missing one is
// information. The text is written in one call, which the kernel takes as one value.
func (files) write(path, text string) error {
	fd, err := again(func() (int, error) { return syscall.Open(path, syscall.O_WRONLY|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	_, err = again(func() (int, error) { return syscall.Write(fd, []byte(text)) })
	if closing := syscall.Close(fd); err == nil {
		err = closing
	}
	if err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}

// again repeats calls that a signal has interrupted.
func again(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); err != syscall.EINTR { //nolint:errorlint // unwrapped
			return n, err
		}
	}
}

func (files) mkdir(path string) error { return os.Mkdir(path, 0o755) }

func (files) rmdir(path string) error {
	if err := syscall.Rmdir(path); err != nil {
		return &fs.PathError{Op: "rmdir", Path: path, Err: err}
	}
	return nil
}

func (files) dirs(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}
