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
	// blockBytes is small enough to stay in a core's cache with the other blocks, and large
	// enough to make the cost of the handover negligible.
	blockBytes = 128 << 10
	blockCount = 4
	// slack is how far the parser can read beyond the end of a block.
	slack = 8
	// inputBytes is the size of reads from the file.
	inputBytes = 64 << 10
)

var errLineTooLong = errors.New("line too long")

// block is a run of whole lines, each ended by a newline.
type block struct {
	text []byte // with at least slack bytes of capacity behind it
	err  error  // the end: io.EOF, errLineTooLong, or a failed read
}

// splitter cuts a stream into blocks in its own goroutine.
type splitter struct {
	full chan block
	free chan []byte
	stop chan struct{} // closed by the receiver to stop the splitter
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
		s.free <- nil // allocated at first use: a small log needs only one
	}
	go s.run(r)
	return s
}

// close ends the goroutine and waits for it; the reader is not used afterwards.
func (s *splitter) close() {
	close(s.stop)
	<-s.done
}

func (s *splitter) run(r io.Reader) {
	defer close(s.done)
	text, err := open(r)
	var rest []byte // the beginning of a line that continues in the next block
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
		// Only this goroutine writes to a block, and it copies rest to the start of the next
		// one, so rest can stay in this block until then.
		rest = buf[end:n]
		if err == nil && len(rest) > MaxLineBytes {
			err = errLineTooLong
		}
		s.full <- block{text: buf[:end], err: err} // has capacity for every block
		if err != nil {
			return
		}
	}
}

// fill reads into buf from n on until it is full or the stream ends. It returns the end of the
// bytes and the end of the last complete line.
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

// open checks the first bytes and decompresses gzip.
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

// TracesEnv is the environment variable with the directory of workloads.
const TracesEnv = "DROVER_TRACES"

// TraceNotFoundError lists where [FindTrace] looked. It is an [fs.ErrNotExist].
type TraceNotFoundError struct {
	Name   string
	Looked []string // missing files
}

// Error also names the source of the files.
func (e *TraceNotFoundError) Error() string {
	return fmt.Sprintf("swf: no trace %s: looked for %s; real logs come from the Parallel Workloads Archive, "+
		"https://www.cs.huji.ac.il/labs/parallel/workload/logs.html: put them in a directory and name it in %s",
		e.Name, strings.Join(e.Looked, ", "), TracesEnv)
}

// Is makes errors.Is(err, fs.ErrNotExist) true.
func (e *TraceNotFoundError) Is(target error) bool { return target == fs.ErrNotExist }

// FindTrace returns the path of a workload by its file name, such as "KTH-SP2-1996-2.swf.gz".
// It looks in the directory of DROVER_TRACES, then in ../shared/traces beside the working
// directory and beside each of its parents up to the one with a go.mod. If it finds none, the
// error is a [*TraceNotFoundError].
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
