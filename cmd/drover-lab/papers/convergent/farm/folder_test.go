package farm

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/rows"
)

func casesOf(n int) []Case {
	p := PaperPlan()
	p.Sets = []string{Loads}
	return p.Cases()[:n]
}

func mustOpen(t *testing.T, dir string) *Folder {
	t.Helper()
	f, err := OpenFolder(dir, "v1")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustAdd(t *testing.T, f *Folder, cases ...Case) {
	t.Helper()
	for _, c := range cases {
		if err := f.Add(&Row{Case: c, Ended: 3, Slowdown: 1.25, Workload: []int{0, 2}},
			&Cost{Case: c, Seconds: 2, Plans: 4}); err != nil {
			t.Fatal(err)
		}
	}
}

func mustClose(t *testing.T, f *Folder) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func text(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, RowsName))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAFolderCutInTheMiddleOfARowContinues(t *testing.T) {
	cases := casesOf(3)
	whole := t.TempDir()
	f := mustOpen(t, whole)
	mustAdd(t, f, cases[2], cases[0], cases[1])
	mustClose(t, f)
	want := text(t, whole)
	for cut := 0; cut <= len(want); cut += 7 {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, RowsName), []byte(want[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		f := mustOpen(t, dir)
		missing := slices.DeleteFunc(slices.Clone(cases), f.Has)
		if n := strings.Count(want[:cut], "\n"); len(missing) != 3-n {
			t.Errorf("cut at %d: %d missing, want %d", cut, len(missing), 3-n)
		}
		mustAdd(t, f, missing...)
		mustClose(t, f)
		if got := text(t, dir); got != want {
			t.Fatalf("cut at %d (-want +got):\n%s", cut, cmp.Diff(want, got))
		}
	}
}

func TestAFolderHasTheRowsAndCostsOfEarlierProcesses(t *testing.T) {
	cases, dir := casesOf(2), t.TempDir()
	f := mustOpen(t, dir)
	mustAdd(t, f, cases[1])
	mustClose(t, f)
	f = mustOpen(t, dir)
	defer mustClose(t, f)
	mustAdd(t, f, cases[0])
	rows, costs := f.Rows(cases)
	if len(rows) != 2 || len(costs) != 2 || rows[0].Compare(&rows[1].Case) >= 0 || rows[0].Case != costs[0].Case ||
		costs[1].Plan() != 2./3 || rows[0].Slowdown != 1.25 {
		t.Errorf("%+v\n%+v", rows, costs)
	}
	if rows, _ := f.Rows(cases[:1]); len(rows) != 1 {
		t.Error("rows of other cases")
	}
}

func TestAFolderIsLockedAndHasOneSchema(t *testing.T) {
	dir := t.TempDir()
	f := mustOpen(t, dir)
	if _, err := OpenFolder(dir, "v2"); !errors.As(err, new(*rows.LockedError)) {
		t.Errorf("opened twice: %v", err)
	}
	mustClose(t, f)
	f, err := OpenFolder(dir, "v2")
	if err != nil || f.BegunBy() != "v1" {
		t.Fatalf("%v, by %s", err, f.BegunBy())
	}
	mustClose(t, f)
	for _, about := range []string{"{", `{"schema":"drover.sim.convergent/0"}`} {
		if err := os.WriteFile(filepath.Join(dir, rows.AboutName), []byte(about), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenFolder(dir, "v1"); !errors.As(err, new(*rows.MismatchError)) {
			t.Errorf("%s: %v", about, err)
		}
	}
}

func TestBadLinesAreRefusedAndTheFileUnchanged(t *testing.T) {
	dir := t.TempDir()
	f := mustOpen(t, dir)
	mustAdd(t, f, casesOf(2)...)
	mustClose(t, f)
	whole := text(t, dir)
	for _, c := range []struct{ from, to, why string }{
		{`"schema":"drover.sim.convergent/1"`, `"schema":"drover.sim.convergent/2"`, "schema"},
		{`"set":"loads"`, `"set":"load"`, "set"},
		{`"reading":"percent"`, `"reading":"x"`, "reading"},
		{`"seed":1`, `"seed":-1`, "negative"},
		{`"ended":3`, `"ended":"three"`, "ended"},
		{`"slowdown":1.25`, `"slowdown":-1`, "negative"},
		{`"workload":[0,2]`, `"workload":[0,-2]`, "negative"},
		{`{"schema"`, `{"more":1,"schema"`, "more"},
		{"}\n", "}{}\n", "more than one"},
	} {
		bad := strings.Replace(whole, c.from, c.to, 1)
		if err := os.WriteFile(filepath.Join(dir, RowsName), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := OpenFolder(dir, "v1")
		if p, ok := errors.AsType[*ParseError](err); !ok || p.Line != 1 || !strings.Contains(p.Why, c.why) {
			t.Errorf("%s: %v", c.to, err)
		}
		if text(t, dir) != bad {
			t.Errorf("%s: the file has changed", c.to)
		}
	}
}

func FuzzReadRows(f *testing.F) {
	c := casesOf(1)[0]
	b, err := lineOf(rowLine{Schema, Row{Case: c, Ended: 3, Workload: []int{1}, Knapsacks: &Comparison{Calls: 1}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, text []byte) {
		rows, err := ReadRows(text)
		if err != nil {
			return
		}
		var again strings.Builder
		if err := WriteRows(&again, rows); err != nil {
			t.Fatal(err)
		}
		got, err := ReadRows([]byte(again.String()))
		if err != nil || !cmp.Equal(rows, got) {
			t.Fatalf("%v\n%s", err, cmp.Diff(rows, got))
		}
	})
}
