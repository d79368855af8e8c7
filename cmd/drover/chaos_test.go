package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/freeport"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

var (
	chaosSeed = flag.Uint64("chaos.seed", 0, "seed of the chaos; 0: random")
	chaosJobs = flag.Int("chaos.jobs", 300, "jobs of the chaos")
)

// TestNoJobIsLostOrRunsTwice runs two agents and three servers as processes. It kills them and
// the servers' supervisors at random while jobs are submitted, moved, reallocated, cancelled and
// run. Each job appends a line to one file. The seed determines what is killed and moved, and in
// which order; the timing depends on the machine.
func TestNoJobIsLostOrRunsTwice(t *testing.T) {
	t.Parallel()
	seed := *chaosSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed: -chaos.seed %d", seed)
	c := newChaos(t, rand.New(rand.NewPCG(seed, 1)))
	defer c.end()
	c.begin()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	grid := c.client()
	defer grid.Close()

	raging, calm := context.WithCancel(ctx)
	defer calm()
	var rage sync.WaitGroup
	rage.Go(func() { c.rage(raging) })
	rage.Go(func() { c.reallocate(raging, grid) })
	jobs := c.submitAll(ctx, raging, grid, rage.Go)
	c.rageOn(ctx)
	calm()
	rage.Wait()
	c.revive()
	c.check(ctx, grid, jobs)
}

// chaos is a grid of processes that are killed and restarted.
type chaos struct {
	t       *testing.T
	rand    *rand.Rand // of the raging goroutine
	program string
	dir     string
	lines   string // jobs append their IDs to this file
	agents  []*victim
	servers []*victim
	enough  chan struct{} // closed after enoughRage kills

	mu     sync.Mutex
	killed map[string]int
	moves  map[string]int // number of move orders by result
	rounds map[string]int // number of reallocation rounds by result
}

// victim is a process that is killed and restarted.
type victim struct {
	kind, name string
	args       []string
	url, dir   string
	cmd        *exec.Cmd
	log        *os.File
}

func newChaos(t *testing.T, r *rand.Rand) *chaos {
	program, err := exec.LookPath("drover") // testscript added it to PATH
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := &chaos{
		t: t, rand: r, program: program, dir: dir, lines: filepath.Join(dir, "lines"),
		enough: make(chan struct{}), killed: make(map[string]int), moves: make(map[string]int),
		rounds: make(map[string]int),
	}
	var addresses [10]string
	for i := range addresses {
		addresses[i] = freeport.Address(t)
	}
	seeds := fmt.Sprintf("[%q, %q]", addresses[1], addresses[3])
	for i := range 2 {
		name := "agent" + strconv.Itoa(i+1)
		c.write(name,
			fmt.Sprintf("version: 1\nname: %s\nlisten: %s\ngossip: {bind: %s, seeds: %s}\n"+
				"reallocation: {period: 2s, threshold: 0s}\n", name, addresses[2*i], addresses[2*i+1], seeds))
		c.agents = append(c.agents, c.victim("agent", name, addresses[2*i]))
	}
	for i, policy := range []string{"fcfs", "easy", "cbf"} {
		name := "site" + strconv.Itoa(i+1)
		c.write(name, fmt.Sprintf(`version: 1
name: %s
listen: %s
gossip: {bind: %s, seeds: %s}
data_dir: %s
nodes: [{count: 2, processors: %d}]
policy: {name: %s}
grace: 1s
services:
  inline:
    - name: append
      doc: Appends its job's ID to a file, after a while.
      args: [{name: file, type: string}, {name: seconds, type: float}]
      command: [/bin/sh, -c, 'sleep "$1"; echo "$DROVER_JOB_ID" >> "$0"', "{file}", "{seconds}"]
      model: {fixed: {width: 1, time: 5s}}
`, name, addresses[4+2*i], addresses[5+2*i], seeds, filepath.Join(dir, name), i+1, policy))
		v := c.victim("server", name, addresses[4+2*i])
		v.dir = filepath.Join(dir, name)
		c.servers = append(c.servers, v)
	}
	return c
}

func (c *chaos) write(name, config string) {
	if err := os.WriteFile(filepath.Join(c.dir, name+".yaml"), []byte(config), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *chaos) victim(kind, name, address string) *victim {
	log, err := os.Create(filepath.Join(c.dir, name+".log"))
	if err != nil {
		c.t.Fatal(err)
	}
	return &victim{
		kind: kind, name: name, url: "http://" + address, log: log,
		args: []string{kind, "--config", filepath.Join(c.dir, name+".yaml"), "--log-level", "debug"},
	}
}

func (c *chaos) all() []*victim { return append(append([]*victim(nil), c.agents...), c.servers...) }

func (c *chaos) begin() {
	for _, v := range c.all() {
		c.start(v)
	}
}

// start starts a process. If its predecessor still has the port, the new process exits; revive or
// the next kill then restarts it.
func (c *chaos) start(v *victim) {
	v.cmd = exec.CommandContext(c.t.Context(), c.program, v.args...)
	v.cmd.Stdout, v.cmd.Stderr = v.log, v.log
	v.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	if err := v.cmd.Start(); err != nil {
		c.t.Errorf("start %s: %v", v.name, err)
		v.cmd = nil
	}
}

// kill sends SIGKILL to a process and waits for its end.
func (c *chaos) kill(v *victim) {
	if v.cmd == nil {
		return
	}
	_ = v.cmd.Process.Kill() // the process may have ended already
	_ = v.cmd.Wait()
	v.cmd = nil
	c.count(c.killed, v.kind)
}

func (c *chaos) count(m map[string]int, what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m[what]++
}

// killSupervisor kills the supervisor of a server's jobs.
func (c *chaos) killSupervisor(v *victim) {
	for _, pid := range supervisorsOf(v.dir) {
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			c.count(c.killed, "supervisor")
		}
	}
}

// supervisorsOf finds the supervisors of a data directory by their command lines.
func supervisorsOf(dir string) []int {
	var pids []int
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range all {
		line, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(line, []byte("supervise\x00--dir\x00"+dir+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// enoughRage is the number of kills after which a run may end.
const enoughRage = 40

// rage kills and restarts processes until ctx ends.
func (c *chaos) rage(ctx context.Context) {
	for n := 0; ; n++ {
		if n == enoughRage {
			close(c.enough)
		}
		if !pause(ctx, time.Duration(100+c.rand.IntN(400))*time.Millisecond) {
			return
		}
		switch dice := c.rand.IntN(10); {
		case dice < 2:
			c.restart(ctx, c.agents[c.rand.IntN(len(c.agents))])
		case dice < 7:
			c.restart(ctx, c.servers[c.rand.IntN(len(c.servers))])
		case dice < 9:
			c.killSupervisor(c.servers[c.rand.IntN(len(c.servers))])
		default: // a host at once
			v := c.servers[c.rand.IntN(len(c.servers))]
			c.kill(v)
			c.killSupervisor(v)
			c.start(v)
		}
	}
}

// restart kills a process and starts it after a while.
func (c *chaos) restart(ctx context.Context, v *victim) {
	c.kill(v)
	pause(ctx, time.Duration(c.rand.IntN(600))*time.Millisecond)
	c.start(v)
}

// pause sleeps for d. It returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// rageOn waits until rage has made enough kills.
func (c *chaos) rageOn(ctx context.Context) {
	select {
	case <-c.enough:
	case <-ctx.Done():
	}
}

// revive starts the processes that do not run.
func (c *chaos) revive() {
	for _, v := range c.all() {
		if v.cmd != nil && v.cmd.Process.Signal(syscall.Signal(0)) != nil {
			c.kill(v)
		}
		if v.cmd == nil {
			c.start(v)
		}
	}
}

// end kills all processes, also the supervisors and with them the jobs.
func (c *chaos) end() {
	for _, v := range c.all() {
		c.kill(v)
		if v.dir != "" {
			c.killSupervisor(v)
		}
		_ = v.log.Close() // only the processes wrote to it
	}
}

func (c *chaos) client() *client.Client {
	cfg := client.Default(c.agents[0].url, c.agents[1].url)
	cfg.Patience = 4 * time.Minute
	grid, err := client.New(cfg)
	if err != nil {
		c.t.Fatal(err)
	}
	return grid
}

// submitAll submits all jobs from several clients, cancels some of them, moves many, and returns
// their IDs.
func (c *chaos) submitAll(ctx, raging context.Context, grid *client.Client, spawn func(func())) []string {
	var (
		mu   sync.Mutex
		ids  []string
		wg   sync.WaitGroup
		next = make(chan int)
	)
	for range 6 {
		wg.Go(func() {
			for i := range next {
				job, err := grid.Submit(ctx, "append", client.String("file", c.lines),
					client.Float("seconds", float64(i%7)/10))
				if err != nil {
					c.t.Errorf("submission %d: %v", i, err)
					continue
				}
				mu.Lock()
				ids = append(ids, job.ID)
				mu.Unlock()
				switch {
				case i%20 == 7:
					spawn(func() { _, _ = grid.Cancel(raging, job.ID) }) // check examines its outcome
				case i%2 == 0:
					spawn(func() { c.move(raging, grid, job.ID) })
				}
			}
		})
	}
	for i := range *chaosJobs {
		next <- i
		pause(ctx, 30*time.Millisecond)
	}
	close(next)
	wg.Wait()
	return ids
}

// move orders three moves of a job, each to another site.
func (c *chaos) move(ctx context.Context, grid *client.Client, id string) {
	for i := range 3 {
		to := c.servers[(int(id[len(id)-1])+i)%len(c.servers)].name
		_, _, err := grid.Move(ctx, id, client.MoveOrder{To: to})
		var refused *problem.Problem
		switch {
		case err == nil:
			c.count(c.moves, "ordered")
		case errors.As(err, &refused):
			c.count(c.moves, string(refused.Reason))
		}
		if !pause(ctx, 300*time.Millisecond) {
			return
		}
	}
}

// reallocate orders one round after another, with several algorithms and heuristics. In most
// rounds a site or the agent is killed.
func (c *chaos) reallocate(ctx context.Context, grid *client.Client) {
	var none time.Duration
	for n := 0; pause(ctx, 100*time.Millisecond); n++ {
		algorithms, heuristics := []string{"regular", "all-cancellation"}, []string{
			"mct", "minmin", "sufferage", "maxgain",
		}
		r, err := grid.Reallocate(ctx, client.ReallocateOrder{
			Algorithm: algorithms[n%2], Heuristic: heuristics[n/2%4], Window: "all", Threshold: &none,
		})
		if err != nil {
			c.count(c.rounds, "failed")
			continue
		}
		c.count(c.rounds, algorithms[n%2])
		for i := range r.Jobs {
			if r.Jobs[i].From != r.Jobs[i].To && r.Jobs[i].Ordered {
				c.count(c.rounds, "moves")
			}
		}
		if len(r.Missing) > 0 {
			c.count(c.rounds, "without a site")
		}
	}
}

// check waits for the outcomes of all jobs and counts their lines.
func (c *chaos) check(ctx context.Context, grid *client.Client, ids []string) {
	t := c.t
	if len(ids) != *chaosJobs {
		t.Errorf("%d of %d submissions were acknowledged", len(ids), *chaosJobs)
	}
	ended := make([]*client.Job, len(ids))
	var wg sync.WaitGroup
	for i, id := range ids {
		wg.Go(func() {
			job, err := grid.Wait(ctx, id)
			if err != nil {
				t.Errorf("job %s has no outcome: %v", id, err)
			}
			ended[i] = job
		})
	}
	wg.Wait()
	lines := c.linesLeft()
	states := make(map[client.State]int)
	for i, id := range ids {
		if ended[i] == nil {
			continue
		}
		state := ended[i].State
		states[state]++
		switch n := lines[id]; {
		case n > 1:
			t.Errorf("job %s is %s but ran %d times", id, state, n)
		case state == client.Done && n != 1:
			t.Errorf("job %s is done but wrote %d lines", id, n)
		}
		delete(lines, id)
	}
	for id, n := range lines {
		t.Errorf("%d lines of job %q, which was never submitted", n, id)
	}
	t.Logf("outcomes: %v; killed: %v; moves: %v; rounds: %v", states, c.killed, c.moves, c.rounds)
	if states[client.Done] < len(ids)/2 {
		t.Errorf("only %d of %d jobs are done", states[client.Done], len(ids))
	}
	if t.Failed() {
		c.keepLogs()
	}
}

// linesLeft returns the number of lines of each job.
func (c *chaos) linesLeft() map[string]int {
	data, err := os.ReadFile(c.lines)
	if err != nil {
		c.t.Error(err)
	}
	lines := make(map[string]int)
	for line := range strings.Lines(string(data)) {
		lines[strings.TrimSpace(line)]++
	}
	return lines
}

// keepLogs copies the processes' logs to a directory that remains after the test.
func (c *chaos) keepLogs() {
	to, err := os.MkdirTemp("", "drover-chaos-")
	if err != nil {
		c.t.Error(err)
		return
	}
	for _, v := range c.all() {
		if data, err := os.ReadFile(v.log.Name()); err == nil {
			_ = os.WriteFile(filepath.Join(to, v.name+".log"), data, 0o600)
		}
	}
	c.t.Logf("the logs are in %s", to)
}
