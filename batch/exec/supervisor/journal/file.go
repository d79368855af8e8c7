package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec/process"
)

// largest bounds the bytes read of a file: a complete one has three lines.
const largest = 64 << 10

// Name returns the file of an attempt in the directory of its job.
func Name(epoch, attempt uint32) string {
	return strconv.FormatUint(uint64(epoch), 10) + "-" + strconv.FormatUint(uint64(attempt), 10)
}

// Claim creates the file of an attempt, and dir if that does not exist, unless the file
// exists, and returns its content. won means that the claim belongs to the claimer: any
// server's claim belongs to every server, but a supervisor owns only the claim with which it
// created the file, because it cannot decide about earlier claims. The answer is durable.
// After an error it is unknown whether the claim was made; the call may be repeated.
func Claim(dir, name string, claimer Claimer, at time.Time) (won bool, s State, err error) {
	made := false
	if s, err = Read(dir, name); err == nil && s.Claimer.Kind != "" {
		err = syncDir(dir) // a full disk does not hide who was first
	} else {
		made, err = create(dir, name, (&line{V: version, Claim: claimer.Kind, By: claimer.By, At: at}).encode())
	}
	if err != nil {
		return false, State{}, fmt.Errorf("claim attempt %s: %w", name, err)
	}
	s, err = Read(dir, name)
	if err == nil && s.Claimer.Kind == "" {
		err = &DamagedError{File: filepath.Join(dir, name), Line: 1, Err: fs.ErrNotExist}
	}
	if err != nil {
		return false, State{}, err
	}
	return made || claimer.Kind == Server && s.Claimer.Kind == Server, s, nil
}

// Read returns the content of an attempt's file. Without a file the attempt is unclaimed.
func Read(dir, name string) (State, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("attempt file: %w", err)
	}
	defer f.Close()
	s, _, err := readFile(f)
	return s, err
}

// AppendRun records the process of an attempt that this process has claimed.
func AppendRun(dir, name string, id process.ID, at time.Time) error {
	return appendLine(dir, name, &line{Pid: id.Pid, Start: id.Start, Boot: id.Boot, At: at})
}

// AppendEnd records the end of an attempt. It may be repeated after an error.
func AppendEnd(dir, name string, end End) error { return appendLine(dir, name, lineOf(end)) }

func readFile(f *os.File) (s State, whole int, err error) {
	text, err := io.ReadAll(io.LimitReader(f, largest+1))
	if err != nil {
		return State{}, 0, fmt.Errorf("attempt file: %w", err)
	}
	if len(text) > largest {
		return State{}, 0, &DamagedError{File: f.Name(), Line: 1, Err: fmt.Errorf("more than %d bytes", largest)}
	}
	return parse(f.Name(), text)
}

// create creates a file together with its content, atomically, and reports whether this call
// did.
func create(dir, name string, content []byte) (made bool, err error) {
	if err := makeDir(dir); err != nil {
		return false, err
	}
	f, err := os.CreateTemp(dir, ".claim-*")
	if err != nil {
		return false, err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Link(f.Name(), filepath.Join(dir, name))
		made = err == nil
	}
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	_ = os.Remove(f.Name()) // a leftover is removed with the directory
	if err != nil {
		return false, err
	}
	// A file of another process is made durable too: its creator may not have reached that
	// point.
	return made, syncDir(dir)
}

func makeDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// appendLine appends a line after the last complete one.
func appendLine(dir, name string, l *line) error {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("attempt file: %w", err)
	}
	if err := errors.Join(extend(f, l), f.Close()); err != nil {
		return fmt.Errorf("append to an attempt file: %w", err)
	}
	return nil
}

func extend(f *os.File, l *line) error {
	text := l.encode()
	s, whole, err := readFile(f)
	if err != nil {
		return err
	}
	// An incomplete line of an earlier writer would merge with this one.
	if err := f.Truncate(int64(whole)); err != nil {
		return err
	}
	if s.End.Kind != 0 && lineOf(s.End).equal(l) {
		return f.Sync() // an earlier call got this far
	}
	if err := s.add(text); err != nil {
		return fmt.Errorf("%.200q does not fit: %w", text, err)
	}
	_, err = f.WriteAt(text, int64(whole))
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return errors.Join(err, f.Truncate(int64(whole)))
	}
	return nil
}
