package main

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

// outlet is stdout, and remembers that something could not be written there: a disk is
// full, or nobody reads any more. What a command has done is done; but whoever called it
// has to know that he was not told all of it.
type outlet struct {
	to  io.Writer
	mu  sync.Mutex
	err error // the first; guarded by mu
}

func (o *outlet) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = err
		}
	}
	return n, err
}

// failed returns what went wrong, nil for nothing.
func (o *outlet) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		return nil
	}
	return &outputError{o.err}
}

// outputError says that what was to be told is not told.
type outputError struct{ err error }

func (e *outputError) Error() string {
	return fmt.Sprintf("stdout cannot be written, so what is there is not all: %v", e.err)
}

func (e *outputError) Unwrap() error { return e.err }

// toldAll returns the error of a command, or that not all of what it says was told. Its
// own error goes first, unless it is that, or is told and says no more than that one of
// many has failed.
func (o *outlet) toldAll(err error) error {
	failed := o.failed()
	if failed == nil || err != nil && !errors.Is(err, errors.Unwrap(failed)) && !errors.Is(err, exitError(exitFailure)) {
		return err
	}
	return failed
}
