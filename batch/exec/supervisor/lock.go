package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrBusy is returned when another supervisor has the data directory.
var ErrBusy = errors.New("another supervisor has this data directory")

// lockPause is between two tries to get the lock of one that is dying.
const lockPause = 10 * time.Millisecond

// lock takes the data directory, at most for patience. The file is to be closed
// to let go of it.
func lock(ctx context.Context, dir string, patience time.Duration) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	for deadline := time.Now().Add(patience); ; {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		if err = ErrBusy; time.Now().After(deadline) || ctx.Err() != nil {
			break
		}
		time.Sleep(lockPause)
	}
	return nil, errors.Join(fmt.Errorf("lock the data directory: %w", err), f.Close())
}
