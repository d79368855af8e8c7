package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// anew removes what a job that begins once more has written for its outputs, so that
// nobody takes them for this attempt's. That it was done for an attempt is written down: a
// batch system may ask for the program of one that runs.
func (s *Server) anew(j *site.Job, service *catalogue.Service) error {
	if j.Attempt <= 1 || j.Past != nil || j.State == site.Running {
		return nil
	}
	if err := s.data.clearOutputs(j.Key(), service); err != nil {
		return fmt.Errorf("what job %s has written before: %w", j.ID, err)
	}
	return nil
}

func (d *dataDir) clearOutputs(key batch.Key, service *catalogue.Service) error {
	cleared, attempt := filepath.Join(d.job(key.Job), "cleared"), journal.Name(key.Epoch, key.Attempt)
	if noted(cleared, attempt) {
		return nil
	}
	root, err := os.OpenRoot(d.work(key.Job))
	if errors.Is(err, fs.ErrNotExist) { // it has never come so far
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	for i := range service.Arguments {
		if a := &service.Arguments[i]; a.Type.Out() {
			err = errors.Join(err, root.RemoveAll(a.Name))
		}
	}
	if err != nil {
		return err
	}
	return note(cleared, attempt)
}

// note writes down for which attempt something was done. It is durable: Slurm goes on with
// an attempt when this host has lost its power, and what it writes is not to be cleared.
func note(name, attempt string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(attempt)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return syncDirs(filepath.Dir(name))
}

// noted says whether that was done for an attempt.
func noted(name, attempt string) bool {
	which, err := os.ReadFile(name)
	return err == nil && string(which) == attempt
}
