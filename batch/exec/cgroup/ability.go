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

// Ability is one thing that a host may be able to do to a group.
type Ability int

// The abilities.
const (
	Shares     Ability = iota // hold the group to a share of the processors
	Processors                // say on which processors it runs
	Memory                    // hold it to an amount of memory
	Pausing                   // stop all of it and let it go on
	Killing                   // end all of it
	Measuring                 // processor time used
	abilities
)

func (a Ability) String() string {
	names := [...]string{"shares", "processors", "memory", "pausing", "killing", "measuring"}
	if a < 0 || int(a) >= len(names) {
		return fmt.Sprintf("ability %d", int(a))
	}
	return names[a]
}

// Way is how something is done.
type Way int

// The ways, best last.
const (
	None    Way = iota // not at all
	Signals            // to process groups; shares by duty cycles
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

// Offer says how a host does something, and why in no better way.
type Offer struct {
	Ability Ability
	Way     Way
	Where   string // the directory in which the groups are made, if any
	Why     string // why no better way would do; empty if there is none
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

// Offers is what a host offers, in the order of the abilities.
type Offers []Offer

// Of returns the way in which a is done.
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

// What can be wrong with an operation. Every error of a [Host] or a [Group] is
// an [*Error], and errors.Is finds at most one of these in it.
var (
	// ErrNotOffered: the host has no way to do that. Host.Offers says why.
	ErrNotOffered = errors.New("this host does not offer it")
	// ErrNoRights: the hierarchy is there, this user may not change it.
	ErrNoRights = errors.New("no right to change the control group")
	// ErrReadOnly: the hierarchy is mounted read-only.
	ErrReadOnly = errors.New("the hierarchy is read-only")
	// ErrVanished: the group or its controller was there and is not any more.
	ErrVanished = errors.New("the control group or its controller has gone")
	// ErrBusy: processes are still there, or more memory is in use than is to
	// be the limit.
	ErrBusy = errors.New("the control group is in use")
	// ErrRefused: the kernel does not accept the value, for example more than
	// the group above may use.
	ErrRefused = errors.New("the kernel refuses the value")
	// ErrTaken: there are not as many processors that nobody else has claimed.
	ErrTaken = errors.New("not enough processors are free")
	// ErrExists: there is a group of that name.
	ErrExists = errors.New("there is a control group of that name")
	// ErrNotFound: there is no group of that name.
	ErrNotFound = errors.New("there is no control group of that name")
	// ErrInvalid: the caller's argument makes no sense.
	ErrInvalid = errors.New("invalid argument")
)

// Error says what was being done to which group.
type Error struct {
	Op    string // "set share", "freeze"...
	Group string // its name; empty for the host
	Kind  error  // one of the errors above, or nil
	Err   error  // what the system said, or nil
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

// kindOf reads what the system said about a group that was there.
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

// is reports whether that is what the system said.
func is(err, kind error) bool { return errors.Is(kindOf(err), kind) }

func failed(op, group string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Op: op, Group: group, Kind: kindOf(err), Err: err}
}

// kernel is the file system through which control groups are ruled. Tests put
// another one in its place, with other rules or in a worse mood.
type kernel interface {
	read(path string) (string, error)
	write(path, text string) error
	mkdir(path string) error
	rmdir(path string) error
	dirs(path string) ([]string, error) // names of the directories in it
}

type files struct{}

// read and write are called for every task that is measured, and every share that
// changes: a file of package os would be polled, for nothing.
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

// write never makes a file: the kernel makes them all, and one that is missing
// is news. The text goes in one call, which is one value to the kernel.
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

// again calls what a signal has interrupted once more.
func again(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); err != syscall.EINTR { //nolint:errorlint // as the kernel gave it
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
