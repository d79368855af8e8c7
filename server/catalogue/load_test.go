package catalogue

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

const good = `
version: 1
services:
  - name: sleep
    doc: Does nothing for a while.
    args:
      - {name: seconds, type: float, min: 0.1, max: 3600, default: 1, doc: How long.}
    command: [drover, service, sleep, "{seconds}"]
    model:
      fixed: {width: 1, time: seconds}
  - name: lu
    doc: Solves a linear system.
    args:
      - {name: matrix, type: file}
      - {name: repeat, type: int, min: 1, max: 100, default: 2}
      - {name: method, type: string, choices: [dense, banded], default: dense}
      - {name: note, type: string, max_length: 8, default: ""}
      - {name: check, type: bool, default: false}
      - {name: solution, type: file-out}
    command: [lu, "--matrix={matrix}", --out, "{solution}", "--{method}", "{note}", "w={width} t={walltime} {{{check}}}"]
    env: {THREADS: "{width}", MODE: plain}
    memory: 1.5GiB
    walltime: {factor: 2, margin: 10s}
    model:
      amdahl: {work: "(method == 'dense' ? 10 : 1) * repeat * matrix.size / 1e3", parallel: 0.75, limit: 4, max_width: 8}
  - name: render
    doc: Renders.
    command: [render]
    walltime: {factor: 1}
    model:
      table: {4: 30s, 1: 100s, 2: 5 * 11}
`

func load(t *testing.T, text string) *Catalogue {
	t.Helper()
	c, err := Load(strings.NewReader(text), "test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func service(t *testing.T, c *Catalogue, name string) *Service {
	t.Helper()
	s, err := c.Service(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLoadReadsServicesByName(t *testing.T) {
	c := load(t, good)
	var names []string
	for _, s := range c.Services() {
		names = append(names, s.Name)
	}
	if diff := cmp.Diff([]string{"lu", "render", "sleep"}, names); diff != "" {
		t.Error(diff)
	}
	lu := service(t, c, "lu")
	if lu.Memory != 3<<29 || lu.Doc != "Solves a linear system." || len(lu.Arguments) != 6 {
		t.Errorf("lu: %+v", lu)
	}
	want := []bool{true, false, false, false, false, false}
	for i, a := range lu.Arguments {
		if a.Required != want[i] {
			t.Errorf("%s: required %v", a.Name, a.Required)
		}
	}
}

func TestServicesAreNotRestartableByDefault(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "    restartable: false\n": false,
		"    restartable: true\n": true,
	} {
		c := load(t, strings.Replace(good, "    doc: Renders.\n", "    doc: Renders.\n"+text, 1))
		if got := service(t, c, "render").Restartable; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestServicesAreNotCheckpointableByDefault(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "    checkpointable: false\n": false,
		"    checkpointable: true\n": true,
	} {
		c := load(t, strings.Replace(good, "    doc: Renders.\n", "    doc: Renders.\n"+text, 1))
		if got := service(t, c, "render").Checkpointable; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestCheckpointIsASignalOrACommandWithPlaceholders(t *testing.T) {
	for text, want := range map[string]*batch.Checkpoint{
		"":                                 nil,
		"    checkpoint: {signal: USR1}\n": {Signal: "SIGUSR1", Grace: DefaultGrace, After: DefaultAfter},
		"    checkpoint: {command: [save, \"{width}x{walltime}\"], grace: 5s, after: 0s}\n": {Command: []string{
			"save",
			"3x7",
		}, Grace: 5 * batch.Second},
		"    checkpoint: {command: [save], signal: TERM}\n": {
			Signal:  "SIGTERM",
			Command: []string{"save"}, Grace: DefaultGrace, After: DefaultAfter,
		},
	} {
		s := service(t, load(t, strings.Replace(good, "    doc: Renders.\n", "    doc: Renders.\n"+text, 1)), "render")
		v, err := s.Bind(nil)
		if err != nil {
			t.Fatal(err)
		}
		got := s.Checkpoint(v, Launch{Shape: batch.Shape{Width: 3, Walltime: 7 * batch.Second}})
		if diff := cmp.Diff(want, got); diff != "" || s.Checkpoints() != (want != nil) ||
			s.Checkpointable != (want != nil) {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestUnknownServiceListsTheKnownOnes(t *testing.T) {
	_, err := load(t, good).Service("lux")
	var unknown *UnknownService
	if !errors.As(err, &unknown) {
		t.Fatalf("got %v", err)
	}
	if diff := cmp.Diff(&UnknownService{Name: "lux", Known: []string{"lu", "render", "sleep"}}, unknown); diff != "" {
		t.Error(diff)
	}
}

func TestLoadReportsEveryProblemWithItsLineAndKey(t *testing.T) {
	const head = "version: 1\nservices:\n"
	const service = head + "  - name: a\n    doc: A.\n    command: [a]\n"
	const model = "    model: {fixed: {width: 1, time: 1s}}\n"
	tests := []struct {
		name, text string
		want       []string // beginnings of the problems
	}{
		{"empty", "", []string{"c.yaml:1: empty"}},
		{"syntax", "version: 1\nservices: [\n", []string{"c.yaml:2: YAML: "}},
		{
			"checkpoint without a way", service + "    checkpoint: {grace: 1s}\n" + model,
			[]string{"c.yaml:6: services[0].checkpoint: accepted: a signal, a command or both"},
		},
		{"checkpoint that is none", service + "    checkpoint: {signal: KILL, command: [], grace: 2h, after: 2h}\n" +
			model, []string{
			`c.yaml:6: services[0].checkpoint.signal: got "KILL", accepted: HUP, INT, USR1, USR2, TERM`,
			"c.yaml:6: services[0].checkpoint.command: empty",
			`c.yaml:6: services[0].checkpoint.after: got "2h"`, `c.yaml:6: services[0].checkpoint.grace: got "2h"`,
		}},
		{
			"launch", service + "    launch: each\n" + model,
			[]string{`c.yaml:6: services[0].launch: got "each", accepted: once, per-node, per-task`},
		},
		{
			"checkpoint denied", service + "    checkpointable: false\n    checkpoint: {signal: TERM}\n" + model,
			[]string{"c.yaml:7: services[0].checkpoint: conflicts with checkpointable: false"},
		},
		{"not a mapping", "[]", []string{`c.yaml:1: got a list, accepted: a mapping`}},
		{"version", "version: 2\nservices: []\n", []string{`c.yaml:1: version: got "2", accepted: 1`}},
		{"missing", "services: []\n", []string{"c.yaml:1: version: missing"}},
		{
			"unknown key at the top", "version: 1\nservice: 1\nservices: []\n",
			[]string{"c.yaml:2: service: unknown key, accepted: version, services"},
		},
		{"unknown keys", service + "    modle: 1\n    comand: 2\n" + model, []string{
			"c.yaml:6: services[0].modle: unknown key, accepted: name, doc, args, script, command, env, memory, " +
				"licenses, score, restartable, checkpointable, checkpoint, launch, walltime, model",
			"c.yaml:7: services[0].comand: unknown key",
		}},
		{"key twice", service + model + "    doc: B\n", []string{"c.yaml:7: services[0].doc: given twice"}},
		{
			"name twice", service + model + "  - name: a\n    doc: A.\n    command: [a]\n" + model,
			[]string{`c.yaml:7: services[1].name: "a" is already the service of line 3`},
		},
		{
			"bad name", head + "  - name: A b\n    doc: A.\n    command: [a]\n" + model,
			[]string{`c.yaml:3: services[0].name: got "A b"`},
		},
		{"many at once", head + "  - doc: A.\n    command: a\n    memory: 3\n", []string{
			"c.yaml:3: services[0].name: missing", "c.yaml:3: services[0].model: missing",
			`c.yaml:4: services[0].command: got "a", accepted: a list`,
			`c.yaml:5: services[0].memory: got "3", accepted: bytes with a unit`,
		}},
		{
			"empty command", head + "  - name: a\n    doc: A.\n    command: []\n" + model,
			[]string{"c.yaml:5: services[0].command: empty"},
		},
		{
			"empty program", head + "  - name: a\n    doc: A.\n    command: [\"\", b]\n" + model,
			[]string{"c.yaml:5: services[0].command[0]: empty"},
		},
		{
			"null program", head + "  - name: a\n    doc: A.\n    command: [~]\n" + model,
			[]string{"c.yaml:5: services[0].command[0]: got nothing"},
		},
		{
			"placeholder", head + "  - name: a\n    doc: A.\n    command: [a, \"{n}\"]\n" + model,
			[]string{`c.yaml:5: services[0].command[1]: placeholder "n"`},
		},
		{
			"open brace", head + "  - name: a\n    doc: A.\n    command: [a, \"{width\"]\n" + model,
			[]string{`c.yaml:5: services[0].command[1]: placeholder "width"`},
		},
		{
			"single brace", head + "  - name: a\n    doc: A.\n    command: [a, \"}\"]\n" + model,
			[]string{`c.yaml:5: services[0].command[1]: single }`},
		},
		{
			"restartable", service + "    restartable: yes\n" + model,
			[]string{`c.yaml:6: services[0].restartable: got "yes", accepted: true (`},
		},
		{
			"restartable list", service + "    restartable: [true]\n" + model,
			[]string{"c.yaml:6: services[0].restartable: got a list, accepted: true ("},
		},
		{"environment", service + "    env: {DROVER_X: 1, 9: 2, C: [3]}\n" + model, []string{
			"c.yaml:6: services[0].env.DROVER_X: accepted", "c.yaml:6: services[0].env.9: accepted",
			"c.yaml:6: services[0].env.C: got a list",
		}},
		{
			"argument",
			service + "    args:\n      - {name: n, type: integer}\n      - {name: s, type: string, min: 1}\n" +
				"      - {name: i, type: int, min: 5, max: 4, default: 9}\n" +
				"      - {name: i, type: file, default: x}\n      - {name: width, type: int}\n" + model,
			[]string{
				`c.yaml:7: services[0].args[0].type: got "integer"`,
				"c.yaml:8: services[0].args[1].min: not for type string",
				"c.yaml:9: services[0].args[2].max: got 4, accepted: at least min, 5",
				`c.yaml:9: services[0].args[2].default: got "9"`,
				"c.yaml:10: services[0].args[3].default: not for type file",
				`c.yaml:10: services[0].args[3].name: "i" is given twice`,
				`c.yaml:11: services[0].args[4].name: "width" is reserved`,
			},
		},
		{"choices", service +
			"    args:\n      - {name: s, type: string, choices: [], default: a}\n" +
			"      - {name: z, type: string, choices: [a], default: b}\n" + model, []string{
			"c.yaml:7: services[0].args[0].choices: empty",
			`c.yaml:8: services[0].args[1].default: got "b", accepted: one of a`,
		}},
		{
			"texts",
			head + "  - name: a\n    doc: \"two\\nlines\"\n    command: [a]\n    args:\n" +
				"      - {name: x, type: int, max: ~, doc: {}, default: []}\n" +
				"      - {name: y, type: string, max_length: 5000}\n      - 3\n" + model,
			[]string{
				"c.yaml:4: services[0].doc: accepted: one line", "c.yaml:7: services[0].args[0].doc: got a mapping",
				"c.yaml:7: services[0].args[0].max: got nothing", "c.yaml:7: services[0].args[0].default: got a list",
				`c.yaml:8: services[0].args[1].max_length: got "5000", accepted: an integer, 1..4096`,
				`c.yaml:9: services[0].args[2]: got "3", accepted: a mapping`,
			},
		},
		{"no mapping for the environment", service + "    env: [a]\n    args: {}\n" + model, []string{
			"c.yaml:6: services[0].env: got a list", "c.yaml:7: services[0].args: got a mapping, accepted: a list",
		}},
		{
			"licenses and a score",
			service + "    licenses: [cad, cad, {name: 'a b'}, {name: mesh, copies: 0}, {copies: 1}, '']\n" +
				"    score: 0\n" +
				model,
			[]string{
				`c.yaml:6: services[0].licenses[1]: "cad" is given twice, accepted: once, with its copies`,
				`c.yaml:6: services[0].licenses[2].name: got "a b", accepted: a word of at most 255 bytes`,
				`c.yaml:6: services[0].licenses[3].copies: got "0", accepted: an integer, 1..`,
				"c.yaml:6: services[0].licenses[4].name: missing",
				`c.yaml:6: services[0].licenses[5]: got "", accepted: a word`,
				`c.yaml:7: services[0].score: got "0", accepted: an integer, 1..2147483647`,
			},
		},
		{
			"licenses that are no list", service + "    licenses: cad\n" + model,
			[]string{"c.yaml:6: services[0].licenses: got \"cad\", accepted: a list"},
		},
		{"no model", service + "    model: {}\n", []string{"c.yaml:6: services[0].model: got 0 models"}},
		{
			"two models", service + "    model: {fixed: {width: 1, time: 1s}, table: {1: 1s}}\n",
			[]string{"c.yaml:6: services[0].model: got 2 models"},
		},
		{"fixed", service + "    model: {fixed: {width: 0, time: 0}}\n", []string{
			`c.yaml:6: services[0].model.fixed.width: got "0"`, "c.yaml:6: services[0].model.fixed.time: got 0 seconds",
		}},
		{
			"amdahl", service + "    model: {amdahl: {work: m * 2, parallel: 1.5, limit: 0, min_width: 4, max_width: " +
				"3}}\n",
			[]string{
				`c.yaml:6: services[0].model.amdahl.work: expression "m * 2": unknown name m at column 1`,
				`c.yaml:6: services[0].model.amdahl.parallel: got "1.5", accepted: a number, 0..1`,
				`c.yaml:6: services[0].model.amdahl.limit: got "0"`,
				`c.yaml:6: services[0].model.amdahl.max_width: got "3", accepted: an integer, 4..`,
			},
		},
		{"table", service + "    model: {table: {0: 1s, 2: 1s, 02: 1s, 3: -1}}\n", []string{
			`c.yaml:6: services[0].model.table.0: got "0"`, "c.yaml:6: services[0].model.table.02: given twice",
			"c.yaml:6: services[0].model.table.3: got -1 seconds",
		}},
		{"walltime", service + "    walltime: {factor: 0.5, margin: 3}\n" + model, []string{
			`c.yaml:6: services[0].walltime.factor: got "0.5", accepted: a number, 1..100`,
			`c.yaml:6: services[0].walltime.margin: got "3", accepted: a time with its unit`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(strings.NewReader(tt.text), "c.yaml")
			var bad *LoadError
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want a *LoadError", err)
			}
			got := strings.Split(bad.Error(), "\n")
			if len(got) != len(tt.want) {
				t.Fatalf("got:\n%v\nwant %d problems", bad, len(tt.want))
			}
			for i := range got {
				if !strings.HasPrefix(got[i], tt.want[i]) {
					t.Errorf("got  %s\nwant %s...", got[i], tt.want[i])
				}
			}
		})
	}
}

func TestLoadReturnsTheReadersError(t *testing.T) {
	_, err := Load(iotest.ErrReader(io.ErrUnexpectedEOF), "c.yaml")
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
}

func TestLoadRefusesHugeFilesAndSecondDocuments(t *testing.T) {
	for _, text := range []string{strings.Repeat("#", MaxFile+1), good + "---\nversion: 1\n", good + "---\n["} {
		_, err := Load(strings.NewReader(text), "c.yaml")
		var bad *LoadError
		if !errors.As(err, &bad) || len(bad.Problems) != 1 {
			t.Errorf("got %v", err)
		}
	}
}

func TestLoadFollowsAliases(t *testing.T) {
	c := load(t, `
version: 1
services:
  - {name: a, doc: A., command: &c [run], model: &m {fixed: {width: 2, time: 3s}}}
  - {name: b, doc: B., command: *c, model: *m}
`)
	if lo, hi, moldable := service(t, c, "b").Widths(); lo != 2 || hi != 2 || moldable {
		t.Errorf("got %d..%d", lo, hi)
	}
	_, err := Load(strings.NewReader("version: 1\nservices: &a [*a]\n"), "c.yaml")
	var bad *LoadError
	if !errors.As(err, &bad) {
		t.Errorf("alias of itself: got %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(good)
	f.Add("version: 1\nservices: &a [*a]\n")
	f.Add("version: 1\nservices:\n- {name: a, doc: b, command: ['{width}'], model: {amdahl: {work: 'let x = 2 ** 3; " +
		"x > 1 ? sqrt(x) : -x', parallel: 0.5}}}")
	f.Add("version: 1\nservices:\n- {name: a, doc: b, command: [a], args: [{name: f, type: file}], model: {table: " +
		"{1: f.size, 2: 'map(1..3, #)'}}}")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Load(strings.NewReader(text), "fuzz.yaml")
		if err != nil {
			var bad *LoadError
			if !errors.As(err, &bad) || len(bad.Problems) == 0 {
				t.Fatalf("untyped error: %v", err)
			}
			for _, p := range bad.Problems {
				if p.Line < 1 {
					t.Fatalf("problem without a line: %+v", p)
				}
			}
			return
		}
		// Every accepted service must be usable, whatever its formulas compute.
		for _, s := range c.Services() {
			given := make(map[string]Value)
			for _, a := range s.Arguments {
				if a.Required {
					given[a.Name] = sample(a)
				}
			}
			v, err := s.Bind(given)
			if err != nil {
				continue
			}
			checkShapes(t, s, v, 64)
			if got := s.Args(v, Launch{}); len(got) != len(s.command) {
				t.Fatalf("%d elements of %d", len(got), len(s.command))
			}
		}
	})
}

func sample(a Argument) Value {
	switch a.Type {
	case TypeInt:
		return Int(a.Min.Int())
	case TypeFloat:
		return Float(a.Min.Float())
	case TypeString:
		if a.Choices != nil {
			return String(a.Choices[0])
		}
		return String("")
	case TypeBool:
		return Bool(true)
	default:
		return FileIn(File{Size: 1000})
	}
}
