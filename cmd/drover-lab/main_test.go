package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/cmdline/cmdlinetest"
)

func TestMain(m *testing.M) { testscript.Main(cleaning{m}, map[string]func(){"drover-lab": main}) }

// cleaning removes the built program after the tests.
type cleaning struct{ m *testing.M }

func (c cleaning) Run() int {
	defer func() {
		if built != "" {
			_ = os.RemoveAll(built)
		}
	}()
	return c.m.Run()
}

// built is the directory of the program drover that the benchmarks start, empty until
// build has run.
var built string

// build builds the program drover once.
var build = sync.OnceValues(func() (path string, err error) {
	if built, err = os.MkdirTemp("", "drover-lab-test-"); err != nil {
		return "", err
	}
	path = filepath.Join(built, "drover")
	out, err := exec.Command("go", "build", "-o", path, "../drover").CombinedOutput()
	if err != nil {
		return "", errors.Join(err, errors.New(string(out)))
	}
	return path, nil
})

// drover returns the path of the program drover.
func drover(t *testing.T) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// runLab runs drover-lab in this process.
func runLab(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(&cmdline.Process{
		Args: args, Getenv: func(string) string { return "" },
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Signals: func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithCancel(ctx) },
	})
	return code, out.String(), errs.String()
}

func TestScripts(t *testing.T) {
	path := drover(t)
	agent := startGrid(t, path)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(path)+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("DROVER_AGENTS", agent)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": cmdlinetest.Exits},
	})
}

// startGrid starts an agent and a site that can sleep, and returns the
// agent's URL.
func startGrid(t *testing.T, program string) string {
	t.Helper()
	g := &labGrid{dir: t.TempDir()}
	t.Cleanup(g.stop)
	agent, err := g.start(t.Context(), program, "agent", "agent", document{
		"version": 1, "name": "agent", "listen": "127.0.0.1:0", "gossip": document{"bind": "127.0.0.1:0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = g.start(t.Context(), program, "server", "lyon", document{
		"version": 1, "name": "lyon", "listen": "127.0.0.1:0", "data_dir": filepath.Join(g.dir, "lyon"),
		"on_stop": "end",
		"gossip":  document{"bind": "127.0.0.1:0", "seeds": []string{agent.Gossip}},
		"nodes":   []document{{"count": 4, "processors": 2}},
		"services": document{"inline": []document{{
			"name": "sleep", "doc": "Sleeps.", "args": []document{{"name": "seconds", "type": "float"}},
			"command": []string{"sleep", "{seconds}"}, "walltime": document{"factor": 1, "margin": "60s"},
			"model": document{"fixed": document{"width": 1, "time": "seconds + 0.05"}},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return agent.URL
}

// marks returns a page's place for the report about a paper.
func marks(paper string) string {
	begin, end := papers.Marks(paper)
	return begin + end
}
