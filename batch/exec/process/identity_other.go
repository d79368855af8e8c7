//go:build unix && !linux

package process

import (
	"context"
	"errors"
	"time"
)

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
