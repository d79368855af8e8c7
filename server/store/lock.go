//go:build unix

package store

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock takes the lock that bbolt takes too, and at once: the file is looked at
// before bbolt opens it, and nobody may write meanwhile. The lock belongs to the
// opened file, which bbolt is then given, and goes when that is closed.
func lock(file *os.File, path string) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return &LockedError{Path: path}
	case err != nil:
		return fmt.Errorf("locking store %s: %w", path, err)
	}
	return nil
}

// release gives a file and its lock back, also if bbolt has closed it already.
// Closing it would not be enough: as long as it is mapped it stays locked.
func release(file *os.File) error {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_UN); err != nil && !errors.Is(err, syscall.EBADF) {
		return errors.Join(fmt.Errorf("unlocking %s: %w", file.Name(), err), file.Close())
	}
	if err := file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
