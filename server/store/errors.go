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
	// ErrNotFound reports that a record does not exist.
	ErrNotFound = errors.New("no such record")
	// ErrClosed reports that the store is closed.
	ErrClosed = errors.New("the store is closed")
)

// DamagedError reports a file with content that a store did not write.
type DamagedError struct {
	Path string
	Err  error // the damage
}

// Error names the damage and the remedies.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("store %s is damaged (%v): restore a backup, or move the file away to start without its records",
		e.Path, e.Err)
}

// Unwrap returns the damage.
func (e *DamagedError) Unwrap() error { return e.Err }

// VersionError reports a file with a newer schema than this program supports.
type VersionError struct {
	Path         string
	Found, Known int
}

// Error names the versions and the remedies.
func (e *VersionError) Error() string {
	return fmt.Sprintf("store %s has schema version %d, this program supports versions up to %d: "+
		"use the newer program that wrote it, or the backup from before the upgrade", e.Path, e.Found, e.Known)
}

// SiteError reports a file that belongs to another site.
type SiteError struct{ Path, Found, Want string }

// Error names both sites.
func (e *SiteError) Error() string {
	return fmt.Sprintf("store %s belongs to site %q, not to %q", e.Path, e.Found, e.Want)
}

// LockedError reports a file that another store, usually in another process, has open.
type LockedError struct{ Path string }

// Error names the likely cause.
func (e *LockedError) Error() string {
	return fmt.Sprintf("store %s is in use: a server for this site is running already", e.Path)
}

// FullError reports a commit without enough disk space. No part of it is stored.
type FullError struct {
	Path string
	Err  error // wraps ENOSPC, EDQUOT, EFBIG or ENOMEM if the system returned one
}

// Error names the cause.
func (e *FullError) Error() string {
	return fmt.Sprintf("no space for store %s: %v", e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *FullError) Unwrap() error { return e.Err }

// BrokenError reports that the content on disk is unknown, because the last step of a
// commit or a read of the file failed. Every call returns it until the file is reopened.
type BrokenError struct {
	Path string
	Err  error
}

// Error names the cause and the remedy.
func (e *BrokenError) Error() string {
	return fmt.Sprintf("store %s must be reopened: %v", e.Path, e.Err)
}

// Unwrap returns the failure.
func (e *BrokenError) Unwrap() error { return e.Err }

// LimitError reports an ID, a key or a record that is empty or too large for a batch.
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

// noRoom holds the system's errors for a lack of space. EFBIG is the limit of the process
// or the file system on one file, ENOMEM that of the mapping.
var noRoom = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.ENOMEM}

// asRoom returns a FullError if err reports a lack of space, else err.
func asRoom(path string, err error) error {
	if errors.Is(err, io.ErrShortWrite) || errors.Is(err, bbolterrors.ErrMaxSizeReached) {
		return &FullError{Path: path, Err: err}
	}
	for _, errno := range noRoom {
		if errors.Is(err, errno) {
			return &FullError{Path: path, Err: err}
		}
		// bbolt converts errors of growing the file and its mapping to text.
		if strings.HasSuffix(err.Error(), ": "+errno.Error()) {
			return &FullError{Path: path, Err: &grown{text: err.Error(), errno: errno}}
		}
	}
	return err
}

// asDamaged returns err as a DamagedError.
func asDamaged(path string, err error) error {
	var damaged *DamagedError
	if errors.As(err, &damaged) {
		return err
	}
	return &DamagedError{Path: path, Err: err}
}

// grown is an error that bbolt converted to text, with its error number restored.
type grown struct {
	text  string
	errno syscall.Errno
}

func (e *grown) Error() string { return e.text }
func (e *grown) Unwrap() error { return e.errno }
