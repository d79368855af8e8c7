package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

func TestSimRunPrintsReallocation(t *testing.T) {
	dir := filepath.Dir(simFile(t, "t.swf", simTrace)) + string(filepath.Separator)
	text := "version: 1\nmapping: mct\nsites: [{name: near, trace: " + dir + "t.swf, procs: 4, policy: cbf}]\n" +
		"reallocation: "
	code, stdout, stderr := simRun(t, simFile(t, "s.yaml", text+"{period: 1s, heuristic: maxmin}\n"))
	if code != cmdline.ExitOK || !strings.Contains(stdout, "reallocation (regular, maxmin): ") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	code, _, stderr = simRun(t, simFile(t, "s.yaml", text+"{algorithm: any, heuristic: best, window: 0}\n"))
	for _, want := range []string{
		"accepted: regular, all-cancellation", "accepted: mct, minmin, maxmin, sufferage, maxgain, maxrelgain",
		"accepted: at least 1, or all",
	} {
		if code != cmdline.ExitConfig || !strings.Contains(stderr, want) {
			t.Errorf("exit %d, want %d and %q:\n%s", code, cmdline.ExitConfig, want, stderr)
		}
	}
}
