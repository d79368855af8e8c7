package rows

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// Dir is a folder that one process has for itself.
type Dir struct {
	path  string
	lock  *os.File // the folder itself, locked while it is open
	lines []*Lines

	closing []func() error // before the files are closed
}

// LockedError is a folder in which another process is at work.
type LockedError struct{ Dir string }

// Error says what to do.
func (e *LockedError) Error() string {
	return fmt.Sprintf("folder %s: another process writes rows there, accepted: another folder, or wait until it has "+
		"ended", e.Dir)
}

// Open opens a folder, and makes it if it is not there. The error may be a *LockedError.
func Open(path string) (*Dir, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	lock, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		err = &LockedError{path}
	case err != nil:
		err = fmt.Errorf("locking %s: %w", path, err)
	default:
		return &Dir{path: path, lock: lock}, nil
	}
	return nil, errors.Join(err, lock.Close())
}

// Read returns what a file says. The error may be fs.ErrNotExist.
func (d *Dir) Read(name string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(d.path, name))
	if err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	return text, nil
}

// Replace writes a file that is there whole or not at all.
func (d *Dir) Replace(name string, text []byte) error {
	path := filepath.Join(d.path, name)
	if err := os.WriteFile(path+".new", text, 0o644); err != nil {
		return fmt.Errorf("rows: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("rows: %w", err)
	}
	return nil
}

// Close puts the rows of tables in order, closes the files and unlocks the folder.
func (d *Dir) Close() error {
	var errs []error
	for _, f := range d.closing {
		errs = append(errs, f())
	}
	for _, l := range d.lines {
		errs = append(errs, l.file.Close())
	}
	return errors.Join(append(errs, d.lock.Close())...)
}

// Lines is a file to which lines are added.
type Lines struct{ file *os.File }

// Lines opens a file of lines, and makes it if it is not there. It returns the lines
// that it has; a last one that was torn is cut off once keep has taken the others: what
// it refuses is left as it is.
func (d *Dir) Lines(name string, keep func(text []byte) error) (*Lines, error) {
	path := filepath.Join(d.path, name)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	l := &Lines{file}
	d.lines = append(d.lines, l)
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	if err := keep(whole); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := file.Truncate(int64(len(whole))); err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	if _, err := file.Seek(0, io.SeekEnd); err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	return l, nil
}

// Add adds whole lines.
func (l *Lines) Add(text []byte) error {
	if _, err := l.file.Write(text); err != nil {
		return fmt.Errorf("rows: %w", err)
	}
	return nil
}
