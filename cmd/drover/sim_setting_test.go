package main

import (
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// The notation of a duration makes no difference, also in settings of policies.
func TestSettingsAcceptDurationsOfBatchSystems(t *testing.T) {
	trace := simFile(t, "t.swf", simTrace)
	var outs []string
	for _, period := range []string{"50m0s", "00:50:00", "0-00:50:00"} {
		code, stdout, stderr := simRun(t, "--swf", trace, "--procs", "4", "--policy", "dfrs", "--set",
			"algorithm=GreedyPM */per/opt=min/minvt=600",
			"--set", "period="+period, "--json")
		if code != cmdline.ExitOK {
			t.Fatalf("%s: exit code %d: %s", period, code, stderr)
		}
		outs = append(outs, stdout)
	}
	for _, out := range outs[1:] {
		if out != outs[0] {
			t.Errorf("%s, want %s", out, outs[0])
		}
	}
	if code, _, stderr := simRun(t, "--swf", trace, "--procs", "4", "--policy", "dfrs", "--set",
		"period=50:00"); code != cmdline.ExitUsage || !strings.Contains(stderr, `"50:00"`) {
		t.Errorf("minutes and seconds: exit code %d: %s", code, stderr)
	}
}
