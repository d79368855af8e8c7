//go:build unix

package store

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock takes the same lock as bbolt, without waiting. The file is checked before bbolt
// opens it, and no other process can write meanwhile. The lock belongs to the open file,
// which bbolt then uses, and ends when the file is closed.
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

// release unlocks and closes a file, even if bbolt has closed it already. Closing alone
// is not enough: a file stays locked while it is mapped.
func release(file *os.File) error {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_UN); err != nil && !errors.Is(err, syscall.EBADF) {
		return errors.Join(fmt.Errorf("unlocking %s: %w", file.Name(), err), file.Close())
	}
	if err := file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
