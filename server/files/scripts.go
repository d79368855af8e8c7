package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// Script returns the path of a service's batch script. A changed text gets another
// path, so that running jobs keep their script.
func (d *Dir) Script(service *catalogue.Service) string {
	sum := sha256.Sum256([]byte(service.Script.Text))
	return filepath.Join(d.Root, "scripts", service.Name+"-"+hex.EncodeToString(sum[:8]))
}

// WriteScript writes a service's batch script atomically, unless it exists.
func (d *Dir) WriteScript(service *catalogue.Service) error {
	if err := writeScript(d.Script(service), service.Script.Text); err != nil {
		return fmt.Errorf("script of service %s: %w", service.Name, err)
	}
	return nil
}

func writeScript(path, text string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Chmod(0o500), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return SyncDirs(dir)
}
