package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/freeport"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// mortal is a grid of two agents and two narrow sites behind taps. Each is a process.
type mortal struct {
	*grid  // by the second agent
	taps   taps
	chaos  *chaos // starts and kills
	first  *victim
	byName map[string]*victim // servers
}

func newMortal(t *testing.T) *mortal {
	t.Helper()
	program, err := exec.LookPath("drover") // testscript added it to PATH
	if err != nil {
		t.Fatal(err)
	}
	m := &mortal{
		chaos:  &chaos{t: t, program: program, dir: t.TempDir(), killed: make(map[string]int)},
		byName: make(map[string]*victim),
	}
	t.Cleanup(m.end)
	var agents [4]string
	for i := range agents {
		agents[i] = freeport.Address(t)
	}
	seeds := fmt.Sprintf("[%q, %q]", agents[1], agents[3])
	for i, name := range []string{"first", "second"} {
		// A long patience, because an order also fails if a site on a busy machine answers late.
		m.chaos.write(name,
			fmt.Sprintf("version: 1\nname: %s\nlisten: %s\ngossip: {bind: %s, seeds: %s}\npatience: 10s\n"+
				"reallocation: {period: off}\n",
				name, agents[2*i], agents[2*i+1], seeds))
		m.chaos.agents = append(m.chaos.agents, m.chaos.victim("agent", name, agents[2*i]))
	}
	m.first, m.grid = m.chaos.agents[0], &grid{agent: m.chaos.agents[1].url}
	for name, lines := range narrow {
		address, dir := freeport.Address(t), filepath.Join(m.chaos.dir, name)
		m.chaos.write(name,
			fmt.Sprintf("version: 1\nname: %s\nlisten: %s\nurl: %s\ngossip: {bind: %s, seeds: %s}\ndata_dir: %s\n"+
				"grace: 1s\non_stop: end\n%s%s",
				name, address, m.taps.before(t, name, address), freeport.Address(t), seeds, dir, lines,
				strings.Replace(testServices, "  catalogue: services.yaml\n", "", 1)))
		v := m.chaos.victim("server", name, address)
		v.dir, m.byName[name] = dir, v
		m.chaos.servers = append(m.chaos.servers, v)
	}
	m.chaos.begin()
	m.await(t, 2)
	(&grid{agent: m.first.url}).await(t, 2)
	return m
}

// end stops the servers normally, which ends their jobs, and kills the other processes.
func (m *mortal) end() {
	for _, v := range m.chaos.servers {
		if v.cmd != nil && v.cmd.Process.Signal(os.Interrupt) == nil {
			_ = v.cmd.Wait() // the exit code is not tested
		}
	}
	m.chaos.end()
}

// states returns the states of a stream's waiting jobs.
func (s *stream) states(t *testing.T) (all []client.State) {
	t.Helper()
	for _, id := range s.waiting {
		all = append(all, s.job(t, id).State)
	}
	return all
}

// settle opens the gate. It fails the test unless each job of the stream then runs once, and the
// jobs that did not move end in the order of their submission.
func (s *stream) settle(t *testing.T) {
	t.Helper()
	s.open(t)
	all := append(slices.Clone(s.busy), s.waiting...)
	s.done(t, all...)
	got := s.ended(t)
	for odd := range 2 {
		at := slices.Concat(s.busy[odd:odd+1], every(s.waiting, odd))
		stayed := func(id string) bool { return slices.Contains(at, id) && len(s.job(t, id).Moves) == 0 }
		want := slices.DeleteFunc(at, func(id string) bool { return !stayed(id) })
		if d := cmp.Diff(want, slices.DeleteFunc(slices.Clone(got), func(id string) bool {
			return !stayed(id)
		})); d != "" {
			t.Errorf("the order at site %d: %s", odd, d)
		}
	}
	slices.Sort(got)
	slices.Sort(all)
	if d := cmp.Diff(all, got); d != "" {
		t.Errorf("executed jobs: %s", d)
	}
}

// TestAnAgentKilledBetweenHoldAndPlaceLosesNoJob: the leases put the jobs back to
// where they were.
func TestAnAgentKilledBetweenHoldAndPlaceLosesNoJob(t *testing.T) {
	t.Parallel()
	m := newMortal(t)
	s := newStream(t, m.grid, 4, "")
	killed := make(chan struct{})
	m.taps.lose("", "PlaceJobs", 1, func() {
		m.chaos.kill(m.first)
		close(killed)
	})
	(&grid{agent: m.first.url}).must(t, cmdline.ExitUnavailable, "reallocate", "--algorithm", "all-cancellation")
	<-killed
	began := time.Now()
	if got := s.states(t); !slices.Equal(got, slices.Repeat([]client.State{client.Held}, len(s.waiting))) {
		t.Errorf("states after the kill: %v", got)
	}
	if !m.taps.heal() {
		t.Error("no placement was lost")
	}
	waiting := slices.Repeat([]client.State{client.Waiting}, len(s.waiting))
	for !slices.Equal(s.states(t), waiting) {
		if !pause(t.Context(), 100*time.Millisecond) || time.Since(began) > time.Minute {
			t.Fatalf("states: %v", s.states(t))
		}
	}
	t.Logf("all wait again after %v", time.Since(began))
	m.chaos.start(m.first)
	(&grid{agent: m.first.url}).await(t, 2)
	if r := (&grid{agent: m.first.url}).reallocate(t, "--algorithm", "all-cancellation"); int(
		r.GetRecord().GetJobs(),
	) != len(s.waiting) || len(r.Missing) > 0 {
		t.Errorf("the next round: %+v", r)
	}
	s.settle(t)
}

// TestASiteKilledDuringARoundIsLeftOut kills a site at each message of a round to that site. The
// round then moves no job to it.
func TestASiteKilledDuringARoundIsLeftOut(t *testing.T) {
	t.Parallel()
	m := newMortal(t)
	s := newStream(t, m.grid, 8, "")
	for _, id := range every(s.waiting, 1) { // now nancy has free capacity
		m.must(t, cmdline.ExitOK, "cancel", id)
	}
	stuck := every(s.waiting, 0)
	s.waiting = stuck // at lyon
	round := []string{"--threshold", "0s", "--window", "all", "--heuristic", "minmin"}
	var r *droverv1.ReallocateResponse
	for nth := 1; ; nth++ {
		m.whole(t)
		m.taps.lose("nancy", "Draft", nth, func() { m.chaos.kill(m.byName["nancy"]) })
		r = m.reallocate(t, append(round, "--algorithm", []string{"regular", "all-cancellation"}[nth%2])...)
		if !m.taps.heal() { // the round has fewer messages for nancy
			if len(r.Missing) > 0 || nth < 4 {
				t.Errorf("a round with %d messages: %+v", nth-1, r)
			}
			break
		}
		for i := range r.Jobs {
			if r.GetJobs()[i].GetTo() == "nancy" {
				t.Errorf("message %d: %+v", nth, r.GetJobs()[i])
			}
		}
		if got := s.states(t); !slices.Equal(got, slices.Repeat([]client.State{client.Waiting}, len(stuck))) {
			t.Errorf("message %d: states %v", nth, got)
		}
		m.chaos.start(m.byName["nancy"])
	}
	if r.GetRecord().GetMoves() == 0 || r.GetRecord().GetFailed() > 0 {
		t.Errorf("last round: %+v", r)
	}
	s.open(t)
	at := make(map[string]int)
	for _, j := range s.done(t, slices.Concat(s.busy, stuck)...) {
		at[j.Site]++
	}
	if at["nancy"] != 1+int(r.GetRecord().GetMoves()) {
		t.Errorf("%d moved jobs ran at nancy, want %d", at["nancy"]-1, r.GetRecord().GetMoves())
	}
	if got := s.ended(t); len(got) != len(s.busy)+len(stuck) {
		t.Errorf("%d executions: %v", len(got), got)
	}
}

// TestJobsMovedToASiteThatDiesRunAtTheirSource: the jobs can run when the lease of their hold
// ends, before their moves are aborted.
func TestJobsMovedToASiteThatDiesRunAtTheirSource(t *testing.T) {
	t.Parallel()
	m := newMortal(t)
	s := newStream(t, m.grid, 8, "")
	for _, id := range every(s.waiting, 1) {
		m.must(t, cmdline.ExitOK, "cancel", id)
	}
	s.waiting = every(s.waiting, 0)
	m.taps.lose("nancy", "Reserve", 1, func() { m.chaos.kill(m.byName["nancy"]) })
	r := m.reallocate(t, "--algorithm", "all-cancellation")
	if r.GetRecord().GetMoves() == 0 || r.GetRecord().GetFailed() > 0 {
		t.Errorf("the round: %+v", r)
	}
	began := time.Now()
	s.open(t)
	for _, j := range s.done(t, append(s.waiting, s.busy[0])...) {
		if j.Site != "lyon" {
			t.Errorf("%s ran at %s", j.ID, j.Site)
		}
	}
	if took := time.Since(began); took > time.Minute || !m.taps.heal() {
		t.Errorf("the jobs were done after %v", took)
	}
}

// whole waits until all sites take part in rounds.
func (m *mortal) whole(t *testing.T) {
	t.Helper()
	for range 600 {
		if r := m.reallocate(t, "--dry-run"); len(r.Missing) == 0 && int(r.GetRecord().GetSites()) == len(m.byName) {
			return
		}
		pause(t.Context(), 50*time.Millisecond)
	}
	t.Fatal("a site did not return to the rounds")
}
