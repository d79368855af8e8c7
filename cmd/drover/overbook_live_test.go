package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/freeport"
)

// newOverbooked starts an agent and one site that overbooks, as processes.
func newOverbooked(t *testing.T) (*grid, *chaos, *victim) {
	t.Helper()
	program, err := exec.LookPath("drover") // testscript added it to PATH
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := &chaos{t: t, program: program, dir: dir, lines: filepath.Join(dir, "lines"), killed: make(map[string]int)}
	t.Cleanup(c.end)
	agent, gossip, site := freeport.Address(t), freeport.Address(t), freeport.Address(t)
	c.write("agent",
		fmt.Sprintf("version: 1\nname: agent\nlisten: %s\ngossip: {bind: %s}\nreallocation: {period: off}\n", agent,
			gossip))
	c.agents = append(c.agents, c.victim("agent", "agent", agent))
	c.write("lyon", fmt.Sprintf(`version: 1
name: lyon
listen: %s
gossip: {bind: %s, seeds: [%q]}
data_dir: %s
nodes: [{count: 1, processors: 2}]
policy: {name: overbook, settings: {maxPoF: 0.1, samples: 3, round: 1s}}
grace: 1s
services:
  inline:
    - name: primes
      doc: Counts primes, as the service that comes along does.
      args: [{name: below, type: int}]
      command: [drover, service, primes, "--below={below}"]
      checkpoint: {signal: TERM, grace: 10s}
      model: {fixed: {width: 1, time: 60s}}
    - name: await
      doc: Waits for a file.
      args: [{name: file, type: string}, {name: processors, type: int}]
      command: [sh, -c, 'until [ -e "$0" ]; do sleep 0.05; done', "{file}"]
      model: {fixed: {width: processors, time: 60s}}
`, site, freeport.Address(t), gossip, filepath.Join(dir, "lyon")))
	v := c.victim("server", "lyon", site)
	v.dir = filepath.Join(dir, "lyon")
	c.servers = append(c.servers, v)
	c.begin()
	g := &grid{agent: "http://" + agent}
	g.await(t, 1)
	return g, c, v
}

// shown returns the job that drover job prints.
func (g *grid) shown(t *testing.T, id string) *droverv1.Job {
	t.Helper()
	return decode(t, g.must(t, cmdline.ExitOK, "--json", "job", id), &droverv1.Job{})
}

// counts are known numbers of primes. Each takes about twice as long as the previous one.
var counts = []struct{ below, primes int }{
	{50_000_000, 3_001_134},
	{100_000_000, 5_761_455},
	{200_000_000, 11_078_937},
	{500_000_000, 26_355_867},
	{1_000_000_000, 50_847_534},
	{2_000_000_000, 98_222_287},
	{4_000_000_000, 189_961_812},
	{10_000_000_000, 455_052_511},
}

// Ann's earlier jobs needed much less than their walltimes. Two of Ann's jobs are therefore
// accepted in a gap that is shorter than their walltimes. When the gap ends, the job with
// checkpoints is preempted. It survives a restart of the server, continues, and has the correct
// result. The other job is killed, and the site pays the penalty.
func TestAnOverbookedJobIsPreemptedAndContinues(t *testing.T) {
	g, c, lyon := newOverbooked(t)
	for range 3 {
		g.must(t, cmdline.ExitOK, "call", "primes", "below=1000", "--owner", "ann", "--walltime", "5m")
	}
	// The job must take three times as long as the gap. A run measures the speed of the machine
	// first.
	const gap = 3 * time.Second
	known := counts[0]
	first := g.must(t, cmdline.ExitOK, "submit", "primes", "below="+strconv.Itoa(known.below), "--owner", "carl",
		"--walltime", "5m")
	g.must(t, cmdline.ExitOK, "wait", first)
	v := g.shown(t, first)
	took := v.GetEndedAt().AsTime().Sub(v.GetStartedAt().AsTime())
	for i := 1; i < len(counts) && took*time.Duration(counts[i-1].below/counts[0].below) < 3*gap; i++ {
		known = counts[i]
	}
	c.kill(lyon) // the site has stored the learned runtimes on disk
	c.start(lyon)
	g.await(t, 1)

	gate := filepath.Join(c.dir, "gate")
	bob := g.must(t, cmdline.ExitOK, "submit", "await", "file="+gate, "processors=2", "--owner", "bob", "--walltime",
		"60s", "--begin", gap.String(), "--deadline", "2m")
	saved := g.must(t, cmdline.ExitOK, "submit", "primes", "below="+strconv.Itoa(known.below), "--owner", "ann",
		"--walltime", "5m", "--deadline", "20m")
	given := g.must(t, cmdline.ExitOK, "submit", "await", "file="+gate+".never", "processors=1", "--owner", "ann",
		"--walltime", "5m", "--deadline", "20m", "--penalty", "3")
	defer func() {
		if t.Failed() {
			t.Logf("%d primes took %v\n%s\n%s\n%s", counts[0].primes, took, g.must(t, cmdline.ExitOK, "job", bob),
				g.must(t, cmdline.ExitOK, "job", saved), g.must(t, cmdline.ExitOK, "site", "lyon"))
		}
	}()
	g.until(t, func() bool {
		return g.shown(t, saved).Checkpoints == 1 && g.shown(t, bob).GetState() == droverv1.JobState_JOB_STATE_RUNNING
	})
	if v := g.shown(t, saved); v.GetState() != droverv1.JobState_JOB_STATE_WAITING ||
		v.GetCheckpointedAfter().AsDuration() <= 0 || v.GetCheckpointedAfter().AsDuration() > time.Minute {
		t.Errorf("the job with checkpoints is %+v", v)
	}
	for _, args := range [][]string{{"job", saved}, {"why", saved}} {
		if text := g.must(t, cmdline.ExitOK, args...); !strings.Contains(text, "will continue from there") {
			t.Errorf("drover %s: no checkpoint in\n%s", args[0], text)
		}
	}
	g.must(t, cmdline.ExitWalltime, "wait", given)
	if text := g.must(t, cmdline.ExitOK, "job", given); !strings.Contains(text, "broken by the site (penalty 3)") {
		t.Errorf("drover job prints for the job without checkpoints\n%s", text)
	}

	c.kill(lyon)
	c.start(lyon)
	g.until(t, func() bool {
		v := g.shown(t, saved)
		return v.GetUnknownFor() == nil && v.GetState() == droverv1.JobState_JOB_STATE_WAITING
	})
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	g.must(t, cmdline.ExitOK, "wait", bob)
	g.must(t, cmdline.ExitOK, "wait", saved)
	if v := g.shown(t, saved); v.Checkpoints != 1 || v.Attempt != 2 ||
		v.GetAgreement() != droverv1.AgreementState_AGREEMENT_STATE_KEPT {
		t.Errorf("%+v", v)
	}
	logs := g.must(t, cmdline.ExitOK, "logs", saved)
	if want := fmt.Sprintf("primes      %d below %d\n", known.primes, known.below); !strings.Contains(logs,
		"resumed at") || !strings.Contains(logs, want) {
		t.Errorf("no %q in\n%s", want, logs)
	}
	if text := g.must(t, cmdline.ExitOK, "site", "lyon"); !strings.Contains(text, "3 made: 0 open, 2 kept") ||
		!strings.Contains(text, "1 broken by the site") || !strings.Contains(text, "penalties 3") {
		t.Errorf("drover site prints\n%s", text)
	}
}
