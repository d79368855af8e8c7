package cmdline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// Output is stdout. It remembers the first failed write (a full disk, a closed pipe), so
// that a command that did its work but printed only a part of it does not exit with 0.
type Output struct {
	To  io.Writer
	mu  sync.Mutex
	err error // of the first failed write; guarded by mu
}

// Write is io.Writer's.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.To.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = err
		}
	}
	return n, err
}

// Columns returns the width of the terminal that stdout is, 0 if it is none.
func (o *Output) Columns() int {
	f, ok := o.To.(*os.File)
	if !ok {
		return 0
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

// Failed returns an *OutputError if a write failed, nil otherwise.
func (o *Output) Failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		return nil
	}
	return &OutputError{o.err}
}

// Check returns the error of a command, or an *OutputError if its output is incomplete.
// The command's error comes first, unless it is the write error itself or only says that
// one of many requests failed.
func (o *Output) Check(err error) error {
	failed := o.Failed()
	if failed == nil || err != nil && !errors.Is(err, errors.Unwrap(failed)) && !errors.Is(err,
		ExitError(ExitFailure)) {
		return err
	}
	return failed
}

// OutputError reports that stdout is incomplete.
type OutputError struct{ err error }

func (e *OutputError) Error() string {
	return fmt.Sprintf("stdout cannot be written, so the output is incomplete: %v", e.err)
}

// Unwrap returns the error of the write.
func (e *OutputError) Unwrap() error { return e.err }

// WriteJSON writes v as indented JSON.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
