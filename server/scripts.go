package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-9b8f70bb/drover/batch/slurm"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// script returns where the script of a service lies: another text is another file,
// so that what runs keeps its own.
func (d *dataDir) script(service *catalogue.Service) string {
	sum := sha256.Sum256([]byte(service.Script.Text))
	return filepath.Join(d.root, "scripts", service.Name+"-"+hex.EncodeToString(sum[:8]))
}

// keepScripts writes the scripts of services to where their jobs find them, and says
// what about them does not hold.
func (s *Server) keepScripts() error {
	for _, service := range s.cfg.Catalogue.Services() {
		if service.Script == nil {
			continue
		}
		for _, note := range service.Script.Notes {
			s.log.Warn("batch script", "service", service.Name, "note", note)
		}
		if err := keepScript(s.data.script(service), service.Script.Text); err != nil {
			return fmt.Errorf("script of service %s: %w", service.Name, err)
		}
	}
	return nil
}

// keepScript writes a script whole, or not at all.
func keepScript(path, text string) error {
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
	return syncDirs(dir)
}

// tryScripts has Slurm look at the options of each script, and reports those that it
// refuses: their jobs would fail.
func (s *Server) tryScripts(ctx context.Context, cfg *slurm.Config) {
	for _, service := range s.cfg.Catalogue.Services() {
		if service.Script == nil || len(service.Script.Options) == 0 {
			continue
		}
		lo, _, _ := service.Widths()
		if err := cfg.Try(ctx, lo, service.Script.Options); err != nil {
			s.log.Error("Slurm refuses the options of a batch script: its jobs will fail", "service", service.Name, "options", service.Script.Options, "error", err)
		}
	}
}
