package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/freeport"
)

// newReserved starts an agent and one site whose policy tunes itself, as processes.
func newReserved(t *testing.T) (*grid, *chaos, *victim) {
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
	c.write("lyon", fmt.Sprintf("version: 1\nname: lyon\nlisten: %s\ngossip: {bind: %s, seeds: [%q]}\ndata_dir: %s\n"+
		"nodes: [{count: 2, processors: 2}]\npolicy: {name: dynp}\ngrace: 1s\n%s",
		site, freeport.Address(t), gossip, filepath.Join(dir, "lyon"),
		strings.Replace(testServices, "  catalogue: services.yaml\n", "", 1)))
	v := c.victim("server", "lyon", site)
	v.dir = filepath.Join(dir, "lyon")
	c.servers = append(c.servers, v)
	c.begin()
	g := &grid{agent: "http://" + agent}
	g.await(t, 1)
	return g, c, v
}

// Reservations, agreements and running jobs survive a killed server.
func TestReservationsAndAgreementsSurviveAKilledServer(t *testing.T) {
	t.Parallel()
	g, c, lyon := newReserved(t)
	gate := filepath.Join(c.dir, "gate")
	argv, err := json.Marshal([]string{
		"sh", "-c", `until [ -e "$0" ]; do sleep 0.05; done; echo "$DROVER_JOB_ID" >> "$1"`, gate, c.lines,
	})
	if err != nil {
		t.Fatal(err)
	}
	held := "argv=" + string(argv)
	now := g.must(t, cmdline.ExitOK, "reserve", "--width", "2", "--duration", "20m", "--name", "now")
	later := g.must(t, cmdline.ExitOK, "reserve", "--width", "4", "--duration", "10m", "--from", "2h", "--name",
		"later")
	inside := g.must(t, cmdline.ExitOK, "submit", "exec", held, "--into", now)
	future := g.must(t, cmdline.ExitOK, "submit", "exec", held, "--into", later)
	agreed := g.must(t, cmdline.ExitOK, "submit", "exec", held, "--deadline", "1h", "--value", "4")
	state := func(id string, want droverv1.JobState) {
		t.Helper()
		g.until(t, func() bool { return g.shown(t, id).GetState() == want })
	}
	state(inside, droverv1.JobState_JOB_STATE_RUNNING)
	state(agreed, droverv1.JobState_JOB_STATE_RUNNING)
	before := g.must(t, cmdline.ExitOK, "reservations")

	c.kill(lyon)
	c.start(lyon)
	state(inside, droverv1.JobState_JOB_STATE_RUNNING)
	if after := g.must(t, cmdline.ExitOK, "reservations"); after != before {
		t.Errorf("reservations before the kill\n%s\nand after it\n%s", before, after)
	}
	g.must(t, cmdline.ExitNoOffer, "reserve", "--width", "3", "--duration", "10m", "--until", "15m")
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	g.must(t, cmdline.ExitOK, "wait", inside)
	g.must(t, cmdline.ExitOK, "wait", agreed)
	if shown := g.must(t, cmdline.ExitOK, "job", agreed); !strings.Contains(shown, "kept (value 4)") {
		t.Errorf("the job is %s", shown)
	}
	c.kill(lyon)
	c.start(lyon)
	state(future, droverv1.JobState_JOB_STATE_WAITING)
	shown := g.must(t, cmdline.ExitOK, "site", "lyon")
	for _, want := range []string{
		"1 made: 0 open, 1 kept", "1 waiting jobs with an agreement", "follows", "self-tuning steps", later,
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in\n%s", want, shown)
		}
	}
	g.must(t, cmdline.ExitOK, "unreserve", later)
	g.must(t, cmdline.ExitCancelled, "wait", future)
	text, err := os.ReadFile(c.lines)
	if err != nil || strings.Count(string(text), inside) != 1 || strings.Count(string(text), agreed) != 1 ||
		strings.Contains(string(text), future) {
		t.Errorf("runs: %q, %v", text, err)
	}
}

// until polls a condition.
func (g *grid) until(t *testing.T, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for range 1200 {
		if holds() {
			return
		}
		<-ticker.C
	}
	t.Fatal("the condition did not become true")
}
