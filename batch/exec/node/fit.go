package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
)

// fitFile is what Fit writes in the directory, and removes. A claim is not larger.
const (
	fitFile = "fit"
	fitSize = 4096
)

// fitTask is held as a task is that may have a processor and some memory.
var fitTask = TaskSpec{ID: ID{Key: batch.Key{Job: "fit"}}, CPU: cgroup.Processor, Memory: 64 << 20}

// Fit says whether tasks can be started as far as the host's own directory and its
// control groups go: it is nil where nothing says that they cannot. A start that fails
// raises the question, and a file and a group that are made for a try answer it.
func (h *Host) Fit() error {
	if !h.doubt.Load() {
		return nil
	}
	h.trying.Lock()
	defer h.trying.Unlock()
	if err := try(h.cfg.Dir); err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err // names no path
		}
		return fmt.Errorf("its directory: %w", err)
	}
	g, err := h.group(&fitTask)
	if err != nil {
		return err
	}
	if err := g.Remove(); err != nil {
		return groupError(err)
	}
	h.doubt.Store(false)
	return nil
}

// try writes as much as a claim is.
func try(dir string) error {
	path := filepath.Join(dir, fitFile)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, fitSize))
	return errors.Join(err, f.Sync(), f.Close(), os.Remove(path))
}
