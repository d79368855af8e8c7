package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/freeport"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// A farm and a site without licenses run as processes. A job that needs a license goes to the
// farm although the other site is idle, and its record says why. The only copy goes to the job
// with the early deadline, and then back. A request that no site can serve is refused
// immediately, with the reason of each site.
func TestJobsRunAtTheSiteWithTheirLicenses(t *testing.T) {
	program, err := exec.LookPath("drover") // testscript added it to PATH
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := &chaos{t: t, program: program, dir: dir, lines: filepath.Join(dir, "lines"), killed: make(map[string]int)}
	t.Cleanup(c.end)
	agent, gossip := freeport.Address(t), freeport.Address(t)
	c.write("agent",
		fmt.Sprintf("version: 1\nname: agent\nlisten: %s\ngossip: {bind: %s}\nreallocation: {period: off}\n", agent,
			gossip))
	c.agents = append(c.agents, c.victim("agent", "agent", agent))
	for name, machine := range map[string]string{
		"farm": "nodes: [{name: new, processors: 1, score: 200}, {name: old, processors: 1, score: 100}]\n" +
			"licenses: [{name: cad, copies: 1}]\npolicy: {name: convergent, settings: {preset: deadlines}}",
		"plain": "nodes: [{processors: 8}]",
	} {
		listen := freeport.Address(t)
		c.write(name, fmt.Sprintf(`version: 1
name: %s
listen: %s
gossip: {bind: %s, seeds: [%q]}
data_dir: %s
%s
grace: 1s
services:
  inline:
    - name: await
      doc: Waits for a file.
      args: [{name: file, type: string}]
      command: [sh, -c, 'until [ -e "$0" ]; do sleep 0.05; done', "{file}"]
      score: 200
      walltime: {factor: 1}
      model: {fixed: {width: 1, time: 60s}}
`, name, listen, freeport.Address(t), gossip, filepath.Join(dir, name), machine))
		v := c.victim("server", name, listen)
		v.dir = filepath.Join(dir, name)
		c.servers = append(c.servers, v)
	}
	c.begin()
	g := &grid{agent: "http://" + agent}
	g.await(t, 2)

	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	slow := g.must(t, cmdline.ExitOK, "submit", "await", "file="+first, "--license", "cad", "--walltime", "1h")
	g.until(t, func() bool { return g.shown(t, slow).GetState() == droverv1.JobState_JOB_STATE_RUNNING })
	urgent := g.must(t, cmdline.ExitOK, "submit", "await", "file="+second, "--license", "cad", "--deadline", "80s",
		"--best-effort")
	g.until(t, func() bool { return g.shown(t, urgent).GetState() == droverv1.JobState_JOB_STATE_RUNNING })
	if why := g.must(t, cmdline.ExitOK, "why", urgent); !strings.Contains(why, "plain") ||
		!strings.Contains(why, "request.licenses: license cad, accepted: none, this site counts no licenses") {
		t.Errorf("why: %s", why)
	}
	for _, file := range []string{second, first} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		g.must(t, cmdline.ExitOK, "wait", map[string]string{first: slow, second: urgent}[file])
	}
	if v := g.shown(t, urgent); v.GetSite() != "farm" ||
		v.GetEndedAt().AsTime().After(v.GetRequest().GetDeadline().AsTime()) {
		t.Errorf("%+v", v)
	}
	other := g.must(t, cmdline.ExitOK, "submit", "await", "file="+first)
	g.must(t, cmdline.ExitOK, "wait", other)
	for _, license := range []string{"cad:2", "matlab"} {
		g.must(t, cmdline.ExitRefused, "submit", "await", "file="+first, "--license", license)
	}
	g.must(t, cmdline.ExitRefused, "submit", "await", "file="+first, "--license", "cad", "--deadline", "2s",
		"--best-effort")
}
