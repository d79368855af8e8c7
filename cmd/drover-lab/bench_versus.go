package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/bench"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/slurmd"
)

// benchVersusCmd has the same jobs run on two sets of equal clusters, which it starts.
//
//	same jobs ──┬─▶ client ─▶ agent ─▶ 3 servers ─▶ clusters d1, d2, d3
//	            └─▶ Slurm's rule ─────────────────▶ clusters s1, s2, s3
type benchVersusCmd struct {
	droverFlag

	Seed        uint64        `default:"1" help:"Seed of the first repetition's jobs; each next repetition has the next seed."`
	Repetitions int           `default:"3" help:"Number of repetitions, each with other jobs."`
	Minutes     float64       `default:"9" help:"Minutes in which jobs are submitted. They run for 1 to 10 minutes."`
	Load        float64       `default:"1.3" help:"Submitted work, over what the clusters can do in that time. They are empty at the start."`
	Local       float64       `default:"0.25" help:"The share of the work that local users submit to their clusters."`
	Processors  []int         `default:"16,24,40" help:"Processors of each cluster."`
	Node        int           `default:"1" help:"Processors of a node: Slurm's backfilling keeps whole nodes free for jobs that wait."`
	Rule        string        `default:"will-run" enum:"will-run,multi-cluster" help:"Slurm's side: multi-cluster is sbatch --clusters, with a slurmdbd for all clusters of both sides; will-run asks every cluster the same without slurmdbd, and submits to the one that would start the job first."`
	Period      time.Duration `default:"20s" help:"Time between two rounds of reallocation; 0: no rounds."`
	Threshold   time.Duration `default:"30s" help:"The least gain of a move."`
	MostMoves   int           `default:"0" help:"The most moves of a job; 0: no limit."`
	Algorithm   string        `default:"regular" help:"Algorithm of reallocation."`
	Heuristic   string        `default:"mct" help:"Heuristic of reallocation."`
	Model       string        `default:"easy" help:"The policy by which Drover models Slurm: ${whole_policies}."`
	Limit       time.Duration `default:"25m" help:"The longest time of a repetition."`
	InTurn      bool          `help:"Run one side after the other instead of both at the same time."`
	Quick       bool          `help:"Jobs of 1 to 5 seconds on small clusters, to see that it works; the figures mean nothing."`
	Out         string        `placeholder:"DIR" type:"path" help:"Append every job to DIR/jobs.csv."`
}

// The ranges of the flags.
const (
	versusMostNodes   = 256 // of all clusters of a side
	versusRepetitions = 100
	versusLongest     = 12 * time.Hour // Minutes, and Limit
)

func (c *benchVersusCmd) validate() error {
	bad := func(format string, args ...any) error {
		return &cmdline.UsageError{Message: fmt.Sprintf(format, args...)}
	}
	window := time.Duration(c.Minutes * float64(time.Minute))
	switch {
	case c.Repetitions < 1 || c.Repetitions > versusRepetitions:
		return bad("--repetitions %d, accepted: 1..%d", c.Repetitions, versusRepetitions)
	case !(c.Minutes > 0) || window > versusLongest:
		return bad("--minutes %v, accepted: above 0, up to %v", c.Minutes, versusLongest.Minutes())
	case !(c.Load > 0 && c.Load <= 10):
		return bad("--load %v, accepted: above 0, up to 10", c.Load)
	case !(c.Local >= 0 && c.Local < 1):
		return bad("--local %v, accepted: 0 or more, below 1", c.Local)
	case len(c.Processors) < 2:
		return bad("--processors %v, accepted: at least two clusters", c.Processors)
	case c.Limit <= 0 || c.Limit > versusLongest:
		return bad("--limit %v, accepted: above 0s, up to %v", c.Limit, versusLongest)
	case c.MostMoves < 0:
		return bad("--most-moves %d, accepted: 0 or more", c.MostMoves)
	case c.Period != 0 && c.Period < time.Second || c.Threshold < 0:
		return bad("--period %v, --threshold %v, accepted: 0 or at least 1s, and 0s or more", c.Period, c.Threshold)
	}
	for _, n := range c.Processors {
		if c.Node < 1 || n < 2 || n%c.Node != 0 {
			return bad("--processors %d, --node %d, accepted: at least 2, and a multiple of the processors of a node",
				n, c.Node)
		}
	}
	if nodes := c.processors() / c.Node; nodes > versusMostNodes {
		return bad("%d nodes of %d processors on each side, accepted: up to %d nodes", nodes, c.Node, versusMostNodes)
	}
	return nil
}

// workload is how the jobs of a repetition are made.
func (c *benchVersusCmd) workload(repetition int) bench.Workload {
	w := bench.Workload{
		Seed: c.Seed + uint64(repetition), Clusters: c.Processors,
		Window: time.Duration(c.Minutes * float64(time.Minute)),
		Load:   c.Load, Local: c.Local, Shortest: time.Minute, Longest: 10 * time.Minute,
	}
	if c.Quick {
		w.Shortest, w.Longest = time.Second, 5*time.Second
	}
	return w
}

func (c *benchVersusCmd) Run(a *app) error {
	if c.Quick {
		c.Processors, c.Node, c.Minutes, c.Load, c.Period = []int{4, 4, 8}, 2, 0.1, 0.8, time.Second
		c.Repetitions = min(c.Repetitions, 2)
	}
	if err := c.validate(); err != nil {
		return err
	}
	var more []string
	if c.Rule == multiCluster {
		more = slurmd.AccountingPrograms
	}
	if why := slurmd.Lacks(more...); why != "" {
		return fmt.Errorf("no clusters can be started: %s", why)
	}
	if c.Out != "" {
		if err := os.MkdirAll(c.Out, 0o755); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	v := newVersusView(c)
	var all versusRuns
	for i := range c.Repetitions {
		if err := c.turn(a, v, &all, i); err != nil {
			return errors.Join(err, v.print(a, &all)) // what was measured before is not lost
		}
	}
	return v.print(a, &all)
}

// turn makes one repetition and puts it into the view and among all runs.
func (c *benchVersusCmd) turn(a *app, v *versusView, all *versusRuns, i int) error {
	w := c.workload(i)
	_, _ = fmt.Fprintf(a.Stderr, "repetition %d of %d, seed %d\n", i+1, c.Repetitions, w.Seed)
	r, err := c.repeat(a, &w)
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return fmt.Errorf("repetition %d (seed %d): %w", i+1, w.Seed, err)
	}
	if c.Out != "" {
		if err := r.write(filepath.Join(c.Out, "jobs.csv"), i+1); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	v.add(&w, r)
	all.drover, all.slurm = append(all.drover, r.drover...), append(all.slurm, r.slurm...)
	if !a.flags.JSON {
		printVersusTurn(a.Stdout, &v.Repetitions[i])
	}
	return nil
}

// versusRuns is what has become of the jobs on both sides.
type versusRuns struct{ drover, slurm []bench.Run }

// check says whether each job has run once on each side.
func (r *versusRuns) check() error {
	for name, runs := range map[string][]bench.Run{"Drover": r.drover, "Slurm": r.slurm} {
		for i := range runs {
			if runs[i].Times != 1 {
				return fmt.Errorf("job %s has run %d times on the side of %s", runs[i].Job.ID, runs[i].Times, name)
			}
		}
	}
	return nil
}

// repeat plays one workload on both sides, on new clusters.
func (c *benchVersusCmd) repeat(a *app, w *bench.Workload) (_ *versusRuns, err error) {
	host, err := slurmd.Open(a.ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := host.Close(); err == nil {
			err = e
		}
	}()
	script := filepath.Join(host.Dir(), "job.sh")
	if err := os.WriteFile(script, []byte(bench.Script), 0o755); err != nil {
		return nil, err
	}
	if c.Rule == multiCluster {
		if err := host.Account(a.ctx); err != nil {
			return nil, err
		}
	}
	sets := [2]*bench.Slurm{}
	for i, name := range []string{"d", "s"} {
		clusters, err := host.Start(a.ctx, c.clusters(name)...)
		if err != nil {
			return nil, err
		}
		sets[i] = &bench.Slurm{Clusters: clusters, Script: script, Notes: filepath.Join(host.Dir(), name+".notes")}
	}
	jobs := w.Generate()
	limit := fmt.Errorf("longer than --limit %v", c.Limit)
	var r versusRuns
	sides := []func(context.Context) error{
		func(ctx context.Context) (err error) {
			r.drover, err = c.byDrover(ctx, a, filepath.Join(host.Dir(), "drover"), sets[0], jobs)
			return err
		},
		func(ctx context.Context) (err error) {
			r.slurm, err = bench.Play(ctx, jobs, sets[1], c.rule(sets[1]), versusProgress(a, "Slurm"))
			return err
		},
	}
	if c.InTurn {
		for _, side := range sides {
			ctx, cancel := context.WithTimeoutCause(a.ctx, c.Limit, limit)
			err := side(ctx)
			cancel()
			if err != nil {
				return nil, err
			}
		}
		return &r, nil
	}
	timed, cancelTimed := context.WithTimeoutCause(a.ctx, c.Limit, limit)
	defer cancelTimed()
	ctx, cancel := context.WithCancelCause(timed)
	defer cancel(nil)
	var wg sync.WaitGroup
	for _, side := range sides {
		wg.Go(func() {
			if err := side(ctx); err != nil {
				cancel(err) // the other side has nothing to be compared with
			}
		})
	}
	wg.Wait()
	return &r, context.Cause(ctx)
}

// multiCluster is the rule that needs slurmdbd.
const multiCluster = "multi-cluster"

func (c *benchVersusCmd) rule(s *bench.Slurm) bench.SideFunc {
	if c.Rule == multiCluster {
		return s.ByClusters
	}
	return s.ByRule
}

// clusters are those of one side.
func (c *benchVersusCmd) clusters(name string) []slurmd.Config {
	var list []slurmd.Config
	for i, n := range c.Processors {
		list = append(list, slurmd.Config{Name: fmt.Sprintf("%s%d", name, i+1), Nodes: n / c.Node, CPUs: c.Node})
	}
	return list
}

// versusInterval is the time between two lines of progress.
const versusInterval = time.Minute

// versusProgress returns a function that prints the progress of a side.
func versusProgress(a *app, name string) func(submitted, ended int) {
	began := time.Now()
	next := began.Add(versusInterval)
	return func(submitted, ended int) {
		if now := time.Now(); now.After(next) {
			next = now.Add(versusInterval)
			_, _ = fmt.Fprintf(a.Stderr, "  %6s %-6s %d submitted, %d ended\n", cmdline.Span(now.Sub(began)), name,
				submitted,
				ended)
		}
	}
}

// processors is how many a side has.
func (c *benchVersusCmd) processors() int {
	sum := 0
	for _, n := range c.Processors {
		sum += n
	}
	return sum
}

// versusService is the service that both sides' jobs are of.
const versusService = "job"

// versusSettles is how long a job that has written its last line may take until Drover
// has seen its end.
const versusSettles = 2 * time.Minute

// byDrover plays a workload through a client, an agent and a server in front of each
// cluster.
func (c *benchVersusCmd) byDrover(
	ctx context.Context, a *app, dir string, s *bench.Slurm, jobs []bench.Job,
) (_ []bench.Run, err error) {
	g := &labGrid{dir: dir}
	defer g.stop()
	if err := c.startGrid(ctx, g, s); err != nil {
		return nil, err
	}
	grid, err := client.New(client.Default(g.agent.URL))
	if err != nil {
		return nil, err
	}
	defer grid.Close()
	if err := awaitSites(ctx, grid, len(s.Clusters)); err != nil {
		return nil, err
	}
	side := &droverSide{grid: grid, slurm: s, ids: make(chan [2]string, len(jobs))}
	runs, err := bench.Play(ctx, jobs, s, side, versusProgress(a, "Drover"))
	if err != nil {
		var said []error
		for _, m := range g.daemons {
			if log := m.Log(); log != "" {
				said = append(said, fmt.Errorf("%s said at last: %s", m.Name, log))
			}
		}
		return runs, errors.Join(append([]error{err}, said...)...)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, versusSettles,
		fmt.Errorf("not all jobs are known to have ended %v after they have", versusSettles))
	defer cancel()
	if err := side.settle(ctx, runs); err != nil {
		return runs, err
	}
	_, err = s.Read(runs)
	return runs, err
}

// labGrid is an agent and servers that a benchmark has started.
type labGrid struct {
	dir     string // of their configurations and data
	agent   *child
	daemons []*child // the agent first
}

// start starts one of them.
func (g *labGrid) start(ctx context.Context, program, role, name string, config document) (*child, error) {
	data, err := yaml.Marshal(config)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(g.dir, name+".yaml")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return nil, err
	}
	d, err := startChild(context.WithoutCancel(ctx), program, role, name, path) // stop ends it
	if err != nil {
		return nil, err
	}
	g.daemons = append(g.daemons, d)
	return d, d.wait(ctx)
}

// stop ends all of them at the same time.
func (g *labGrid) stop() {
	var wg sync.WaitGroup
	for _, d := range g.daemons {
		wg.Go(d.end)
	}
	wg.Wait()
}

// startGrid starts the agent, and a server in front of each cluster.
func (c *benchVersusCmd) startGrid(ctx context.Context, g *labGrid, s *bench.Slurm) error {
	program, err := c.program()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(g.dir, 0o755); err != nil {
		return err
	}
	period := "off"
	if c.Period > 0 {
		period = c.Period.String()
	}
	g.agent, err = g.start(ctx, program, "agent", "agent", document{
		"version": 1, "name": "agent", "listen": "127.0.0.1:0",
		"gossip":  document{"bind": "127.0.0.1:0"},
		"network": document{"bandwidth": "125MB/s", "latency": "1ms"},
		"reallocation": document{
			"period": period, "threshold": c.Threshold.String(), "algorithm": c.Algorithm, "heuristic": c.Heuristic,
			"most_moves": c.MostMoves,
		},
	})
	if err != nil {
		return err
	}
	for _, cluster := range s.Clusters {
		if _, err := g.start(ctx, program, "server", cluster.Name, c.site(g.dir, g.agent.Gossip, cluster,
			s)); err != nil {
			return err
		}
	}
	return nil
}

// awaitSites waits until the agent knows so many sites, and all of them answer.
func awaitSites(ctx context.Context, grid *client.Client, n int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, daemonStart, fmt.Errorf("the agent does not know %d sites after %v", n,
		daemonStart))
	defer cancel()
	for {
		sites, err := grid.Sites(ctx)
		silent := slices.ContainsFunc(sites, func(s client.Site) bool { return s.Status == nil })
		if err == nil && len(sites) >= n && !silent {
			return nil
		}
		if await(ctx, 50*time.Millisecond) != nil {
			return context.Cause(ctx)
		}
	}
}

// document is a configuration file.
type document map[string]any

// site is the configuration of the server in front of a cluster.
func (c *benchVersusCmd) site(dir, seed string, cluster *slurmd.Cluster, s *bench.Slurm) document {
	return document{
		"version": 1, "name": cluster.Name, "listen": "127.0.0.1:0", "data_dir": filepath.Join(dir,
			cluster.Name), "on_stop": "end",
		"gossip": document{"bind": "127.0.0.1:0", "seeds": []string{seed}},
		"batch":  document{"type": "slurm", "conf": cluster.Conf(), "model": document{"name": c.Model}},
		"services": document{"inline": []document{{
			"name": versusService, "doc": "Sleeps, and writes down when it did.",
			"args":    []document{{"name": "id", "type": "string"}, {"name": "seconds", "type": "float"}},
			"command": []string{"/bin/sh", s.Script, "{id}", "{seconds}", s.Notes},
			"model":   document{"fixed": document{"width": 1, "time": "1s"}}, // every request brings its own
		}}},
	}
}

// droverSide submits to the grid.
type droverSide struct {
	grid  *client.Client
	slurm *bench.Slurm
	ids   chan [2]string // the workload's ID of each job, and Drover's
}

// Place asks Slurm what it would say of the job, for the comparison of estimates, and
// has Drover run it.
func (d *droverSide) Place(ctx context.Context, r *bench.Run) error {
	j := &r.Job
	tests, err := d.slurm.Ask(ctx, j)
	if err != nil {
		return err
	}
	asked := time.Now()
	job, err := d.grid.Submit(
		ctx, versusService, client.String("id", j.ID), client.Float("seconds", j.Runtime.Seconds()),
		client.Shapes(client.Shape{Width: j.Width, Walltime: j.Walltime}),
	)
	if err != nil {
		return fmt.Errorf("submit %s: %w", j.ID, err)
	}
	if r.Cluster = slices.IndexFunc(d.slurm.Clusters,
		func(c *slurmd.Cluster) bool { return c.Name == job.Site }); r.Cluster < 0 {
		return fmt.Errorf("job %s is at %s, not one of the clusters", j.ID, job.Site)
	}
	r.Test, r.Forecast, r.Expected = tests[r.Cluster], asked.Add(job.EstimatedWait), asked.Add(job.EstimatedCompletion)
	d.ids <- [2]string{j.ID, job.ID}
	return nil
}

// settle waits until Drover knows of all jobs that they have ended, and notes how often
// they have moved.
func (d *droverSide) settle(ctx context.Context, runs []bench.Run) error {
	close(d.ids)
	at := make(map[string]*bench.Run)
	for i := range runs {
		at[runs[i].Job.ID] = &runs[i]
	}
	for pair := range d.ids {
		job, err := d.grid.Wait(ctx, pair[1])
		if cause := context.Cause(ctx); err != nil && cause != nil {
			return cause
		}
		if err != nil {
			return fmt.Errorf("job %s: %w", pair[0], err)
		}
		if job.State != client.Done {
			return fmt.Errorf("job %s is %s: %s", pair[0], job.State, job.Outcome.Reason)
		}
		for i := range job.Moves {
			if job.Moves[i].State == client.MoveMoved {
				at[pair[0]].Moves++
			}
		}
	}
	return nil
}
