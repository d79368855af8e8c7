package rows

import (
	"errors"
	"fmt"
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
	return fmt.Sprintf("folder %s: another process writes rows there, accepted: another folder, or wait until it has ended", e.Dir)
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

// Path returns where the folder is.
func (d *Dir) Path() string { return d.path }

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
