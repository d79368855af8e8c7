package main

import (
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

func TestNegativeNumbersAreValuesOfTheFlagBeforeThem(t *testing.T) {
	for line, want := range map[string]string{
		"submit sleep --value -5 --json":        "submit sleep --value=-5 --json",
		"submit sleep --begin -.5s --width -1":  "submit sleep --begin=-.5s --width=-1",
		"submit sleep --value=3 -5":             "submit sleep --value=3 -5",
		"submit -5 sleep":                       "submit -5 sleep",
		"submit sleep --owner --json -x --wide": "submit sleep --owner --json -x --wide",
		"submit sleep -- --value -5":            "submit sleep -- --value -5",
		"-1":                                    "-1",
	} {
		if got := strings.Join(cmdline.JoinNegative(strings.Fields(line)), " "); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
