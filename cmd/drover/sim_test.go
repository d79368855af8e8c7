package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/sim"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// simTrace has three jobs for 4 processors. The second job waits for the first one, the third job
// is killed.
const simTrace = `; a comment
1 0 -1 100 3 -1 -1 3 100 -1 1 1 1 -1 1 1 -1 -1
2 0 -1  50 4 -1 -1 4  50 -1 1 1 1 -1 1 1 -1 -1
3 0 -1  90 1 -1 -1 1  80 -1 1 1 1 -1 1 1 -1 -1
4 0 -1  90 9 -1 -1 9  80 -1 1 1 1 -1 1 1 -1 -1
`

// simRun runs drover sim run in this process.
func simRun(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(&cmdline.Process{
		Args: append([]string{"sim", "run"}, args...), Getenv: func(string) string { return "" },
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Signals: func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithCancel(ctx) },
	})
	return code, out.String(), errs.String()
}

// simFile writes a file for simRun and returns its path.
func simFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSimRunPrintsTableAndCostSeparately(t *testing.T) {
	code, stdout, stderr := simRun(t, "--swf", simFile(t, "t.swf", simTrace), "--procs", "4", "--policy", "easy")
	if code != cmdline.ExitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, want := range []string{
		"left out: 1 jobs (unknown runtime 0, no width 0, too wide 1)", "SITE", "POLICY", "UTILIZATION",
		"AREA-WEIGHTED", "site", "easy", "150.0 s",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("stdout does not contain %q:\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "all") || strings.Contains(stdout, "jobs/s") {
		t.Errorf("stdout has a line for all sites, or the cost:\n%s", stdout)
	}
	if !strings.HasPrefix(stderr, "3 jobs in ") || !strings.Contains(stderr, " jobs/s, peak memory ") ||
		strings.Count(stderr, "\n") != 1 {
		t.Errorf("stderr %q, want one line with the cost", stderr)
	}
}

func TestSimRunJSONIsTheSummaryFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	code, stdout, stderr := simRun(t, "--swf", simFile(t, "t.swf", simTrace), "--procs", "4", "--policy", "cbf",
		"--out", dir, "--json")
	if code != cmdline.ExitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var s sim.Summary
	if err := json.Unmarshal([]byte(stdout), &s); err != nil {
		t.Fatal(err)
	}
	if s.Schema != sim.SummarySchema || s.Jobs != 3 || s.Killed != 1 || s.Makespan != 150 || s.WaitMax != 100 ||
		s.Rejected.TooWide != 1 {
		t.Errorf("summary %+v", s)
	}
	for name, want := range map[string]string{
		"summary.json": stdout,
		"jobs.csv": `job_id,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,site
1,0,3,100,1,COMPLETED_SUCCESSFULLY,0,100,100,0,100,1,0-2,site
2,0,4,50,1,COMPLETED_SUCCESSFULLY,100,50,150,100,150,3,0-3,site
3,0,1,80,0,COMPLETED_WALLTIME_REACHED,0,80,80,0,80,1,3,site
`,
	} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, string(got)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	var timing sim.Timing
	text, err := os.ReadFile(filepath.Join(dir, "timing.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &timing); err != nil || timing.Schema != sim.TimingSchema ||
		timing.WallSeconds <= 0 || timing.JobsPerSecond <= 0 {
		t.Errorf("timing %+v, %v", timing, err)
	}
}

func TestSimRunTakesItsRulesFromFlags(t *testing.T) {
	path := simFile(t, "t.swf", simTrace)
	for _, c := range []struct {
		flags  string
		killed int
	}{{"--overrun kill", 1}, {"--overrun extend", 0}, {"--passes event", 1}, {"--passes instant", 1}} {
		args := append([]string{"--swf", path, "--procs", "4", "--policy", "easy", "--json"},
			strings.Fields(c.flags)...)
		code, stdout, stderr := simRun(t, args...)
		var s sim.Summary
		if err := json.Unmarshal([]byte(stdout), &s); code != cmdline.ExitOK || err != nil || s.Killed != c.killed {
			t.Errorf("%s: exit %d, %d killed, want %d; %v %s", c.flags, code, s.Killed, c.killed, err, stderr)
		}
	}
}

func TestSimRunPassesFollowTheFlag(t *testing.T) {
	path := simFile(t, "t.swf", `1 0 -1 100 2 -1 -1 2 100 -1 1 1 1 -1 1 1 -1 -1
2 0 -1 100 2 -1 -1 2 200 -1 1 1 1 -1 1 1 -1 -1
3 1 -1  10 4 -1 -1 4  10 -1 1 1 1 -1 1 1 -1 -1
4 2 -1  10 2 -1 -1 2  10 -1 1 1 1 -1 1 1 -1 -1
`)
	for passes, wait := range map[string]float64{"instant": (99 + 108) / 4., "event": (109 + 98) / 4.} {
		_, stdout, _ := simRun(t, "--swf", path, "--procs", "4", "--policy", "easy", "--json", "--passes", passes)
		var s sim.Summary
		if err := json.Unmarshal([]byte(stdout), &s); err != nil {
			t.Fatal(err)
		}
		if most := map[string]float64{"instant": 108, "event": 109}[passes]; s.WaitMean != wait || s.WaitMax != most {
			t.Errorf("passes %s: mean wait %v, longest %v, want %v, %v", passes, s.WaitMean, s.WaitMax, wait, most)
		}
	}
}

func TestSimRunOfAScenarioHasALineForEachSite(t *testing.T) {
	dir := filepath.Dir(simFile(t, "t.swf", simTrace)) + string(filepath.Separator)
	scenario := simFile(t, "s.yaml",
		fmt.Sprintf(
			"version: 1\nmapping: mct\n"+
				"sites: [{name: near, trace: %st.swf, procs: 4, policy: easy}, {name: far, procs: 16, speed: 0.5, "+
				"policy: cbf}]\n", dir,
		))
	code, stdout, stderr := simRun(t, scenario)
	if code != cmdline.ExitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[1], "near") || !strings.HasPrefix(lines[2], "far") ||
		!strings.HasPrefix(lines[3], "all") {
		t.Errorf("want a header, near, far and all:\n%s", stdout)
	}
}

func TestSimRunShowsProgressOnATerminalOnly(t *testing.T) {
	var out, errs bytes.Buffer
	code := run(&cmdline.Process{
		Args:   []string{"sim", "run", "--swf", simFile(t, "t.swf", simTrace), "--procs", "4", "--policy", "fcfs"},
		Getenv: func(string) string { return "" },
		Stdout: &out, Stderr: &errs, Terminal: true,
		Signals: func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithCancel(ctx) },
	})
	if code != cmdline.ExitOK || !strings.Contains(errs.String(), "/3") || strings.Contains(out.String(), "/3") {
		t.Errorf("exit %d, stderr %q, stdout %q, want a bar on stderr", code, errs.String(), out.String())
	}
}

func TestSimRunEndsWhenItIsInterrupted(t *testing.T) {
	var out, errs bytes.Buffer
	code := run(&cmdline.Process{
		Args:   []string{"sim", "run", "--swf", simFile(t, "t.swf", simTrace), "--procs", "4", "--policy", "fcfs"},
		Getenv: func(string) string { return "" },
		Stdout: &out, Stderr: &errs,
		Signals: func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, stop := context.WithCancel(ctx)
			stop()
			return ctx, stop
		},
	})
	if code != cmdline.ExitInterrupted || out.Len() > 0 {
		t.Errorf("exit %d, stdout %q, want %d and nothing", code, out.String(), cmdline.ExitInterrupted)
	}
}

func TestSimRunRefusesBadInput(t *testing.T) {
	t.Setenv(swf.TracesEnv, t.TempDir())
	trace, junk := simFile(t, "t.swf", simTrace), simFile(t, "junk.swf", simTrace+"5 0 -1 ten 1\n")
	back := simFile(t, "back.swf", "1 -5 -1 10 1 -1 -1 1 10 -1 1 1 1 -1 1 1 -1 -1\n")
	short := simFile(t, "short.swf", "1 0 -1 10\n")
	endless := simFile(t, "endless.swf",
		strings.Repeat("1 0 -1 10000000000 4 -1 -1 4 10000000000 -1 1 1 1 -1 1 1 -1 -1\n", 1000))
	scenario := simFile(t, "s.yaml", "version: 1\nsites: [{name: a, trace: "+trace+", procs: 4, policy: easy}]\n")
	wrong := simFile(t, "wrong.yaml", "version: 1\nsites: [{name: a, trace: t.swf, procs: 4, polcy: easy}]\n")
	lost := simFile(t, "lost.yaml", "version: 1\nsites: [{name: a, trace: none.swf, procs: 4, policy: easy}]\n")
	for _, c := range []struct {
		args string
		code int
		want []string
	}{
		{"", cmdline.ExitUsage, []string{"nothing to replay", "--swf FILE --procs N --policy NAME"}},
		{"--procs 4 --policy easy", cmdline.ExitUsage, []string{"nothing to replay"}},
		{"--swf " + trace, cmdline.ExitUsage, []string{"procs: 0, accepted: 1..67108864"}},
		{"--swf " + trace + " --policy easy --procs 0", cmdline.ExitUsage, []string{"procs: 0, accepted: 1..67108864"}},
		{
			"--swf " + trace + " --policy easy --procs=-4", cmdline.ExitUsage,
			[]string{"procs: -4, accepted: 1..67108864"},
		},
		{
			"--swf " + trace + " --policy easy --procs 1000000000000", cmdline.ExitUsage,
			[]string{"procs: 1000000000000, accepted: 1..67108864"},
		},
		{"--swf " + trace + " --policy easy --procs four", cmdline.ExitUsage, []string{"--procs", `"four"`}},
		{
			"--swf " + trace + " --procs 4", cmdline.ExitUsage,
			[]string{`unknown policy "", accepted: cbf, convergent, dfrs, dynp, easy, fcfs, overbook`},
		},
		{
			"--swf " + trace + " --procs 4 --policy sjf", cmdline.ExitUsage,
			[]string{`unknown policy "sjf", accepted: cbf, convergent, dfrs, dynp, easy, fcfs, overbook`},
		},
		{
			"--swf " + trace + " --procs 4 --policy easy --set depth=3", cmdline.ExitUsage,
			[]string{`unknown setting "depth"`, "accepted"},
		},
		{"--swf " + trace + " --procs 4 --policy easy --set depth", cmdline.ExitUsage, []string{"--set", `"depth"`}},
		{
			"--swf " + trace + " --procs 4 --policy easy --overrun maybe", cmdline.ExitUsage,
			[]string{`--overrun: "maybe", accepted: kill, extend`},
		},
		{
			"--swf " + trace + " --procs 4 --policy easy --passes many", cmdline.ExitUsage,
			[]string{`--passes: "many", accepted: instant, event`},
		},
		{
			"--swf " + trace + " --procs 4 --policy cbf --passes event", cmdline.ExitUsage,
			[]string{"passes: event with policy cbf, accepted"},
		},
		{"--swf " + trace + " --procs 4 --policy easy --color red", cmdline.ExitUsage, []string{"--color"}},
		{
			"--swf " + junk + " --procs 4 --policy easy", cmdline.ExitRefused,
			[]string{"junk.swf:6:", "field 4 (run time)", `"ten"`, "accepted: 0 to"},
		},
		{
			"--swf " + back + " --procs 4 --policy easy", cmdline.ExitRefused,
			[]string{"back.swf:1:", "field 2 (submit time)", "accepted: 0 to"},
		},
		{"--swf " + short + " --procs 4 --policy easy", cmdline.ExitRefused, []string{"short.swf:1:", "field 5"}},
		{"--swf " + endless + " --procs 4 --policy easy", cmdline.ExitRefused, []string{"job 1 would not end"}},
		{
			"--swf none.swf --procs 4 --policy easy", cmdline.ExitNotFound,
			[]string{"no trace none.swf: looked for none.swf", "DROVER_TRACES"},
		},
		{"--swf no/where.swf --procs 4 --policy easy", cmdline.ExitNotFound, []string{"no/where.swf"}},
		{"--swf " + trace + " --procs 4 --policy easy --out " + trace, cmdline.ExitFailure, []string{"output: "}},
		{"none.yaml", cmdline.ExitNotFound, []string{"none.yaml"}},
		{wrong, cmdline.ExitConfig, []string{"wrong.yaml", "line 2", "polcy"}},
		{lost, cmdline.ExitNotFound, []string{"site a", "none.swf", "DROVER_TRACES"}},
		{scenario + " --swf " + trace, cmdline.ExitUsage, []string{"both a scenario and"}},
		{scenario + " --procs 4", cmdline.ExitUsage, []string{"both a scenario and"}},
		{scenario + " --policy easy", cmdline.ExitUsage, []string{"both a scenario and"}},
		{scenario + " --set a=b", cmdline.ExitUsage, []string{"both a scenario and"}},
		{scenario + " --overrun extend", cmdline.ExitUsage, []string{"both a scenario and"}},
		{scenario + " --passes event", cmdline.ExitUsage, []string{"both a scenario and"}},
	} {
		code, stdout, stderr := simRun(t, strings.Fields(c.args)...)
		if code != c.code || stdout != "" {
			t.Errorf("%s: exit %d, stdout %q, want %d and nothing", c.args, code, stdout, c.code)
		}
		for _, part := range c.want {
			if !strings.Contains(stderr, part) {
				t.Errorf("%s: stderr does not contain %q:\n%s", c.args, part, stderr)
			}
		}
	}
	code, _, stderr := simRun(t, "--json", "--swf", junk, "--procs", "4", "--policy", "easy")
	if !json.Valid([]byte(stderr)) || code != cmdline.ExitRefused || !strings.Contains(stderr, "junk.swf:6:") {
		t.Errorf("with --json: exit %d, stderr %s", code, stderr)
	}
}

// TestExampleScenariosRun validates all examples and runs those whose traces are available.
func TestExampleScenariosRun(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../docs/examples/scenario-*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d scenarios, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			s, err := sim.ReadScenario(path)
			if err != nil {
				t.Fatal(err)
			}
			for i := range s.Sites {
				if name := s.Sites[i].Trace; name != "" {
					if _, err := swf.FindTrace(name); err != nil {
						t.Skipf("SCENARIO NOT RUN: %v", err)
					}
				}
			}
			if code, _, stderr := simRun(t, path); code != cmdline.ExitOK {
				t.Errorf("exit %d: %s", code, stderr)
			}
		})
	}
}

func TestSimRunWarnsOfAPeriodThatIsNoLongerThanThePenalty(t *testing.T) {
	log := filepath.Join(t.TempDir(), "two.swf")
	job := " 0 -1 %d 1 -1 -1 1 %d -1 1 -1 -1 -1 -1 -1 -1 -1\n"
	if err := os.WriteFile(log, fmt.Appendf(nil, "1"+job+"2"+job, 40, 40, 40, 40), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = "warning: a period of 10s is no longer than the penalty of 10s"
	for args, warned := range map[string]bool{
		"--penalty=10s --set=period=10s":                               true,
		"--penalty=9s --set=period=10s":                                false,
		"--set=period=10s":                                             false,
		"--penalty=10s --set=period=10s --set=algorithm=GreedyP*":      false,
		"--penalty=10s --set=period=10s --set=algorithm=/per/minvt=20": true,
	} {
		code, stdout, stderr := simRun(t, append([]string{"--swf", log, "--procs", "1", "--policy", "dfrs"},
			strings.Fields(args)...)...)
		if code != cmdline.ExitOK || strings.Contains(stderr, want) != warned || !strings.Contains(stdout, "dfrs") {
			t.Errorf("%s: exit %d: %s%s", args, code, stdout, stderr)
		}
	}
}
