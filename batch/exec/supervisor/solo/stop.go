package solo

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// asking is the suffix of the file by which an attempt is told to stop, and stands
// beside its own.
const asking = ".stop"

const (
	listening = 5 * time.Second  // between two looks whether it is there
	grace     = 10 * time.Second // from the first signal to the one that nobody survives
)

// Stop tells the attempt of a file to stop, on whichever node it is, and whether or not
// the batch system can reach it there. It may be told often.
func Stop(path string) error {
	f, err := os.OpenFile(path+asking, os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err != nil {
		return fmt.Errorf("stop of an attempt: %w", err)
	}
	return nil
}

// listen closes told when the attempt is to stop. It looks by itself, so that a file
// system that hangs keeps no signal from the program.
func listen(path string, every time.Duration, told chan<- struct{}, over <-chan struct{}) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-over:
			return
		}
		// Opened, not only looked up: what NFS remembers is asked for again.
		if f, err := os.Open(path + asking); err == nil {
			_ = f.Close() // nothing was written
			close(told)
			return
		}
	}
}
