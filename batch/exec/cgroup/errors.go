package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

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
