package server

import (
	"context"
	"errors"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/external"
)

// system is what the server needs of its batch system: an embedded or an external one.
type system interface {
	batch.System
	// Now returns the time of the system's clock, which the core uses.
	Now() batch.Time
	// Estimate returns when jobs of given shapes would start if they were submitted now, and the
	// age of the state it is based on.
	Estimate(ctx context.Context, asks []batch.Ask) (ests []batch.Estimate, age batch.Duration, ok bool, err error)
	// Standing returns when a waiting attempt would start, and its latest end.
	Standing(ctx context.Context, key batch.Key) (start, end batch.Time, ok bool, err error)
	// Release ends the system but leaves jobs running; Close ends the jobs, too.
	Release(ctx context.Context) error
	Close(ctx context.Context) error
}

// closed reports whether an error means that the batch system is closed.
func closed(err error) bool {
	return errors.Is(err, exec.ErrClosed) || errors.Is(err, external.ErrClosed)
}

// missed reports whether a watch lost events and cannot continue from its cursor.
func missed(err error) bool {
	var embedded *exec.CursorError
	var cursor *external.CursorError
	return errors.As(err, &embedded) || errors.As(err, &cursor)
}
