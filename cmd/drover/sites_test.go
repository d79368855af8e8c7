package main

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

func TestAccuracyShowsWhatCameLaterAsPositive(t *testing.T) {
	f := newFakeGrid(t)
	f.expect(t, cmdline.ExitOK, `(?m)^lyon +lu +promised +9 +\+5\.0s +1\.0s +20\.0s +-1m0s +1m0s +1h0m0s +0\.50$`, `^$`, "sites", "--accuracy")
	f.expect(t, cmdline.ExitOK, `nancy +- +timeout, last heard 1h0m0s ago`, `^$`, "sites", "--accuracy")
	f.expect(t, cmdline.ExitOK, `"schema": "drover.accuracy/1"(?s).*"bias": -60,.*"run_ratio": 0.5`, `^$`, "sites", "--accuracy", "--json")
}
