//go:build unix && !linux

package process

import (
	"errors"
	"syscall"
)

// Mark is the variable by which the processes of a program are known for its
// own after whoever started it is gone.
const Mark = "DROVER_ATTEMPT"

// Reaper is not supported here.
type Reaper struct{}

// NewReaper is not supported here.
func NewReaper() (*Reaper, error) { return nil, errors.ErrUnsupported }

// Bind is not supported here.
func (*Reaper) Bind() {}

// Signal is not supported here.
func (*Reaper) Signal(int, syscall.Signal) error { return errors.ErrUnsupported }

// Gated is not supported here.
type Gated struct{ Pid int }

// Start is not supported here.
func (*Reaper) Start([]string, Spec, func(Exit)) (*Gated, error) { return nil, errors.ErrUnsupported }

// Open is not supported here.
func (*Gated) Open() error { return errors.ErrUnsupported }

// Shut is not supported here.
func (*Gated) Shut() {}

// KillRest is not supported here.
func (ID) KillRest() bool { return false }

// KillMarked is not supported here.
func (ID) KillMarked(string) (bool, error) { return false, errors.ErrUnsupported }
