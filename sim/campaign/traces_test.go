package campaign

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/sim/swf"
)

func TestMissingTracesAreReportedBeforeTheFirstExperiment(t *testing.T) {
	t.Setenv(swf.TracesEnv, t.TempDir())
	dir := t.TempDir()
	for name, text := range map[string]string{
		"made.yaml": made,
		"real.yaml": "version: 1\nmapping: mct\nsites: [{name: far, trace: nowhere.swf, procs: 1, policy: cbf}]\n",
		"c.yaml":    "version: 1\nname: c\nscenarios: [made.yaml, real.yaml]\nseeds: [1]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(filepath.Join(dir, "c.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	o := options(filepath.Join(dir, "out"), nil)
	_, err = Run(t.Context(), c, o)
	missing, ok := errors.AsType[*swf.TraceNotFoundError](err)
	if !ok || missing.Looked[0] != filepath.Join(dir, "nowhere.swf") ||
		!strings.Contains(err.Error(), "scenario real.yaml: site far: ") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(o.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder was made: %v", err)
	}
}

func TestChangedTraceIsRefused(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "t.swf")
	write := func(text string) {
		if err := os.WriteFile(trace, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := parsed(t, small)
	before := t.TempDir() // results of a drover that did not look at traces
	mustRun(t, c, options(before, &fake{}))

	r := &fake{files: map[string]string{"b": trace}}
	o := options(t.TempDir(), r)
	write("; one\n")
	mustRun(t, c, o)
	write("; two\n")
	_, err := Run(t.Context(), c, o)
	if m, ok := errors.AsType[*MismatchError](err); !ok || len(m.Differences) != 1 ||
		m.Differences[0] != "scenario b: its traces have changed" {
		t.Errorf("error %v", err)
	}
	write("; one\n")
	mustRun(t, c, o)
	mustRun(t, c, options(before, r))
}
