package node

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
)

func TestAHostIsUnfitWhileItCannotWriteClaims(t *testing.T) {
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

func TestAHostIsUnfitWhileItCannotCreateControlGroups(t *testing.T) {
	dir := t.TempDir()
	h := open(t, config(t, dir))
	if h.Offers().Of(cgroup.Processors) == cgroup.None {
		t.Skip(h.Offers())
	}
	h.cpus = []int{4095} // no host of these tests has it
	if _, err := h.Launch(t.Context(), script(id(1), dir, `exit 0`)); !errors.Is(err, exec.ErrNeverRan) {
		t.Fatal(err)
	}
	if err := h.Fit(); err == nil || !strings.HasPrefix(err.Error(), "control group: ") ||
		strings.Contains(err.Error(), "/") {
		t.Errorf("%v", err)
	}
	h.cpus = nil
	for range 2 {
		if err := h.Fit(); err != nil {
			t.Error(err)
		}
	}
	if names, err := h.groups.List(); len(names) != 0 || err != nil {
		t.Errorf("groups left: %v, %v", names, err)
	}
}

func TestAFailureOfTheProgramLeavesTheHostFit(t *testing.T) {
	for name, without := range map[string][]cgroup.Ability{"as the host can": nil, "by signals": everyAbility} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cfg := config(t, dir)
			cfg.Groups.Without = without
			h := open(t, cfg)
			task := script(id(1), dir, `exit 0`)
			task.Spec.Args = []string{"no-such-command"}
			if _, err := h.Launch(t.Context(), task); err == nil || !h.doubt.Load() {
				t.Fatal(err)
			}
			if err := h.Fit(); err != nil || h.doubt.Load() {
				t.Error(err)
			}
		})
	}
}
