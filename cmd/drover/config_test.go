package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// command runs one command line in an environment.
func command(environment map[string]string, args ...string) (code int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	code = run(&cmdline.Process{
		Args: args, Getenv: func(name string) string { return environment[name] }, Stdin: strings.NewReader(""),
		Stdout: &out, Stderr: &errOut,
		Signals: func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithCancel(ctx) },
	})
	return code, out.String(), errOut.String()
}

func TestTheEnvironmentConfiguresTheClient(t *testing.T) {
	g := newFakeGrid(t)
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("good", "version: 1\nagents: ['"+g.url+"']\nowner: ada\n")
	nowhere := file("nowhere", "version: 1\nagents: ['http://127.0.0.1:1']\npatience: 10ms\n")
	for name, tc := range map[string]struct {
		env    map[string]string
		args   string
		code   int
		errOut string
	}{
		"its agents are asked": {map[string]string{"DROVER_CONFIG": good}, "sites -q", cmdline.ExitOK, ""},
		"a flag goes over it": {
			map[string]string{"DROVER_CONFIG": nowhere}, "sites -q --patience 10s --agent " + g.url, cmdline.ExitOK, "",
		},
		"DROVER_AGENTS goes over it": {
			map[string]string{"DROVER_CONFIG": nowhere, "DROVER_AGENTS": g.url},
			"sites -q --patience 10s",
			cmdline.ExitOK, "",
		},
		"no other grid is asked": {
			map[string]string{"DROVER_CONFIG": nowhere},
			"sites -q", cmdline.ExitUnavailable,
			"no connection to agent http://127.0.0.1:1",
		},
		"one that is not there": {
			map[string]string{"DROVER_CONFIG": dir + "/none"}, "sites", cmdline.ExitNotFound, "none",
		},
		"one that is wrong": {
			map[string]string{"DROVER_CONFIG": file("wrong", "version: 1\nagents: [x]\n")},
			"sites", cmdline.ExitConfig,
			"wrong",
		},
		"a directory": {
			map[string]string{"DROVER_CONFIG": dir}, "sites", cmdline.ExitConfig, "accepted: a file",
		},
		"one that is wrong, though unused": {
			map[string]string{"DROVER_CONFIG": file("junk", "a: [")},
			"sites --agent " + g.url, cmdline.ExitConfig,
			"junk",
		},
		"a password is not shown": {
			map[string]string{"DROVER_AGENTS": "https://u:secret@h"}, "sites", cmdline.ExitUsage, "***@h",
		},
	} {
		code, out, errOut := command(tc.env, strings.Fields(tc.args)...)
		if code != tc.code || !strings.Contains(errOut, tc.errOut) || strings.Contains(errOut, "secret") ||
			code == cmdline.ExitOK && out != "lyon\nnancy\n" {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", name, code, out, errOut)
		}
	}
	// "all" selects the jobs of the owner that the configuration file names.
	if code, _, errOut := command(map[string]string{"DROVER_CONFIG": good}, "job",
		"01.."); code != cmdline.ExitNotFound || !strings.Contains(errOut, "no site has a job") {
		t.Errorf("a range: exit code %d, stderr %q", code, errOut)
	}
}

func TestURLsOfOneAgentNormalizeToOneGrid(t *testing.T) {
	for key, urls := range map[string][]string{
		"http://h:80":        {"http://h", "http://H:80/", "HTTP://h/", "http://u:secret@h"},
		"http://h:7410":      {"http://h:7410", "http://h:7410//", "http://u@H:7410"},
		"http://[::1]:7410":  {"http://[::1]:7410/"},
		"http://h:1/drover":  {"http://h:1/drover/", "http://h:1/drover"},
		"***@h:port":         {"u:secret@h:port"},
		"http://***@h:po/rt": {"http://u:secret@h:po/rt"},
	} {
		for _, u := range urls {
			if got := gridKey(u); got != key {
				t.Errorf("%s: %s, want %s", u, got, key)
			}
		}
	}
	state := t.TempDir()
	at := func(agents ...string) *app {
		return &app{Process: &cmdline.Process{Getenv: func(name string) string {
			return map[string]string{"XDG_STATE_HOME": state}[name]
		}}, flags: &cli{Agent: agents}}
	}
	first, second := time.Unix(1e9, 0), time.Unix(2e9, 0)
	at("http://h:7410").rememberLast(movingJob, first)
	if id, err := at("HTTP://H:7410/").last(); err != nil || id != movingJob {
		t.Errorf("%q, %v", id, err)
	}
	if _, err := at("http://u:secret@other:7410").last(); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("another grid: %v", err)
	}
	at("http://u:secret@h:7410").rememberLast(movingJob, first)
	if text, err := os.ReadFile(filepath.Join(state, "drover", "last.json")); err != nil ||
		strings.Contains(string(text), "secret") {
		t.Errorf("the file is missing or contains the password: %s, %v", text, err)
	}
	// Files of older versions can be read. If two entries are the same grid, the younger one
	// wins.
	old := `{"schema":"drover.last/1","jobs":{"http://h:7410/":{"job":"` + someID + `","at":"` + second.UTC().Format(
		time.RFC3339,
	) +
		`"},"http://H:7410":{"job":"01a1fddd-b7ba-7e51-8bf0-000000000000","at":"` + first.UTC().Format(
		time.RFC3339,
	) + `"}}}`
	path := filepath.Join(state, "drover", "last.json")
	if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	kept, err := readLast(path)
	if want := map[string]lastEntry{"http://h:7410": {Job: someID, At: second.UTC()}}; err != nil ||
		!cmp.Equal(kept.Jobs, want) {
		t.Errorf("%+v, %v", kept.Jobs, err)
	}
}

func TestARangeCanEndAtTheLastJob(t *testing.T) {
	g := newFakeGrid(t)
	env := map[string]string{"XDG_STATE_HOME": t.TempDir(), "DROVER_AGENTS": g.url}
	a := &app{Process: &cmdline.Process{Getenv: func(name string) string { return env[name] }}, flags: &cli{}}
	a.rememberLast(movingJob, time.Unix(1e9, 0))
	for _, words := range []string{"..last", "last..", "01..last", "last..last"} {
		code, out, errOut := command(env, "job", "-q", words)
		if code != cmdline.ExitUsage || !strings.Contains(errOut, "USER") { // no owner is known
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", words, code, out, errOut)
		}
	}
	env["USER"] = "me"
	g.owner = "me"
	for _, words := range []string{"..last", "last..", "01..last", "last..last"} {
		if code, out, errOut := command(env, "job", "-q", words); code != cmdline.ExitOK || out != movingJob+"\n" {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", words, code, out, errOut)
		}
	}
}
