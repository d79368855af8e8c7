package swf

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
)

const (
	// blockBytes is a compromise: small enough to stay in a core's cache with
	// the other blocks, large enough that handing over costs nothing.
	blockBytes = 128 << 10
	blockCount = 4
	// slack is how far the parser may load beyond the end of a block.
	slack = 8
	// inputBytes are read from the file at once.
	inputBytes = 64 << 10
)

var errLineTooLong = errors.New("line too long")

// block is a run of whole lines, each ended by a newline.
type block struct {
	text []byte // with at least slack bytes of capacity behind it
	err  error  // nothing follows: io.EOF, errLineTooLong, or a failure to read
}

// splitter cuts a stream into blocks, in a goroutine of its own.
type splitter struct {
	full chan block
	free chan []byte
	stop chan struct{} // closed by the receiver when it wants no more
	done chan struct{} // closed when r is no longer used
}

func split(r io.Reader) *splitter {
	s := &splitter{
		full: make(chan block, blockCount),
		free: make(chan []byte, blockCount),
		stop: make(chan struct{}),
		done: make(chan struct{}),
	}
	for range blockCount {
		s.free <- nil // allocated when first used: a small log needs only one
	}
	go s.run(r)
	return s
}

// close ends the goroutine and waits for it, so that the reader is its owner's
// again.
func (s *splitter) close() {
	close(s.stop)
	<-s.done
}

func (s *splitter) run(r io.Reader) {
	defer close(s.done)
	text, err := open(r)
	var rest []byte // of a line whose end has not been read
	for {
		var buf []byte
		select {
		case <-s.stop:
			return
		case buf = <-s.free:
		}
		if buf == nil {
			buf = make([]byte, blockBytes+1+slack)
		}
		n := copy(buf, rest)
		end := 0
		if err == nil {
			n, end, err = fill(text, buf, n)
		}
		if errors.Is(err, io.EOF) && end < n { // the last line has no newline
			buf[n] = '\n'
			n++
			end = n
		}
		// Only this goroutine writes to a block, and the next one is filled from its
		// start with this, so it may stay where it is until then.
		rest = buf[end:n]
		if err == nil && len(rest) > MaxLineBytes {
			err = errLineTooLong
		}
		s.full <- block{text: buf[:end], err: err} // has room for every block there is
		if err != nil {
			return
		}
	}
}

// fill reads into buf from n on until it is full or the stream ends. It
// returns where the bytes and where the last whole line end.
func fill(r io.Reader, buf []byte, n int) (filled, end int, err error) {
	for empty := 0; n < blockBytes && err == nil; {
		var m int
		m, err = r.Read(buf[n:blockBytes])
		n += m
		if m > 0 {
			empty = 0
		} else if empty++; err == nil && empty == 100 {
			err = io.ErrNoProgress
		}
	}
	return n, bytes.LastIndexByte(buf[:n], '\n') + 1, err
}

// open looks at the first bytes and inflates if they are gzip's.
func open(r io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(r, inputBytes)
	magic, err := in.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(magic) < 2 || magic[0] != 0x1f || magic[1] != 0x8b {
		return in, nil
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("gzip header: %w", err)
	}
	return z, nil
}

// TracesEnv names the environment variable that holds the directory of
// workloads.
const TracesEnv = "DROVER_TRACES"

// TraceNotFoundError says where [FindTrace] looked. It is an [fs.ErrNotExist].
type TraceNotFoundError struct {
	Name   string
	Looked []string // the files that are not there
}

// Error ends with where to get the files.
func (e *TraceNotFoundError) Error() string {
	return fmt.Sprintf("swf: no trace %s: looked for %s; real logs come from the Parallel Workloads Archive, "+
		"https://www.cs.huji.ac.il/labs/parallel/workload/logs.html: put them in a directory and name it in %s",
		e.Name, strings.Join(e.Looked, ", "), TracesEnv)
}

// Is makes errors.Is(err, fs.ErrNotExist) true.
func (e *TraceNotFoundError) Is(target error) bool { return target == fs.ErrNotExist }

// FindTrace returns the path of a workload by its file name, such as
// "KTH-SP2-1996-2.swf.gz". It looks in the directory that DROVER_TRACES names,
// then in ../shared/traces beside the working directory and beside each of its
// parents up to the one with a go.mod. The error is a [*TraceNotFoundError]
// when it is in none of them.
func FindTrace(name string) (path string, err error) {
	if name == "." || name == ".." || filepath.Base(name) != name {
		return "", fmt.Errorf("swf: find workload %q: accepted: a file name without a directory", name)
	}
	dirs, err := traceDirs()
	if err != nil {
		return "", fmt.Errorf("swf: find workload %s: %w", name, err)
	}
	missing := &TraceNotFoundError{Name: name}
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		_, err := os.Stat(path)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("swf: find workload: %w", err)
		}
		missing.Looked = append(missing.Looked, path)
	}
	return "", missing
}

func traceDirs() ([]string, error) {
	var dirs []string
	if dir := os.Getenv(TracesEnv); dir != "" {
		dirs = append(dirs, dir)
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	}
	for {
		parent := filepath.Dir(dir)
		dirs = append(dirs, filepath.Join(parent, "shared", "traces"))
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil || parent == filepath.Dir(parent) {
			return dirs, nil
		}
		dir = parent
	}
}
