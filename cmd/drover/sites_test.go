package main

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

func TestAccuracyOfLateJobsIsPositive(t *testing.T) {
	f := newFakeGrid(t)
	f.expect(t, cmdline.ExitOK, `(?m)^lyon +lu +promised +9 +\+5\.0s +1\.0s +20\.0s +-1m0s +1m0s +1h0m0s +0\.50$`, `^$`,
		"sites", "--accuracy")
	f.expect(t, cmdline.ExitOK, `nancy +- +timeout, last answer 1h0m0s ago`, `^$`, "sites", "--accuracy")
	f.expect(t, cmdline.ExitOK, `(?s)"bias": "-60s".*"runRatio": 0.5`, `^$`, "sites", "--accuracy", "--json")
}
