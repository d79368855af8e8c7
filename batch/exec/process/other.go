//go:build unix && !linux

package process

import (
	"context"
	"errors"
	"io"
	osexec "os/exec"
	"syscall"
	"time"
)

// awaitLeader also reaps the leader: there is no portable way to wait without that. The group
// is then killed by a number that is free, but which the system reuses only after all others.
func awaitLeader(cmd *osexec.Cmd) { _ = cmd.Wait() }

func leaderEnded(int) bool { return false }

func onlyDead(int) bool { return false }

// Guard is not supported here.
type Guard struct{}

// StartGuard is not supported here.
func StartGuard([]string) (*Guard, error) { return nil, errors.ErrUnsupported }

// Add is not supported here.
func (*Guard) Add([]string) error { return errors.ErrUnsupported }

// Drop is not supported here.
func (*Guard) Drop([]string) {}

func guard(io.Reader) {}

// Identify is not supported here.
func Identify(int) (ID, error) { return ID{}, errors.ErrUnsupported }

// Rebooted is not supported here.
func (id ID) Rebooted() (bool, error) { return false, errors.ErrUnsupported }

// Age is not supported here.
func (id ID) Age() (time.Duration, error) { return 0, errors.ErrUnsupported }

// Alive is not supported here.
func (id ID) Alive() (bool, error) { return false, errors.ErrUnsupported }

// Await is not supported here.
func (id ID) Await(context.Context) error { return errors.ErrUnsupported }

// Mark is the environment variable that identifies the processes of a program after its
// starter is gone.
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

// KillAllMarked is not supported here.
func KillAllMarked(string) (bool, error) { return false, errors.ErrUnsupported }

// KillRest is not supported here.
func (ID) KillRest() bool { return false }

// KillMarked is not supported here.
func (ID) KillMarked(string) (bool, error) { return false, errors.ErrUnsupported }
