package solo

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// stopSuffix is that of the file that asks an attempt to stop, beside its own.
const stopSuffix = ".stop"

const (
	stopInterval = 5 * time.Second  // between two looks for the file
	grace        = 10 * time.Second // from SIGTERM to SIGKILL
)

// Stop asks the attempt of a file to stop, on whichever node it runs. It does not need
// the batch system to reach that node. Repeated calls change nothing.
func Stop(path string) error {
	f, err := os.OpenFile(path+stopSuffix, os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err != nil {
		return fmt.Errorf("stop an attempt: %w", err)
	}
	return nil
}

// awaitStop closes asked when the attempt should stop. It has its own goroutine, so that
// a file system that hangs does not delay signals.
func awaitStop(path string, every time.Duration, asked chan<- struct{}, over <-chan struct{}) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-over:
			return
		}
		// NFS can answer a stat from its cache, but not an open.
		if f, err := os.Open(path + stopSuffix); err == nil {
			_ = f.Close() // nothing was written
			close(asked)
			return
		}
	}
}
