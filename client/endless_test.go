package client

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// endless is a device that has always more; end is called at its first byte.
type endless struct{ end context.CancelCauseFunc }

var errInterrupted = errors.New("interrupted")

func (e endless) Read(b []byte) (int, error) {
	e.end(errInterrupted)
	return len(b), nil
}

func TestReadingAnEndlessFileEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	f := &file{name: "zero", open: func() (io.ReadCloser, error) { return io.NopCloser(endless{cancel}), nil }}
	if err := f.identify(ctx); !errors.Is(err, errInterrupted) {
		t.Errorf("identify: %v, want that it was interrupted", err)
	}
}

func TestAPipeIsRefusedAsAFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	_, err := fileAt(pipe).open() // a pipe without a writer
	if e := reasonError(t, "pipe", err, problem.BadValue); e.Accepted == "" || e.Hint == "" {
		t.Errorf("%+v", e)
	}
}
