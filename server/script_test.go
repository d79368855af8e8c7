package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// old is a typical user's script. It requests less than the submission does.
const old = `#!/bin/sh
#SBATCH --ntasks=9 --time=5-0
#SBATCH --signal=B:USR1@10 --constraint=nowhere
echo "$1, ${SLURM_NTASKS-none} of $DROVER_WIDTH"
`

const oldService = `
    - name: old
      doc: A script of before.
      args: [{name: text, type: string}]
      script: old.sh
      command: ["{text}"]
      model: {fixed: {width: 2, time: 30s}}
`

// withScript writes the script and returns the configuration's directory.
func withScript(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "old.sh"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestBatchScriptIsAServiceUnderSlurm(t *testing.T) {
	t.Parallel()
	c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 2})[0]
	var log strings.Builder
	build := func(text string) Config {
		cfg, err := ParseConfig([]byte("version: 1\nname: lyon\nlisten: 127.0.0.1:0\ngossip: {bind: 127.0.0.1:0}\n"+
			"on_stop: end\ndata_dir: "+t.TempDir()+
			"\nbatch: {type: slurm, conf: "+c.Conf()+", interval: 300ms, timeout: 3s}\nservices:\n  inline:"+
			oldService), withScript(t, text))
		if err != nil {
			t.Fatal(err)
		}
		log.Reset()
		cfg.Logger = hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Warn})
		return cfg
	}
	// The server logs at its start which options Slurm refuses.
	refused, err := New(build(old))
	if err != nil {
		t.Fatal(err)
	}
	if err := refused.Close(); err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		"--ntasks=9 is ignored", "--time=5-0 is ignored",
		"batch system refuses the options of a batch script",
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log.String())
		}
	}
	s := start(t, build(strings.Replace(old, " --constraint=nowhere", "", 1)))
	j := s.submit(t, &droverv1.Request{Service: "old", Arguments: arguments{"text": text("a 'b' $c")}})
	s.until(t, j.GetId(), done)
	if got := s.log(t, &droverv1.ReadLogsRequest{JobId: j.GetId()}); got != "a 'b' $c, 2 of 2\n" {
		t.Errorf("log %q", got)
	}
}

func TestBatchScriptIsAServiceWithoutSlurm(t *testing.T) {
	cfg, err := ParseConfig([]byte("version: 1\nname: lyon\nlisten: 127.0.0.1:0\ngossip: {bind: 127.0.0.1:0}\n"+
		"on_stop: end\ndata_dir: "+t.TempDir()+
		"\nnodes: [{processors: 2}]\nservices:\n  inline:"+oldService), withScript(t, old))
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, cfg)
	j := s.submit(t, &droverv1.Request{Service: "old", Arguments: arguments{"text": text("x")}})
	s.until(t, j.GetId(), done)
	if got := s.log(t, &droverv1.ReadLogsRequest{JobId: j.GetId()}); got != "x, none of 2\n" {
		t.Errorf("log %q", got)
	}
}
