package store

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	bbolterrors "go.etcd.io/bbolt/errors"
)

var (
	// ErrNotFound says that there is no such record.
	ErrNotFound = errors.New("no such record")
	// ErrClosed says that the store has been closed.
	ErrClosed = errors.New("the store is closed")
)

// DamagedError is a file that is not what a store wrote.
type DamagedError struct {
	Path string
	Err  error // what is wrong with it
}

// Error says what to do.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("store %s is damaged (%v): put a backup in its place, or move it away to go on without what is in it",
		e.Path, e.Err)
}

// Unwrap returns what is wrong.
func (e *DamagedError) Unwrap() error { return e.Err }

// VersionError is a file with a newer schema than this program knows.
type VersionError struct {
	Path         string
	Found, Known int
}

// Error says what to do.
func (e *VersionError) Error() string {
	return fmt.Sprintf("store %s has schema version %d, this program knows versions up to %d: use the newer program that wrote it, or its backup from before the upgrade",
		e.Path, e.Found, e.Known)
}

// SiteError is the file of another site.
type SiteError struct{ Path, Found, Want string }

// Error names both sites.
func (e *SiteError) Error() string {
	return fmt.Sprintf("store %s belongs to site %q, not to %q", e.Path, e.Found, e.Want)
}

// LockedError is a file that another store, most likely another process, has open.
type LockedError struct{ Path string }

// Error says what to do.
func (e *LockedError) Error() string {
	return fmt.Sprintf("store %s is in use: a server for this site is running already", e.Path)
}

// FullError is a change that found no room. Nothing of it is there.
type FullError struct {
	Path string
	Err  error // errors.Is finds ENOSPC, EDQUOT, EFBIG or ENOMEM in it where the system said so
}

// Error says what to do.
func (e *FullError) Error() string {
	return fmt.Sprintf("no room for store %s: %v", e.Path, e.Err)
}

// Unwrap returns what the system said.
func (e *FullError) Unwrap() error { return e.Err }

// BrokenError is a store that can no longer say what is on disk, because the
// last step of a commit failed or reading the file did. Every call returns it
// until the file is opened anew.
type BrokenError struct {
	Path string
	Err  error
}

// Error says what to do.
func (e *BrokenError) Error() string {
	return fmt.Sprintf("store %s has to be opened anew: %v", e.Path, e.Err)
}

// Unwrap returns what happened.
func (e *BrokenError) Unwrap() error { return e.Err }

// LimitError is an ID, a key or a record that a batch cannot hold.
type LimitError struct {
	What       string
	Got, Limit int // bytes
}

// Error names the limit.
func (e *LimitError) Error() string {
	if e.Got == 0 {
		return fmt.Sprintf("%s is empty", e.What)
	}
	return fmt.Sprintf("%s has %d bytes, the limit is %d", e.What, e.Got, e.Limit)
}

// noRoom are the system's words for a lack of space. EFBIG is the limit of the
// process or the file system on one file, ENOMEM that of the mapping.
var noRoom = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.ENOMEM}

// asRoom returns a FullError if err is for want of space, else err.
func asRoom(path string, err error) error {
	if errors.Is(err, io.ErrShortWrite) || errors.Is(err, bbolterrors.ErrMaxSizeReached) {
		return &FullError{Path: path, Err: err}
	}
	for _, errno := range noRoom {
		if errors.Is(err, errno) {
			return &FullError{Path: path, Err: err}
		}
		// bbolt wraps what comes from growing the file and its mapping as text.
		if strings.HasSuffix(err.Error(), ": "+errno.Error()) {
			return &FullError{Path: path, Err: &grown{text: err.Error(), errno: errno}}
		}
	}
	return err
}

// asDamaged says that the file is at fault.
func asDamaged(path string, err error) error {
	var damaged *DamagedError
	if errors.As(err, &damaged) {
		return err
	}
	return &DamagedError{Path: path, Err: err}
}

// grown gives an error that bbolt has made text of its number back.
type grown struct {
	text  string
	errno syscall.Errno
}

func (e *grown) Error() string { return e.text }
func (e *grown) Unwrap() error { return e.errno }
