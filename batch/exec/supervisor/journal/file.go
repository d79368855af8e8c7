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

// largest bounds what is read of a file, in bytes: a whole one has three lines.
const largest = 64 << 10

// Name returns the file of an attempt in the directory of its job.
func Name(epoch, attempt uint32) string {
	return strconv.FormatUint(uint64(epoch), 10) + "-" + strconv.FormatUint(uint64(attempt), 10)
}

// Claim makes the file of an attempt, with dir if that is not there, unless
// somebody has made it already, and returns what it says then. Won says that the
// attempt is the claimer's: a server's for every server's claim, a supervisor's
// only for the claim that made the file, as what became of a claim before is not
// its to decide. The answer is durable. After an error nobody knows whether the
// claim was made; it may be repeated.
func Claim(dir, name string, who Claimer, at time.Time) (won bool, s State, err error) {
	made := false
	if s, err = Read(dir, name); err == nil && s.Claimer.Kind != "" {
		err = syncDir(dir) // a full disk does not hide who was first
	} else {
		made, err = create(dir, name, (&line{V: version, Claim: who.Kind, By: who.By, At: at}).encode())
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
	return made || who.Kind == Server && s.Claimer.Kind == Server, s, nil
}

// Read returns what the file of an attempt says. When there is none nobody has
// claimed it.
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

// AppendRun writes down the process of an attempt that this process has claimed.
func AppendRun(dir, name string, id process.ID, at time.Time) error {
	return appendLine(dir, name, &line{Pid: id.Pid, Start: id.Start, Boot: id.Boot, At: at})
}

// AppendEnd writes down the end of an attempt. It may be repeated after an
// error.
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

// create makes a file that has its content from its first instant, and reports
// whether it was this call that did.
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
	_ = os.Remove(f.Name()) // one left behind goes with the directory
	if err != nil {
		return false, err
	}
	// Somebody else's file is made durable too: its maker may not be there yet.
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

// appendLine puts a line behind the last whole one.
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
	// What an earlier writer left of a line would join with ours.
	if err := f.Truncate(int64(whole)); err != nil {
		return err
	}
	if s.End.Kind != 0 && lineOf(s.End).equal(l) {
		return f.Sync() // an earlier try got as far as this
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
