package slurmtest

import (
	"os"
	"path/filepath"
	"testing"
)

// Save keeps the state that a controller which was stopped has left, for Restore.
func (c *Cluster) Save(t testing.TB) {
	t.Helper()
	saved := filepath.Join(c.dir, "saved")
	if err := os.RemoveAll(saved); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(saved, os.DirFS(filepath.Join(c.dir, "state"))); err != nil {
		t.Fatal(err)
	}
}

// Restore gives a controller that does not run the state that was saved: what it has
// been told since it will not know, as after a crash.
func (c *Cluster) Restore(t testing.TB) {
	t.Helper()
	c.Forget(t)
	if err := os.CopyFS(filepath.Join(c.dir, "state"), os.DirFS(filepath.Join(c.dir, "saved"))); err != nil {
		t.Fatal(err)
	}
}
