package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// simFaults runs drover sim faults in this process.
func simFaults(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(&cmdline.Process{
		Args: append([]string{"sim", "faults"}, args...), Getenv: func(string) string { return "" },
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Signals: func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithCancel(ctx) },
	})
	return code, out.String(), errs.String()
}

func TestSimFaultsPrintsCountsAndCostSeparately(t *testing.T) {
	code, stdout, stderr := simFaults(t, "--seeds", "40", "--from", "5")
	if code != cmdline.ExitOK || !strings.HasPrefix(stdout, "seeds 5 to 44: nothing was lost, nothing ran twice\n") ||
		!strings.Contains(stdout, "servers killed") {
		t.Errorf("exit %d:\n%s%s", code, stdout, stderr)
	}
	if _, again, _ := simFaults(t, "--seeds", "40", "--from", "5"); again != stdout {
		t.Errorf("other bytes:\n%s", again)
	}
	if !strings.Contains(stderr, "40 seeds in ") || strings.Contains(stdout, "seeds/s") {
		t.Errorf("cost: %s", stderr)
	}
}

func TestSimFaultsFailsWithTraceAndReplayCommand(t *testing.T) {
	code, stdout, _ := simFaults(t, "--plant", "early-confirm", "--json")
	var view faultsJSON
	if err := json.Unmarshal([]byte(strings.Replace(stdout, `"counts": {`, `"counted": {`, 1)), &view); err != nil ||
		code != cmdline.ExitFailure || view.Wrong == nil {
		t.Fatalf("exit %d, %v:\n%s", code, err, stdout)
	}
	_, args, ok := strings.Cut(view.Wrong.Replay, "drover sim faults ")
	if !ok {
		t.Fatal(view.Wrong.Replay)
	}
	code, stdout, _ = simFaults(t, strings.Fields(args)...)
	if code != cmdline.ExitFailure || !strings.HasPrefix(stdout, view.Trace) ||
		!strings.Contains(stdout, "replay: "+view.Wrong.Replay) {
		t.Errorf("exit %d: the replay differs:\n%s", code, stdout)
	}
}

func TestSimFaultsRefusesBadFlags(t *testing.T) {
	for _, args := range [][]string{{"--plant", "x"}, {"--seeds", "0"}} {
		if code, _, stderr := simFaults(t, args...); code != cmdline.ExitUsage ||
			!strings.Contains(stderr, "accepted") {
			t.Errorf("%v: exit %d, %s", args, code, stderr)
		}
	}
}
