package swf

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Read reads a whole workload, plain or gzipped (it looks at the first bytes).
// It wants nothing of r after it returns, and does not close it. An error is a
// [*ParseError], or wraps what r or gzip said. Of an input with several
// mistakes it names the first.
func Read(r io.Reader) (*Trace, error) {
	return read(r, "", MaxJobs)
}

// ReadFile is [Read] for a file. Errors name its path.
func ReadFile(path string) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("swf: %w", err)
	}
	defer f.Close()
	return read(f, path, MaxJobs)
}

func read(r io.Reader, path string, maxJobs int) (*Trace, error) {
	s := split(r)
	defer s.close()
	p := parser{maxJobs: maxJobs}
	for {
		b := <-s.full
		err := p.block(b.text)
		if err == nil && errors.Is(b.err, errLineTooLong) {
			p.line++
			err = p.tooLong()
		}
		var wrong *ParseError
		switch {
		case errors.As(err, &wrong):
			wrong.Path = path
			return nil, wrong
		case errors.Is(b.err, io.EOF):
			return p.trace(), nil
		case b.err != nil && path != "":
			return nil, fmt.Errorf("swf: read %s: %w", path, b.err)
		case b.err != nil:
			return nil, fmt.Errorf("swf: read: %w", b.err)
		}
		s.free <- b.text[:cap(b.text)]
	}
}
