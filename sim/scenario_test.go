package sim_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy"
	"github.com/seed-9b8f70bb/drover/sim"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

func TestScenarioFillsInDefaults(t *testing.T) {
	yes := true
	got, err := sim.ParseScenario(
		strings.NewReader("version: 1\nsites: [{name: a, trace: t.swf, procs: 4, policy: cbf}, {name: b, procs: "+
			"67108864, speed: 1.25, policy: easy}]\n"), "s.yaml",
	)
	if err != nil {
		t.Fatal(err)
	}
	want := &sim.Scenario{
		Version: 1, Mapping: "none", Align: &yes, Sites: []sim.GridSite{
			{Name: "a", Trace: "t.swf", Procs: 4, Speed: "1", Policy: "cbf"},
			{Name: "b", Procs: 1 << 26, Speed: "1.25", Policy: "easy"},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("scenario (-want +got):\n%s", d)
	}
}

func TestScenarioErrorsNameTheKeyAndWhatIsAccepted(t *testing.T) {
	const good = "{name: a, trace: t.swf, procs: 4, policy: cbf}"
	site := func(s string) string { return "version: 1\nsites:\n  - " + s + "\n" }
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", []string{"version: 0, accepted: 1", "sites: 0, accepted: 1..10000"}},
		{"version", "version: 2\nsites: [" + good + "]\n", []string{"version: 2, accepted: 1"}},
		{"no site", "version: 1\n", []string{"sites: 0, accepted: 1..10000"}},
		{"unknown key", "version: 1\nsites: [" + good + "]\nalgin: true\n", []string{"line 3", "algin"}},
		{
			"unknown key of a site", site("{name: a, trace: t.swf, procs: 4,\n     policy: cbf, color: red}"),
			[]string{"line 4", "color"},
		},
		{"doubled key", "version: 1\nversion: 1\n", []string{"line 2", "version"}},
		{"no YAML", "sites: [", []string{"line"}},
		{
			"two documents", "version: 1\nsites: [" + good + "]\n---\nversion: 2\n",
			[]string{"line 3: more than one document"},
		},
		{"a list", "- 1\n", []string{"line 1"}},
		{
			"mapping", "version: 1\nmapping: best\nsites: [" + good + "]\n",
			[]string{`mapping: "best", accepted: none, mct`},
		},
		{
			"overrun", "version: 1\noverrun: never\nsites: [" + good + "]\n",
			[]string{`overrun: "never", accepted: kill, extend`},
		},
		{
			"tuning", "version: 1\ntuning: some\nsites: [" + good + "]\n",
			[]string{`tuning: "some", accepted: exhaustive, binary`},
		},
		{"no trace", site("{name: a, procs: 4, policy: cbf}"), []string{"sites: no site has a trace"}},
		{"no name", site("{trace: t.swf, procs: 4, policy: cbf}"), []string{`sites[0].name: ""`}},
		{
			"one name twice", "version: 1\nsites: [" + good + ", " + good + "]\n",
			[]string{`sites[1].name: "a", accepted: a name of its own`},
		},
		{
			"no policy", site("{name: a, trace: t.swf, procs: 4}"),
			[]string{`sites[0].policy: unknown policy "", accepted: ` + strings.Join(policy.Names(), ", ")},
		},
		{
			"unknown policy", site("{name: a, trace: t.swf, procs: 4, policy: sjf}"),
			[]string{`sites[0].policy: unknown policy "sjf", accepted: ` + strings.Join(policy.Names(), ", ")},
		},
		{
			"unknown setting", site("{name: a, trace: t.swf, procs: 4, policy: easy, settings: {depth: 3}}"),
			[]string{"sites[0].policy", `"depth"`, "accepted"},
		},
		{
			"speed 0", site("{name: a, trace: t.swf, procs: 4, policy: cbf, speed: 0}"),
			[]string{"sites[0].speed", `"0", accepted: a number from 0.001 to 1000`},
		},
		{
			"negative speed", site("{name: a, trace: t.swf, procs: 4, policy: cbf, speed: -1}"),
			[]string{`"-1", accepted`},
		},
		{
			"speed that is no number", site("{name: a, trace: t.swf, procs: 4, policy: cbf, speed: .nan}"),
			[]string{"sites[0].speed", "accepted"},
		},
		{
			"no processors", site("{name: a, trace: t.swf, procs: 0, policy: cbf}"),
			[]string{"sites[0].procs: 0, accepted: 1..67108864"},
		},
		{
			"too many processors", site("{name: a, trace: t.swf, procs: 67108865, policy: cbf}"),
			[]string{"sites[0].procs: 67108865, accepted: 1..67108864"},
		},
		{
			"10^12 processors", site("{name: a, trace: t.swf, procs: 1000000000000, policy: cbf}"),
			[]string{"sites[0].procs: 1000000000000, accepted: 1..67108864"},
		},
		{
			"10^30 processors", site("{name: a, trace: t.swf, procs: 1000000000000000000000000000000, policy: cbf}"),
			[]string{"line 3"},
		},
		{
			"all at once", "version: 3\nmapping: x\nsites: [{procs: -1, policy: cbf, speed: 1e9}]\n",
			[]string{
				"version: 3", "mapping: ", "sites[0].name", "sites[0].procs: -1", "sites[0].speed",
				"no site has a trace",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := sim.ParseScenario(strings.NewReader(c.text), "s.yaml")
			wrong, ok := errors.AsType[*sim.ScenarioError](err)
			if !ok {
				t.Fatalf("scenario %+v, error %v, want a ScenarioError", s, err)
			}
			for _, part := range append(c.want, "s.yaml") {
				if !strings.Contains(wrong.Error(), part) {
					t.Errorf("error does not tell %q:\n%v", part, wrong)
				}
			}
		})
	}
}

func TestScenarioFilesThatAreMissingOrHuge(t *testing.T) {
	if _, err := sim.ReadScenario(filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, ok := errors.AsType[*sim.ScenarioError](
		second(sim.ParseScenario(strings.NewReader(strings.Repeat("#", 16<<20+1)), "s.yaml")),
	); !ok {
		t.Error("a file of over 16 MiB is read")
	}
}

func second[T any](_ T, err error) error { return err }

func TestMissingTracesSayWhereTheyWereLookedFor(t *testing.T) {
	set := t.TempDir()
	t.Setenv(swf.TracesEnv, set)
	run := func(trace string) error {
		dir := files(t,
			map[string]string{"s.yaml": "version: 1\nsites: [{name: far, procs: 4, policy: cbf, trace: " + trace +
				"}]\n"})
		t.Chdir(dir)
		s, err := sim.ReadScenario("s.yaml")
		if err != nil {
			t.Fatal(err)
		}
		return second(s.Run(context.Background(), filepath.Join(dir, "s.yaml"), nil))
	}
	err := run("none.swf")
	missing, ok := errors.AsType[*swf.TraceNotFoundError](err)
	if !ok || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error %v, want a TraceNotFoundError", err)
	}
	wd, _ := filepath.Abs(".")
	for _, part := range []string{
		"site far", "none.swf", filepath.Join(wd, "none.swf"), filepath.Join(set, "none.swf"), swf.TracesEnv,
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error does not tell %q: %v", part, err)
		}
	}
	if len(missing.Looked) < 3 {
		t.Errorf("looked for %q, want the scenario's folder, DROVER_TRACES and more", missing.Looked)
	}
	for _, trace := range []string{"sub/none.swf", filepath.Join(set, "sub", "none.swf")} {
		if err := run(trace); !errors.Is(err, fs.ErrNotExist) ||
			!strings.Contains(err.Error(), filepath.Join("sub", "none.swf")) {
			t.Errorf("trace %s: %v, want that it is not there", trace, err)
		}
	}
}

func TestBrokenTraceLinesAreErrorsWithFileAndLine(t *testing.T) {
	dir := files(t, map[string]string{"t.swf": "; junk below\n" + rigid(1, 0, 1, 1, 1) + "2 0 -1 ten 1\n"})
	s := sim.Single{Trace: filepath.Join(dir, "t.swf"), Procs: 4, Policy: "easy"}
	err := second(s.Run(context.Background()))
	if wrong, ok := errors.AsType[*swf.ParseError](err); !ok || wrong.Line != 3 || wrong.Field != swf.FieldRun ||
		wrong.Path != s.Trace {
		t.Errorf("error %v, want line 3, field 4", err)
	}
}

func TestSingleRunsAreCheckedAtOnce(t *testing.T) {
	for _, c := range []struct {
		single sim.Single
		want   string // "" for none
	}{
		{sim.Single{Procs: 1, Policy: "fcfs"}, ""},
		{sim.Single{Procs: batch.MaxProcessors, Policy: "easy", PassEachEvent: true}, ""},
		{sim.Single{Procs: 0, Policy: "easy"}, "procs: 0, accepted: 1..67108864"},
		{sim.Single{Procs: 1_000_000_000_000, Policy: "easy"}, "procs: 1000000000000, accepted: 1..67108864"},
		{sim.Single{Procs: 1<<32 + 1, Policy: "easy"}, "procs: 4294967297, accepted"},
		{sim.Single{Procs: 1, Policy: "sjf"}, `unknown policy "sjf", accepted: ` + strings.Join(policy.Names(), ", ")},
		{sim.Single{Procs: 1, Policy: "cbf", Settings: batch.Settings{"depth": "3"}}, `"depth"`},
		{sim.Single{Procs: 1, Policy: "cbf", PassEachEvent: true}, "passes: event with policy cbf, accepted"},
	} {
		err := c.single.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.single, err, c.want)
		}
		if c.want != "" {
			if err := second(c.single.Run(context.Background())); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: run gives %v, want %q", c.single, err, c.want)
			}
		}
	}
}

// Two jobs of 317 years on a site a thousand times slower come after each other.
func TestJobsBeyondTheTimeRangeAreAnError(t *testing.T) {
	const years = 10_000_000_000
	dir := files(t, map[string]string{
		"t.swf":  rigid(7, 0, years, 2, years) + rigid(8, years, years, 2, years),
		"s.yaml": "version: 1\nsites: [{name: a, trace: t.swf, procs: 2, speed: 0.001, policy: fcfs}]\n",
	})
	path := filepath.Join(dir, "s.yaml")
	s, err := sim.ReadScenario(path)
	if err != nil {
		t.Fatal(err)
	}
	err = second(s.Run(context.Background(), path, nil))
	if end, ok := errors.AsType[*sim.HorizonError](err); !ok || end.Job != 7 {
		t.Errorf("error %v, want a HorizonError of job 7", err)
	}
	one := sim.Single{Trace: filepath.Join(dir, "t.swf"), Procs: 2, Policy: "cbf"}
	if r, err := one.Run(context.Background()); err != nil || r.Summary.Makespan != 2*years {
		t.Errorf("at speed 1: %v, want both jobs to run", err)
	}
	var lines strings.Builder
	for i := range 1000 {
		lines.WriteString(rigid(i+1, 0, years, 2, years))
	}
	many := sim.Single{Trace: filepath.Join(files(t, map[string]string{"t.swf": lines.String()}), "t.swf"), Procs: 2}
	for _, many.Policy = range []string{"fcfs", "easy", "cbf"} {
		if _, ok := errors.AsType[*sim.HorizonError](second(many.Run(context.Background()))); !ok {
			t.Errorf("%s: 1000 jobs of 317 years fit before the end of time", many.Policy)
		}
	}
}

func FuzzParseScenario(f *testing.F) {
	for _, seed := range []string{
		"", "version: 1\n", "sites: [", "- 1\n", "version: 1\n---\n",
		"version: 1\nmapping: mct\nalign: false\noverrun: extend\ntuning: binary\nsites:\n" +
			"  - {name: a, trace: t.swf, procs: 4, speed: 1.5, policy: cbf}\n",
		"version: 1\nsites: [{name: a, trace: t.swf, procs: 1000000000000, speed: 1e999, policy: sjf, settings: {a: " +
			"b}}]\n",
		"version: 1\nmapping: mct\nseed: 3\nmoldable: {}\nlocal: {share: 2/3}\ninput: 1GB\n" +
			"network: {bandwidth: 5MB/s, latency: 1d, links: [{from: a, to: b}]}\nreallocation: {}\n" +
			"sites:\n  - {name: a, trace: t.swf, from: 1.5d, length: 30d, procs: 4, policy: cbf}\n" +
			"  - {name: b, lublin: {jobs: 5, span: 3d, classes: divided, estimates: \"factor:2\"}, procs: 4, policy: " +
			"cbf}\n",
		"version: 1\nmapping: mct\n" +
			"moldable: {types: [{parallel: 1/4, limit: 9, share: 1/3}, {parallel: 1, limit: 65536, share: 4/6}]}\n" +
			"sites: [{name: a, trace: t.swf, procs: 4, policy: cbf}]\n",
		"a: &a [*a]\n", "version: {1: 2}\n", "sites: [null, ~, {}]\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := sim.ParseScenario(strings.NewReader(text), "s.yaml")
		if err != nil {
			if wrong, ok := errors.AsType[*sim.ScenarioError](err); !ok || len(wrong.Problems) == 0 ||
				wrong.Error() == "" {
				t.Fatalf("error %v, want a ScenarioError", err)
			}
			return
		}
		small := len(s.Sites) < 20
		for i := range s.Sites {
			small = small && s.Sites[i].Procs < 1000
		}
		if !small {
			return
		}
		// What is accepted makes a grid.
		if _, err := sim.NewGrid(s, nil); err != nil {
			t.Fatalf("%q is accepted, but: %v", text, err)
		}
	})
}
