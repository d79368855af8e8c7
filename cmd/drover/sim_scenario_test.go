package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/sim"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// simExperiment is a scenario of generated jobs that runs quickly.
const simExperiment = `version: 1
mapping: mct
moldable: {}
sites:
  - {name: near, lublin: {jobs: 300, span: 3d, seed: 1, estimates: "uniform:5"}, procs: 32, policy: cbf}
  - {name: far, lublin: {jobs: 200, span: 3d, seed: 2, estimates: "uniform:5"}, procs: 24, speed: 1.5, policy: cbf}
`

func TestSimRunComparesWithTheReference(t *testing.T) {
	path, dir := simFile(t, "s.yaml", simExperiment+"reallocation: {}\n"), t.TempDir()
	code, stdout, stderr := simRun(t, path, "--compare", "--local", "1/3", "--seed", "4", "--out", dir)
	if code != cmdline.ExitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, part := range []string{
		"grid jobs", "reallocation (regular, mct)", "compared with no reallocation, of ", "all grid jobs: response ",
	} {
		if !strings.Contains(stdout, part) {
			t.Errorf("stdout does not contain %q:\n%s", part, stdout)
		}
	}
	variant := func(args ...string) *sim.Summary {
		code, stdout, stderr := simRun(t, append(args, path, "--json")...)
		s := &sim.Summary{}
		if err := json.Unmarshal([]byte(stdout), s); code != cmdline.ExitOK || err != nil {
			t.Fatalf("%v: exit %d, %v: %s", args, code, err, stderr)
		}
		return s
	}
	compared := variant("--compare", "--local", "1/3", "--seed", "4")
	plain := variant("--local", "1/3", "--seed", "4")
	c := compared.Comparison
	if c == nil || plain.Comparison != nil || c.Jobs != 500 || c.GridJobs != compared.Grid.Jobs || c.GridJobs == 500 ||
		c.Impacted == 0 ||
		c.ResponseMean != plain.Grid.ResponseMean || c.ResponseReference == c.ResponseMean {
		t.Errorf("compared %+v\nplain %+v", c, plain.Grid)
	}
	if other := variant("--local", "1/3", "--seed", "5"); other.Grid.Jobs == plain.Grid.Jobs {
		t.Error("another seed draws the same local users")
	}
	if even := variant("--homogeneous"); even.Sites[1].Speed != "1" || even.Grid != nil {
		t.Errorf("homogeneous: %+v", even.Sites[1])
	}
}

func TestSimRunFindsBundledScenarios(t *testing.T) {
	t.Chdir(t.TempDir())
	code, stdout, stderr := simRun(t, "g5k2")
	if code != cmdline.ExitOK || !strings.Contains(stdout, "bordeaux") || !strings.Contains(stderr, "9640 jobs") {
		t.Errorf("g5k2: exit %d\n%s%s", code, stdout, stderr)
	}
	t.Setenv(swf.TracesEnv, t.TempDir())
	code, _, stderr = simRun(t, "pwa")
	for _, part := range []string{
		"site hpc2n", "no trace HPC2N-2002-2.2-cln.swf.gz: looked for ", "Parallel Workloads Archive", swf.TracesEnv,
	} {
		if code != cmdline.ExitNotFound || !strings.Contains(stderr, part) {
			t.Errorf("pwa without logs: exit %d, want %d and %q:\n%s", code, cmdline.ExitNotFound, part, stderr)
		}
	}
}

func TestSimRunRefusesBadVariants(t *testing.T) {
	path := simFile(t, "s.yaml", simExperiment)
	trace := simFile(t, "t.swf", simTrace)
	none := simFile(t, "none.yaml",
		"version: 1\nsites: [{name: a, trace: "+filepath.Base(trace)+", procs: 4, policy: cbf}]\n")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{path + " --compare", cmdline.ExitUsage, "--compare of a scenario without reallocation"},
		{path + " --local 4/3", cmdline.ExitUsage, `--local: "4/3", accepted: 0 to 1, as 0.8 or 2/3`},
		{path + " --seed=-1", cmdline.ExitUsage, "--seed"},
		{none + " --local 1/2", cmdline.ExitUsage, "--local with mapping none, accepted: with mapping mct"},
		{
			"--swf " + trace + " --procs 4 --policy easy --seed 3", cmdline.ExitUsage,
			"--seed, --local, --homogeneous or --compare without a scenario",
		},
		{"pwx", cmdline.ExitNotFound, `scenario "pwx": no such file, accepted: pwa, m1`},
	} {
		code, stdout, stderr := simRun(t, strings.Fields(c.args)...)
		if code != c.code || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d, want %d and %q:\n%s%s", c.args, code, c.code, c.want, stdout, stderr)
		}
	}
}
