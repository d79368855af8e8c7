package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"

	bbolterrors "go.etcd.io/bbolt/errors"
)

func TestErrorsForLackOfSpaceAreFullErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		full bool
	}{
		"no space":      {&os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, true},
		"a quota":       {&os.PathError{Op: "write", Path: "x", Err: syscall.EDQUOT}, true},
		"a short write": {fmt.Errorf("write: %w", io.ErrShortWrite), true},
		"the largest file, as text": {asText("file resize error", &os.PathError{
			Op: "truncate", Path: "x",
			Err: syscall.EFBIG,
		}), true},
		"no space to sync, as text":    {asText("file sync error", syscall.ENOSPC), true},
		"the mapping, as text":         {asText("mmap allocate error", syscall.ENOMEM), true},
		"the largest file by bbolt":    {bbolterrors.ErrMaxSizeReached, true},
		"a broken disk":                {&os.PathError{Op: "write", Path: "x", Err: syscall.EIO}, false},
		"a text with the same words":   {errors.New("no space left on device x"), false},
		"an unknown error":             {errors.New("something"), false},
		"a transaction without a file": {bbolterrors.ErrDatabaseNotOpen, false},
	} {
		t.Run(name, func(t *testing.T) {
			var full *FullError
			if got := errors.As(asRoom("x", tc.err), &full); got != tc.full {
				t.Errorf("full: %v", got)
			}
		})
	}
}

func TestTextErrorsGetTheirErrorNumberBack(t *testing.T) {
	err := asRoom("x", asText("file resize error", syscall.EFBIG))
	if !errors.Is(err, syscall.EFBIG) {
		t.Errorf("%v is not EFBIG", err)
	}
}

// asText converts an error to text, as bbolt does.
func asText(doing string, err error) error { return errors.New(doing + ": " + err.Error()) }
