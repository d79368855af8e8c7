package node

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch/exec"
)

func TestAHostThatCannotWriteDownStartsIsUnfitUntilItCan(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "own")
	cfg := config(t, dir)
	cfg.Dir = own
	h := open(t, cfg)
	fit := func(when string, want error) {
		t.Helper()
		if err := h.Fit(); !errors.Is(err, want) {
			t.Errorf("%s: %v", when, err)
		}
	}
	fit("at first", nil)
	if err := os.Rename(own, own+".away"); err != nil {
		t.Fatal(err)
	}
	fit("before anybody has tried", nil)
	if _, err := h.Launch(t.Context(), script(id(1), dir, `exit 0`)); !errors.Is(err, exec.ErrNeverRan) {
		t.Fatal(err)
	}
	fit("without its directory", syscall.ENOENT)
	if err := os.Rename(own+".away", own); err != nil {
		t.Fatal(err)
	}
	fit("with it", nil)
	if p := launch(t, h, script(id(2), dir, `exit 3`)); p.Wait().Code != 3 {
		t.Error(p.Wait())
	}
	if _, err := os.Stat(filepath.Join(own, fitFile)); err == nil {
		t.Error("the try is left")
	}
}
