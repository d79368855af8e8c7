package services

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WriteOutput creates or replaces the file at path with the output of write. The file
// appears only when it is complete: a service that is killed or cancelled leaves no partial
// result.
func WriteOutput(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("create output: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()

	buffered := bufio.NewWriter(f)
	if err := errors.Join(write(buffered), buffered.Flush(), f.Chmod(0o644), f.Close()); err != nil {
		return fmt.Errorf("write output %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("put output in place: %w", err)
	}
	return nil
}

// ArgumentError reports that one argument of a service was refused.
type ArgumentError struct {
	Argument string // name of the Config field, in lower case
	Got      string // the given value
	Accepted string // the accepted range
}

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("%s: got %s, accepted: %s", e.Argument, e.Got, e.Accepted)
}

// CheckRange returns an *ArgumentError unless low <= got <= high. It refuses NaN.
func CheckRange[T int | float64](argument string, got, low, high T) error {
	if got >= low && got <= high {
		return nil
	}
	return &ArgumentError{
		Argument: argument,
		Got:      fmt.Sprint(got),
		Accepted: fmt.Sprintf("%v to %v", low, high),
	}
}

// CheckPath returns an *ArgumentError if a required file name is empty.
func CheckPath(argument, path string) error {
	if path != "" {
		return nil
	}
	return &ArgumentError{Argument: argument, Got: `""`, Accepted: "the name of a file"}
}
