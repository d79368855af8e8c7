package server

import (
	"context"
	"errors"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/external"
)

// system is what the server needs of its batch system: an embedded one or an external one.
type system interface {
	batch.System
	// Now is the clock of all instants of the system, which the core lives on.
	Now() batch.Time
	// Estimate answers when shapes would start if they were submitted now, and how old
	// the state is from which it knows.
	Estimate(ctx context.Context, asks []batch.Ask) (ests []batch.Estimate, age batch.Duration, ok bool, err error)
	// Standing says when a waiting attempt would start, and end at the latest.
	Standing(ctx context.Context, key batch.Key) (start, end batch.Time, ok bool, err error)
	// Release ends the system and leaves what runs running; Close ends that too.
	Release(ctx context.Context) error
	Close(ctx context.Context) error
}

// closed says whether an error is that of a batch system that has ended.
func closed(err error) bool {
	return errors.Is(err, exec.ErrClosed) || errors.Is(err, external.ErrClosed)
}

// missed says whether a watch of the batch system cannot go on from its cursor.
func missed(err error) bool {
	var embedded *exec.CursorError
	var cursor *external.CursorError
	return errors.As(err, &embedded) || errors.As(err, &cursor)
}
