package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// fitFile is what Fit writes in the directory, and removes. A claim is not larger.
const (
	fitFile = "fit"
	fitSize = 4096
)

// Fit says whether tasks can be started as far as the host's own directory goes: it is
// nil where nothing says that they cannot. A start that fails raises the question, and
// what is written then for a try answers it.
func (h *Host) Fit() error {
	if !h.doubt.Load() {
		return nil
	}
	if err := try(h.cfg.Dir); err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err // names no path
		}
		return fmt.Errorf("its directory: %w", err)
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
