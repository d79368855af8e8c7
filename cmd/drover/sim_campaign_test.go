package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/sim/campaign"
)

// campaignScenario needs no trace.
const campaignScenario = `version: 1
mapping: mct
moldable: {}
sites:
  - {name: a, lublin: {jobs: 450, span: 3d, seed: 1, estimates: "uniform:5"}, procs: 64, policy: cbf}
  - {name: b, lublin: {jobs: 150, span: 3d, seed: 2, estimates: "uniform:5"}, procs: 32, speed: 1.5, policy: cbf}
`

// campaignFiles writes a campaign over that scenario and returns its path.
func campaignFiles(t *testing.T, lists string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "c.yaml")
	for name, text := range map[string]string{
		"c.yaml": "version: 1\nname: made\nscenarios: [made.yaml]\n" + lists, "made.yaml": campaignScenario,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// simCampaign runs drover sim campaign in this process.
func simCampaign(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(&cmdline.Process{
		Args: append([]string{"sim", "campaign"}, args...), Getenv: func(string) string { return "" },
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Signals: func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithCancel(ctx) },
	})
	return code, out.String(), errs.String()
}

func results(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, campaign.ResultsName))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSimCampaignResumesAfterAKill kills the program at random moments until one run ends by
// itself.
func TestSimCampaignResumesAfterAKill(t *testing.T) {
	file := campaignFiles(t, "seeds: 1..3\ndedicated: [true, false]\nalgorithms: [regular, all-cancellation]\n"+
		"heuristics: [mct, minmin]\n")
	whole, killed := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "killed")
	if code, _, stderr := simCampaign(t, file, "--out", whole, "--jobs", "1"); code != cmdline.ExitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	journal := filepath.Join(killed, "journal")
	kills := 0
	for ended := false; !ended; {
		cmd := exec.CommandContext(t.Context(), "drover", "sim", "campaign", file, "--out", killed, "--jobs",
			[]string{"1", "2", "3"}[kills%3])
		var errOut bytes.Buffer
		cmd.Stderr = &errOut
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = cmd.Wait() // cmd.ProcessState has the result
		}()
		// The kill comes after the journal has grown by some bytes, possibly within a line.
		ended = waitKilled(t, cmd, done, journal, 1+r.Int64N(2500))
		if ended && !cmd.ProcessState.Success() {
			t.Fatalf("the campaign ended with %v: %s", cmd.ProcessState, errOut.String())
		}
		if !ended {
			kills++
		}
	}
	if d := cmp.Diff(results(t, whole), results(t, killed)); d != "" || kills < 2 {
		t.Errorf("after %d kills:\n%s", kills, d)
	}
}

// waitKilled kills a program when a file has grown by a number of bytes. It reports whether the
// program ended before that.
func waitKilled(t *testing.T, cmd *exec.Cmd, done <-chan struct{}, path string, more int64) (ended bool) {
	t.Helper()
	size := func() int64 {
		if info, err := os.Stat(path); err == nil {
			return info.Size()
		}
		return 0
	}
	begin := size()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return true
		case <-tick.C:
			if size()-begin < more {
				continue
			}
			if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
			<-done
			return cmd.ProcessState.Success()
		}
	}
}

func TestSimCampaignEndsCleanlyOnASignal(t *testing.T) {
	file := campaignFiles(t, "seeds: 1..40\nalgorithms: [regular, all-cancellation]\nheuristics: [mct, minmin]\n")
	dir := filepath.Join(t.TempDir(), "out")
	cmd := exec.CommandContext(t.Context(), "drover", "sim", "campaign", file, "--out", dir)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range tick.C { // until a result exists
		if info, err := os.Stat(filepath.Join(dir, campaign.ResultsName)); err == nil && info.Size() > 0 {
			break
		}
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != cmdline.ExitInterrupted {
		t.Errorf("the campaign ended with %v: %s", err, errOut.String())
	}
	if !strings.Contains(errOut.String(),
		"of 200 experiments are in "+dir+"; the same command resumes with the others") {
		t.Errorf("stderr %s", errOut.String())
	}
	if rows := strings.Count(results(t, dir), "\n") - 1; rows < 5 || rows >= 200 {
		t.Errorf("%d rows are kept", rows)
	}
}

func TestSimCampaignPrintsTheResultsFile(t *testing.T) {
	file := campaignFiles(t, "seeds: 1..2\n")
	t.Chdir(t.TempDir())
	code, stdout, stderr := simCampaign(t, file)
	if code != cmdline.ExitOK || stdout != "4 experiments, 2 of them references: campaign-made/results.csv\n" ||
		!strings.HasPrefix(stderr, "4 experiments, 0 of them done, in campaign-made\n") ||
		!strings.Contains(stderr, "4 experiments in ") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	code, stdout, stderr = simCampaign(t, file, "--quick", "--json")
	var view campaignJSON
	if err := json.Unmarshal([]byte(stdout), &view); code != cmdline.ExitOK || err != nil {
		t.Fatalf("exit %d, %v: %s", code, err, stderr)
	}
	want := campaignJSON{
		Schema: "drover.sim.campaign/1", Campaign: "made", Results: "campaign-made-quick/results.csv", Experiments: 2,
		References: 1,
		Cut:        []string{"the first 14 days of each scenario", "1 of 2 seeds"},
	}
	if d := cmp.Diff(want, view); d != "" ||
		!strings.HasPrefix(stderr, "quick: only the first 14 days of each scenario, 1 of 2 seeds\n") {
		t.Errorf("%s\nstderr %q", d, stderr)
	}
	// A quick and a complete campaign cannot share a folder.
	if code, _, stderr = simCampaign(t, file, "--out", "campaign-made-quick"); code != cmdline.ExitRefused ||
		!strings.Contains(stderr, "days: 14 in the folder, all now") {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
}

func TestSimCampaignRefusesBadInput(t *testing.T) {
	file := campaignFiles(t, "seeds: [1]\n")
	bad := simFile(t, "bad.yaml", "version: 1\nname: n\nscenarios: [pvw]\nseeds: [1]\nheuristics: [mct, minimin]\n")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, campaign.ResultsName), []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want []string
	}{
		{"", cmdline.ExitUsage, []string{"<campaign>"}},
		{"none.yaml", cmdline.ExitNotFound, []string{`"none.yaml": no such file, accepted: full, paper`}},
		{bad, cmdline.ExitConfig, []string{
			`.yaml: line 3: scenarios[0]: "pvw", accepted: pwa, m1,`,
			`; line 5: heuristics[1]: "minimin", accepted: mct, minmin,`,
		}},
		{file + " --jobs=-1", cmdline.ExitUsage, []string{"--jobs: -1, accepted: 1..1024"}},
		{file + " --jobs 0", cmdline.ExitUsage, []string{"--jobs: 0, accepted: 1..1024"}},
		{file + " --jobs 9999", cmdline.ExitUsage, []string{"--jobs: 9999, accepted: 1..1024"}},
		{file + " --out " + dir, cmdline.ExitRefused, []string{"but no journal"}},
	} {
		code, stdout, stderr := simCampaign(t, strings.Fields(c.args)...)
		if code != c.code || stdout != "" {
			t.Errorf("%s: exit %d, stdout %q, want %d and nothing", c.args, code, stdout, c.code)
		}
		for _, part := range c.want {
			if !strings.Contains(stderr, part) {
				t.Errorf("%s: stderr does not contain %q:\n%s", c.args, part, stderr)
			}
		}
	}
}

func TestCampaignProgressIsABarOnATerminalAndFewLinesElsewhere(t *testing.T) {
	last := &campaign.Experiment{}
	for _, terminal := range []bool{true, false} {
		var errOut bytes.Buffer
		s := &cmdline.CampaignProgress{Process: &cmdline.Process{Stderr: &errOut, Terminal: terminal}, Dir: "here"}
		s.Report(0, campaign.Progress{Total: 400})
		for i := 1; i <= 400; i++ {
			s.Report(time.Duration(i)*time.Second, campaign.Progress{
				Done: i, Total: 400, Last: last, Left: 90 * time.Minute, Known: true,
			})
		}
		s.Finish()
		text := errOut.String()
		if !strings.HasPrefix(text, "400 experiments, 0 of them done, in here\n") ||
			!strings.Contains(text, "1h30m left") {
			t.Errorf("terminal %v: %q", terminal, text)
		}
		// One percent takes 4 seconds, and lines are at least 5 seconds apart.
		if lines := strings.Count(text, "\n"); terminal && !strings.Contains(text, "/400)") ||
			!terminal && lines != 81 {
			t.Errorf("terminal %v: %d lines: %q", terminal, lines, text)
		}
	}
}

// TestTheExampleCampaignRuns runs the example with --quick.
func TestTheExampleCampaignRuns(t *testing.T) {
	t.Parallel()
	if code, _, stderr := simCampaign(t, "../../docs/examples/campaign.yaml", "--quick", "--out",
		t.TempDir()); code != cmdline.ExitOK {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
