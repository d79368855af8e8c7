package slurmtest

import (
	"os"
	"path/filepath"
	"testing"
)

// Save keeps the state that a controller which was stopped has left, for Restore.
func (c *Cluster) Save(t testing.TB) {
	t.Helper()
	saved := filepath.Join(c.Dir(), "saved")
	if err := os.RemoveAll(saved); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(saved, os.DirFS(filepath.Join(c.Dir(), "state"))); err != nil {
		t.Fatal(err)
	}
}

// Restore gives a controller that does not run the state that was saved: what it has
// been told since it will not know, as after a crash.
func (c *Cluster) Restore(t testing.TB) {
	t.Helper()
	c.Forget(t)
	if err := os.CopyFS(filepath.Join(c.Dir(), "state"), os.DirFS(filepath.Join(c.Dir(), "saved"))); err != nil {
		t.Fatal(err)
	}
}

// Forget takes away the state of a controller that does not run: what it has been
// told it will not know any more.
func (c *Cluster) Forget(t testing.TB) {
	t.Helper()
	state := filepath.Join(c.Dir(), "state")
	if err := os.RemoveAll(state); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(state, 0o755); err != nil {
		t.Fatal(err)
	}
}
