package layout_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	module = "github.com/seed-9b8f70bb/drover"
	// policy is the row of every package directly below batch/policy that has no row
	// of its own, so that a new policy needs none.
	policy = "batch/policy/<name>"
	// anything, in a row, allows every package.
	anything = "*"
)

// layout is the table of allowed imports within the module: a package, and the
// rows whose packages it may import. "x/..." is the row of x and all below it.
//
// Files of tests are free: they make up callers and fakes from wherever those
// are. That is also why nothing may import batch/batchtest. What a row allows is used:
// an allowance that no file needs any more is an error.
var layout = map[string][]string{
	"proto/drover/v1/...": {"proto/drover/v1/..."},
	"proto/problem":       {},
	"proto/rpc":           {"proto/drover/v1/...", "proto/problem", "batch"},

	"internal/config":    {},
	"internal/freeport":  {},                  // for tests
	"internal/slurmtest": {"internal/slurmd"}, // for tests
	"internal/slurmd":    {"internal/freeport"},
	"internal/netns":     {},                                                                   // for tests
	"internal/nodetest":  {"internal/freeport", "batch/exec/process", "batch/exec/supervisor"}, // for tests

	"batch/plan/profile":  {},
	"batch":               {"batch/plan/profile"},
	"batch/plan/queue":    {"batch"},
	"batch/plan/counted":  {"batch", "batch/plan/profile", "batch/plan/queue"},
	"batch/plan/runtimes": {"batch"},
	"batch/plan/forecast": {"batch", "batch/plan/profile", "batch/plan/counted"},
	"batch/plan/needs":    {"batch"},
	"batch/plan/nodes":    {"batch"},
	policy:                {"batch", "batch/plan/profile", "batch/plan/queue", "batch/plan/counted"},
	"batch/policy": {
		"batch", policy, "batch/policy/convergent", "batch/policy/convergent/farm", "batch/policy/dfrs",
		"batch/policy/overbook",
	},
	"batch/policy/overbook": {policy, "batch", "batch/plan/counted", "batch/plan/runtimes"}, // on top of CBF
	"batch/engine":          {"batch"},
	"batch/batchtest":       {"batch", "batch/engine"},

	"batch/external":              {"batch"},
	"batch/external/externaltest": {"batch", "batch/external", "batch/plan/forecast", policy}, // for tests
	"batch/slurm":                 {"batch", "batch/external"},

	"batch/policy/dfrs/pack":  {"batch"},
	"batch/policy/dfrs/share": {"batch", "batch/policy/dfrs/pack"},
	"batch/policy/dfrs": {
		"batch", "batch/plan/counted", "batch/plan/runtimes", "batch/policy/dfrs/pack", "batch/policy/dfrs/share",
	},

	"batch/policy/convergent/farm":      {"batch"},
	"batch/policy/convergent/heuristic": {"batch", "batch/policy/convergent/farm"},
	"batch/policy/convergent/license":   {},
	"batch/policy/convergent/matching":  {},
	"batch/policy/convergent/roster":    {"batch", "batch/plan/counted", "batch/policy/convergent/farm"},
	"batch/policy/convergent/backfill": {
		"batch", "batch/policy/convergent/farm", "batch/policy/convergent/heuristic", "batch/policy/convergent/roster",
	},
	"batch/policy/convergent/edf": {"batch", "batch/policy/convergent/farm", "batch/policy/convergent/roster"},
	"batch/policy/convergent": {
		"batch", "batch/policy/convergent/farm", "batch/policy/convergent/heuristic", "batch/policy/convergent/license",
		"batch/policy/convergent/matching", "batch/policy/convergent/roster", "batch/policy/convergent/backfill",
		"batch/policy/convergent/edf",
	},

	"batch/exec":                    {"batch", "batch/plan/nodes", "batch/exec/process"},
	"batch/exec/process":            {},
	"batch/exec/cgroup":             {},
	"batch/exec/supervisor/journal": {"batch/exec/process"},
	"batch/exec/supervisor/solo":    {"batch/exec/supervisor/journal", "batch/exec/process"},
	"batch/exec/attempt":            {"batch", "batch/exec/process", "batch/exec/supervisor/journal"},
	"batch/exec/rpc":                {"batch/exec/attempt", "proto/drover/v1/..."},
	"batch/exec/supervisor/rpc": {
		"batch", "batch/exec/attempt", "batch/exec/process", "batch/exec/rpc", "proto/drover/v1/...", "proto/rpc",
	},
	"batch/exec/supervisor": {
		"batch", "batch/exec", "batch/exec/attempt", "batch/exec/process", "batch/exec/supervisor/journal",
		"batch/exec/supervisor/rpc",
	},
	"batch/exec/node/pool": {
		"batch/exec/node", "batch/exec/attempt", "batch/exec/node/remote", "batch", "batch/exec", "batch/exec/cgroup",
	},
	"batch/exec/node": {
		"batch", "batch/exec", "batch/exec/attempt", "batch/exec/cgroup", "batch/exec/supervisor",
		"batch/exec/supervisor/journal",
	},
	"batch/exec/node/rpc": {
		"batch", "batch/exec", "batch/exec/attempt", "batch/exec/cgroup", "batch/exec/node", "batch/exec/rpc",
		"batch/exec/supervisor", "proto/drover/v1/...", "proto/rpc",
	},
	"batch/exec/node/daemon": {
		"batch/exec", "batch/exec/attempt", "batch/exec/cgroup", "batch/exec/node", "batch/exec/node/rpc",
		"batch/exec/supervisor", "internal/config",
	},
	"batch/exec/node/remote": {
		"batch/exec", "batch/exec/attempt", "batch/exec/cgroup", "batch/exec/node", "batch/exec/node/rpc",
		"batch/exec/supervisor",
	},

	"reallocation":        {"batch"},
	"agent/gossip":        {},
	"agent/mapping":       {"batch"},
	"agent/rounds":        {"batch", "reallocation"},
	"client/submission":   {"batch", "proto/problem"},
	"client/rpc":          {"client/submission", "proto/drover/v1/...", "proto/problem", "proto/rpc"},
	"client/npy":          {},
	"client/gridrpc":      {"client", "client/submission", "proto/problem"},
	"client/clienttest":   {"proto/drover/v1/...", "proto/problem", "proto/rpc"}, // for tests
	"server/services/...": {"server/services/..."},
	"server/catalogue":    {"batch", "internal/config"},
	"server/files/blobs":  {},
	"server/files/depot":  {"server/files/blobs"},
	"server/files": {
		"server/site", "server/catalogue", "server/files/blobs", "batch", "batch/exec/supervisor/journal",
		"proto/problem",
	},
	"server/rpc": {
		"server/site", "server/catalogue", "server/store", "server/files", "server/files/blobs", "server/files/depot",
		"agent/gossip", "batch", "batch/policy", "proto/drover/v1/...", "proto/problem", "proto/rpc",
	},
	"server/store": {},
	"server/loop":  {"batch", "server/site"},
	"server/site":  {"batch", "batch/policy", "proto/problem", "server/catalogue"},

	"agent/rpc": {
		"agent/gossip", "agent/mapping", "agent/rounds", "reallocation", "batch", "proto/drover/v1/...",
		"proto/problem", "proto/rpc",
	},
	"agent": {
		"agent/mapping", "agent/rounds", "agent/gossip", "agent/rpc", "reallocation", "batch", "internal/config",
		"proto/problem",
	},
	"client": {"client/rpc", "client/submission", "client/npy", "internal/config", "proto/problem", "proto/rpc"},
	"server": {
		"server/loop", "server/site", "server/catalogue", "server/rpc", "server/files", "server/files/blobs",
		"server/files/depot", "server/store", "batch", "batch/policy", "batch/plan/forecast", "batch/exec",
		"batch/external", "batch/slurm", "batch/plan/needs", "batch/exec/attempt", "batch/exec/cgroup",
		"batch/exec/node", "batch/exec/node/pool", "batch/exec/node/remote", "batch/exec/supervisor",
		"batch/exec/supervisor/journal", "batch/exec/supervisor/solo", "internal/config", "agent/gossip",
		"proto/problem",
	},

	"sim/swf":    {},
	"sim/lublin": {"sim/swf"},
	"sim/faults": {
		"batch/engine", "batch", "batch/policy", "batch/plan/forecast", "server/loop", "server/site",
		"server/catalogue", "client/submission", "proto/problem",
	},
	"sim/scenarios": {"sim"},
	"sim/campaign":  {"sim", "sim/scenarios", "internal/config", "batch", "reallocation", "server/site"},
	"sim": {
		"batch/engine", "sim/swf", "sim/lublin", "internal/config",
		"batch", "batch/plan/profile", "batch/plan/nodes",
		policy, "batch/plan/forecast", "batch/policy",
		"server/site", "server/catalogue", "agent/mapping", "reallocation",
	},

	"internal/daemon":              {},
	"internal/parallel":            {},
	"internal/rusage":              {},
	"internal/cmdline":             {"sim", "sim/campaign", "sim/scenarios", "sim/swf"},
	"internal/cmdline/cmdlinetest": {}, // for tests

	"cmd/drover":         {anything},
	"cmd/drover-lab/...": {anything},
}

func TestPackagesImportWhatTheLayoutAllowsAndNothingElse(t *testing.T) {
	problems, used, err := check(os.DirFS("../.."), layout)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
	for _, row := range slices.Sorted(maps.Keys(layout)) {
		if used[row] == nil {
			t.Errorf("row %s: no package falls under it", row)
			continue
		}
		for _, allowed := range layout[row] {
			if allowed != anything && !used[row][allowed] && path.Base(row) != "..." {
				t.Errorf("row %s allows %s, which no package of the row imports", row, allowed)
			}
		}
	}
}

// A server knows external batch systems by its table only.
func TestOneFileOfTheServerImportsSlurm(t *testing.T) {
	const table = "external_kinds.go"
	files, err := fs.Glob(os.DirFS("../../server"), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path.Join("../../server", name), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			if spec.Path.Value == strconv.Quote(module+"/batch/slurm") && name != table {
				t.Errorf("server/%s imports batch/slurm; only server/%s may", name, table)
			}
		}
	}
}

func TestLayoutAllowsOnlyRowsThatExist(t *testing.T) {
	for _, row := range slices.Sorted(maps.Keys(layout)) {
		for _, allowed := range layout[row] {
			if _, ok := layout[allowed]; !ok && allowed != anything {
				t.Errorf("row %s allows %s, which is no row of the table", row, allowed)
			}
		}
	}
}

// check returns what in tree breaks the table or the rule about packages named rpc, in
// order of the files' paths, and which rows the packages of each row import. It fails
// only when tree cannot be read or parsed.
func check(tree fs.FS, table map[string][]string) (problems []string, used map[string]map[string]bool, err error) {
	used = map[string]map[string]bool{}
	unknown := map[string]bool{}
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return enter(tree, name)
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		importer := path.Dir(name)
		row, ok := rowOf(importer, table)
		if !ok {
			if !unknown[importer] {
				problems = append(problems, fmt.Sprintf(
					"%s: package %s has no row in the table of layout_test.go: add one that says what it may import",
					name, importer))
			}
			unknown[importer] = true
			return nil
		}
		if used[row] == nil {
			used[row] = map[string]bool{}
		}
		found, err := checkFile(tree, name, row, table, used[row])
		problems = append(problems, found...)
		return err
	})
	return problems, used, err
}

// enter reports whether the Go tool would look for our packages in a directory.
func enter(tree fs.FS, dir string) error {
	base := path.Base(dir)
	if dir == "." {
		return nil
	}
	if base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return fs.SkipDir
	}
	if _, err := fs.Stat(tree, path.Join(dir, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

// checkFile compares one file's imports with the row of its package, and adds the rows
// that it imports to used.
func checkFile(tree fs.FS, name, row string, table map[string][]string, used map[string]bool) ([]string, error) {
	source, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	importer := path.Dir(name)
	var problems []string
	for _, spec := range file.Imports {
		full, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: import %s: %w", name, spec.Path.Value, err)
		}
		imported, ours := strings.CutPrefix(full, module+"/")
		if !ours {
			continue
		}
		at := fmt.Sprintf("%s:%d: ", name, files.Position(spec.Pos()).Line)
		target, _ := rowOf(imported, table)
		used[target] = true
		if may := table[row]; !slices.Contains(may, target) && !slices.Contains(may, anything) {
			problems = append(problems, at+fmt.Sprintf(
				"%s may not import %s; row %s of the table in layout_test.go allows %s",
				importer, imported, row, orNothing(may)))
			continue
		}
		if target == "proto/drover/v1/..." && !mayTranslate(name) {
			problems = append(problems, at+fmt.Sprintf(
				"%s may not import %s: only packages named rpc do, which translate and decide nothing",
				importer, imported))
		}
	}
	return problems, nil
}

// rowOf returns the row that a package falls under: its own, that of a policy,
// or the longest "x/..." that covers it.
func rowOf(pkg string, table map[string][]string) (string, bool) {
	if _, ok := table[pkg]; ok {
		return pkg, true
	}
	if path.Dir(pkg) == path.Dir(policy) {
		_, ok := table[policy]
		return policy, ok
	}
	for dir := pkg; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if _, ok := table[dir+"/..."]; ok {
			return dir + "/...", true
		}
	}
	return "", false
}

// mayTranslate reports whether a file can import proto's types: one of a package
// named rpc, of proto itself, or of the fakes for tests.
func mayTranslate(file string) bool {
	pkg := path.Dir(file)
	top, _, _ := strings.Cut(pkg, "/")
	return path.Base(pkg) == "rpc" || top == "proto" || pkg == "client/clienttest"
}

func orNothing(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

func TestCheckFindsWhatTheLayoutForbids(t *testing.T) {
	table := map[string][]string{
		"proto/drover/v1/...": {"proto/drover/v1/..."},
		"batch/profile":       {},
		"batch":               {"batch/profile"},
		policy:                {"batch"},
		"batch/exec":          {"batch"},
		"server/site":         {"batch", policy},
		"server":              {"server/site", "batch/exec", "proto/drover/v1/..."},
		"server/rpc":          {"server/site", "proto/drover/v1/..."},
		"cmd/drover":          {anything},
	}
	const v1 = "proto/drover/v1"
	for name, tc := range map[string]struct {
		file    string
		imports []string
		want    string // how the one problem begins, or empty
	}{
		"an allowed import": {
			"batch/job.go", []string{"batch/profile"}, "",
		},
		"a row that allows nothing": {
			"batch/profile/a.go",
			[]string{"batch"},
			"batch/profile/a.go:4: batch/profile may not import batch; row batch/profile of the table in " +
				"layout_test.go allows nothing",
		},
		"a core importing a driver": {
			"server/site/a.go",
			[]string{"batch", "server"},
			"server/site/a.go:5: server/site may not import server; row server/site of the table in layout_test.go " +
				"allows batch, batch/policy/<name>",
		},
		"a core importing an executor": {
			"server/site/a.go",
			[]string{"batch/exec"},
			"server/site/a.go:4: server/site may not import batch/exec;",
		},
		"a core importing proto": {
			"server/site/rpc.go",
			[]string{v1},
			"server/site/rpc.go:4: server/site may not import proto/drover/v1;",
		},
		"a new policy": {
			"batch/policy/newest/a.go", []string{"batch"}, "",
		},
		"a core importing a new policy": {
			"server/site/a.go", []string{"batch/policy/newest"}, "",
		},
		"a policy importing another": {
			"batch/policy/newest/a.go",
			[]string{"batch/policy/fcfs"},
			"batch/policy/newest/a.go:4: batch/policy/newest may not import batch/policy/fcfs; row " +
				"batch/policy/<name> of",
		},
		"a policy that does I/O": {
			"batch/policy/newest/a.go",
			[]string{"batch/exec"},
			"batch/policy/newest/a.go:4: batch/policy/newest may not import batch/exec;",
		},
		"a package below a policy": {
			"batch/policy/newest/deep/a.go", nil,
			"batch/policy/newest/deep/a.go: package batch/policy/newest/deep has no row in the table of " +
				"layout_test.go: add one",
		},
		"a package without a row": {
			"util/a.go",
			[]string{"server"},
			"util/a.go: package util has no row in the table of layout_test.go: add one",
		},
		"importing a package without a row": {
			"server/a.go",
			[]string{"util"},
			"server/a.go:4: server may not import util;",
		},
		"a command importing anything": {
			"cmd/drover/a.go", []string{"server", "sim"}, "",
		},
		"proto in a package named rpc": {
			"server/rpc/job.go", []string{v1}, "",
		},
		"proto in another package": {
			"server/rpc_job.go",
			[]string{v1 + "/droverv1connect"},
			"server/rpc_job.go:4: server may not import proto/drover/v1/droverv1connect: only packages named rpc do",
		},
		"generated code importing generated": {
			v1 + "/droverv1connect/a.go", []string{v1}, "",
		},
		"a test importing what it likes": {
			"server/site/a_test.go", []string{"server", v1}, "",
		},
		"a directory the Go tool skips": {
			"server/testdata/a.go", []string{"util"}, "",
		},
		"another module in the tree": {
			"nested/a.go", []string{"util"}, "",
		},
		"a module whose name begins with ours": {
			"batch/a.go", []string{"../drover-tools/server"}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			source := "package p\n\nimport (\n"
			for _, imported := range tc.imports {
				source += fmt.Sprintf("\t%q\n", path.Join(module, imported))
			}
			tree := fstest.MapFS{
				tc.file:         {Data: []byte(source + ")\n")},
				"nested/go.mod": {Data: []byte("module nested\n")},
			}
			got, _, err := check(tree, table)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case tc.want == "" && len(got) > 0:
				t.Errorf("problems: %q, want none", got)
			case tc.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], tc.want)):
				t.Errorf("problems: %q, want one that begins with %q", got, tc.want)
			}
		})
	}
}

func TestCheckFailsOnAFileItCannotParse(t *testing.T) {
	tree := fstest.MapFS{"batch/a.go": {Data: []byte("package p\nimport (")}}
	if _, _, err := check(tree, layout); err == nil {
		t.Error("check of a broken file: no error")
	}
}
