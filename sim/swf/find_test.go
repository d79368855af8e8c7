package swf

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFindTraceLooksInTheEnvironmentThenBesideTheModule(t *testing.T) {
	root := filepath.Join(t.TempDir(), "home")
	set := filepath.Join(root, "set")
	beside := filepath.Join(root, "shared", "traces")
	touch(t, filepath.Join(set, "both"))
	touch(t, filepath.Join(beside, "both"))
	touch(t, filepath.Join(beside, "one"))
	touch(t, filepath.Join(filepath.Dir(root), "shared", "traces", "above")) // of no concern to the module
	touch(t, filepath.Join(root, "module", "go.mod"))
	touch(t, filepath.Join(root, "module", "a", "b", "x.go"))
	t.Setenv(TracesEnv, set)
	t.Chdir(filepath.Join(root, "module", "a", "b"))

	for name, want := range map[string]string{"both": set, "one": beside} {
		got, err := FindTrace(name)
		if err != nil || got != filepath.Join(want, name) {
			t.Errorf("%s: %s, %v, want it in %s", name, got, err, want)
		}
	}
	_, err := FindTrace("above")
	var missing *TraceNotFoundError
	if !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error %v, want a TraceNotFoundError", err)
	}
	if len(missing.Looked) != 4 { // set; beside b, a and module
		t.Errorf("looked for %q, want 4 places", missing.Looked)
	}
	for _, part := range append(missing.Looked, TracesEnv, "Parallel Workloads Archive") {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not tell %q", err, part)
		}
	}
	for _, name := range []string{"", "a/b", ".", ".."} {
		if _, err := FindTrace(name); err == nil || errors.As(err, &missing) {
			t.Errorf("name %q: error %v, want it refused", name, err)
		}
	}
}

func TestFindTraceOutsideAnyModuleEnds(t *testing.T) {
	t.Setenv(TracesEnv, "")
	t.Chdir(t.TempDir())
	var missing *TraceNotFoundError
	if _, err := FindTrace("no such trace"); !errors.As(err, &missing) {
		t.Errorf("error %v, want a TraceNotFoundError", err)
	}
}

func TestFindTraceDistinguishesAWrongDirectoryFromAMissingTrace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	touch(t, file)
	t.Setenv(TracesEnv, file)
	var missing *TraceNotFoundError
	if _, err := FindTrace("x"); err == nil || errors.As(err, &missing) {
		t.Errorf("error %v, want one about %s", err, file)
	}
}
