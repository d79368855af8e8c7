package main

import (
	"context"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/freeport"
	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
)

var slurmJobs = flag.Int("slurm.jobs", 36, "jobs of the tests with three Slurm clusters; make soak has 200")

// slurmGrid is three real clusters with local users, a server for each cluster, and two agents
// that run a round of reallocation every two seconds. It uses the processes of chaos without its
// random faults.
type slurmGrid struct {
	*chaos
	clusters []*slurmtest.Cluster
}

const slurmServices = `
services:
  inline:
    - name: rigid
      doc: Appends its job's ID to a file, after a while.
      args: [{name: file, type: string}, {name: seconds, type: float}]
      command: [/bin/sh, -c, 'sleep "$1"; echo "$DROVER_JOB_ID" >> "$0"', "{file}", "{seconds}"]
      model: {fixed: {width: 1, time: 50s}}
    - name: moldable
      doc: The same, on as many processors as are best.
      args: [{name: file, type: string}, {name: seconds, type: float}]
      command: [/bin/sh, -c, 'sleep "$1"; echo "$DROVER_JOB_ID" >> "$0"', "{file}", "{seconds}"]
      model: {table: {1: 150s, 2: 100s, 4: 45s}}
`

// newSlurmGrid starts a grid. It adds more to the configuration of each batch system.
func newSlurmGrid(t *testing.T, more string) *slurmGrid {
	program, err := exec.LookPath("drover")
	if err != nil {
		t.Fatal(err)
	}
	g := &slurmGrid{clusters: slurmtest.Start(
		t, slurmtest.Config{Name: "a", Nodes: 2, CPUs: 3}, slurmtest.Config{Name: "b", Nodes: 2, CPUs: 2},
		slurmtest.Config{Name: "c", Nodes: 1, CPUs: 4},
	)}
	dir := t.TempDir()
	g.chaos = &chaos{
		t: t, program: program, dir: dir, lines: filepath.Join(dir, "lines"),
		killed: make(map[string]int), moves: make(map[string]int), rounds: make(map[string]int),
	}
	var addresses [10]string
	for i := range addresses {
		addresses[i] = freeport.Address(t)
	}
	seeds := fmt.Sprintf("[%q, %q]", addresses[1], addresses[3])
	for i := range 2 {
		name := "agent" + strconv.Itoa(i+1)
		g.write(name,
			fmt.Sprintf("version: 1\nname: %s\nlisten: %s\ngossip: {bind: %s, seeds: %s}\n"+
				"reallocation: {period: 2s, threshold: 0s}\n",
				name, addresses[2*i], addresses[2*i+1], seeds))
		g.agents = append(g.agents, g.victim("agent", name, addresses[2*i]))
	}
	for i, c := range g.clusters {
		name := "site" + strconv.Itoa(i+1)
		g.write(name,
			fmt.Sprintf("version: 1\nname: %s\nlisten: %s\ngossip: {bind: %s, seeds: %s}\ndata_dir: %s\n"+
				"batch: {type: slurm, conf: %s, interval: 300ms, timeout: 3s, waiting: 8%s}\n%s",
				name, addresses[4+2*i], addresses[5+2*i], seeds, filepath.Join(dir, name), c.Conf(), more,
				slurmServices))
		v := g.victim("server", name, addresses[4+2*i])
		v.dir = filepath.Join(dir, name)
		g.servers = append(g.servers, v)
	}
	g.begin()
	t.Cleanup(g.end)
	return g
}

// locals submits jobs of local users to the clusters until ctx ends.
func (g *slurmGrid) locals(ctx context.Context, wg *sync.WaitGroup) {
	for i, c := range g.clusters {
		wg.Go(func() {
			for n := i; pause(ctx, 1500*time.Millisecond); n++ {
				// An error means that the controller is down.
				_ = c.Command(ctx, "sbatch", "--job-name=local", "--output=/dev/null", "--time=1",
					"--ntasks="+strconv.Itoa(1+n%2), "--wrap", "sleep 2").Run()
			}
		})
	}
}

// submitCalls submits jobs of both services from several clients and returns their IDs. It also
// calls the functions of happen, one after the other and evenly distributed over the submissions,
// and waits for their ends.
func (g *slurmGrid) submitCalls(ctx context.Context, grid *client.Client, happen ...func()) []string {
	var (
		mu    sync.Mutex
		ids   []string
		wg    sync.WaitGroup
		next  = make(chan int)
		now   = make(chan func(), len(happen))
		total = *slurmJobs
	)
	for range 4 {
		wg.Go(func() {
			for i := range next {
				service := []string{"rigid", "moldable"}[i%2]
				job, err := grid.Submit(ctx, service, client.String("file", g.lines),
					client.Float("seconds", float64(i%5)/4))
				if err != nil {
					g.t.Errorf("submission %d: %v", i, err)
					continue
				}
				mu.Lock()
				ids = append(ids, job.ID)
				mu.Unlock()
			}
		})
	}
	wg.Go(func() {
		for do := range now {
			do()
		}
	})
	for i, begun := 0, 0; i < total; i++ {
		next <- i
		for begun < len(happen) && (i+1)*(len(happen)+1) >= total*(begun+1) {
			now <- happen[begun]
			begun++
		}
		pause(ctx, 100*time.Millisecond)
	}
	close(next)
	close(now)
	wg.Wait()
	return ids
}

// once waits for all jobs and fails the test unless each ran exactly once. If lost is set, Slurm
// may have killed jobs while they ran; once returns these jobs.
func (g *slurmGrid) once(ctx context.Context, grid *client.Client, ids []string, lost bool) (killed []string) {
	t := g.t
	if len(ids) != *slurmJobs {
		t.Errorf("%d of %d submissions were acknowledged", len(ids), *slurmJobs)
	}
	moved, sites := 0, make(map[string]int)
	begun := time.Now()
	for _, id := range ids {
		job, err := grid.Wait(ctx, id)
		if err != nil {
			t.Errorf("job %s has no outcome: %v", id, err)
			continue
		}
		switch {
		case job.State == client.Done:
		case lost && strings.HasPrefix(job.Outcome.Reason, "lost: "):
			killed = append(killed, id)
		default:
			t.Errorf("job %s is %s: %+v", id, job.State, job.Outcome)
		}
		sites[job.Site]++
		if job.Epoch > 0 {
			moved++
		}
	}
	lines := g.linesLeft()
	for _, id := range ids {
		if lines[id] != 1 && !(lines[id] == 0 && slices.Contains(killed, id)) {
			t.Errorf("job %s ran %d times", id, lines[id])
		}
		delete(lines, id)
	}
	if len(lines) > 0 {
		t.Errorf("jobs that were never submitted ran: %v", lines)
	}
	t.Logf("%d jobs, %d of them with a move order; they ended at %v, the last one %v after all were "+
		"submitted",
		len(ids), moved, sites, time.Since(begun).Round(time.Second))
	if t.Failed() {
		g.keepLogs()
	}
	return killed
}

// Local users compete for the nodes, agents run rounds every two seconds, a controller is stopped
// and started, and an agent and a server are killed.
func TestJobsOnThreeSlurmClustersRunOnceEach(t *testing.T) {
	t.Parallel()
	g := newSlurmGrid(t, "")
	ctx, cancel := context.WithTimeout(t.Context(), patienceWithSlurm())
	defer cancel()
	grid := g.client()
	defer grid.Close()
	var people sync.WaitGroup
	busy, rest := context.WithCancel(ctx)
	g.locals(busy, &people)
	ids := g.submitCalls(
		ctx, grid,
		func() {
			g.clusters[0].Stop(t)
			pause(ctx, 3*time.Second)
			g.clusters[0].StartController(t)
		},
		func() { g.restartAfter(ctx, g.agents[0]) },
		func() { g.restartAfter(ctx, g.servers[1]) },
	)
	rest()
	people.Wait()
	g.once(ctx, grid, ids, false)
}

// patienceWithSlurm is the time limit of a test.
func patienceWithSlurm() time.Duration { return time.Minute + time.Duration(*slurmJobs)*2*time.Second }

// restartAfter kills a process and restarts it after half a second.
func (g *slurmGrid) restartAfter(ctx context.Context, v *victim) {
	g.kill(v)
	pause(ctx, 500*time.Millisecond)
	g.start(v)
}

// A controller that is killed can forget jobs that it accepted, or run a job twice. Drover still
// runs each job once, and reports what Slurm did.
func TestJobsLostOrDoubledByAKilledControllerAreReported(t *testing.T) {
	t.Parallel()
	g := newSlurmGrid(t, "")
	ctx, cancel := context.WithTimeout(t.Context(), patienceWithSlurm())
	defer cancel()
	grid := g.client()
	defer grid.Close()
	crash := func(i int) func() {
		return func() {
			g.clusters[i].Kill(t)
			pause(ctx, time.Second)
			g.clusters[i].StartController(t)
		}
	}
	ids := g.submitCalls(ctx, grid, crash(0), crash(1), crash(0))
	tended, leave := context.WithCancel(ctx)
	var operator sync.WaitGroup
	operator.Go(func() { g.tend(tended) })
	killed := g.once(ctx, grid, ids, true)
	leave()
	operator.Wait()
	g.accountFor(ids, killed)
}

// tend acts as the clusters' operator. A node on which the controller found unknown jobs is
// drained until an operator resumes it.
func (g *slurmGrid) tend(ctx context.Context) {
	for pause(ctx, time.Second) {
		for _, c := range g.clusters {
			out, err := c.Command(ctx, "sinfo", "--noheader", "--Node", "--states=drain,down", "--format=%N").Output()
			if err != nil {
				continue // the controller is down
			}
			for _, node := range strings.Fields(string(out)) {
				// An error is ignored: the next pass tries again.
				_ = c.Command(ctx, "scontrol", "update", "NodeName="+node, "State=RESUME").Run()
			}
		}
	}
}

// If a site's controller is down, its state is unknown: a round continues with the other sites
// and reports the missing one. When the controller is back, rounds include the site again.
func TestRoundsLeaveOutASlurmThatDoesNotAnswer(t *testing.T) {
	g := newSlurmGrid(t, ", stale: 1s")
	grid := g.client()
	defer grid.Close()
	round := func() (sites int, left string) {
		r, err := grid.Reallocate(t.Context(), client.ReallocateOrder{})
		if err != nil {
			return 0, err.Error()
		}
		for _, m := range r.Missing {
			left += m.Site
			if m.Detail != nil {
				left += " " + string(m.Detail.Reason)
			}
		}
		return r.Round.Sites, left
	}
	await := func(sites int, left string) {
		t.Helper()
		slurmtest.Until(t, fmt.Sprintf("%d sites in a round, without %q", sites, left), func() bool {
			n, l := round()
			return n == sites && l == left
		})
	}
	await(3, "")
	g.clusters[0].Stop(t)
	await(2, "site1 batch-silent")
	g.clusters[0].StartController(t)
	await(3, "")
	if t.Failed() {
		g.keepLogs()
	}
}
