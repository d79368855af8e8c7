package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/bench"
	"github.com/seed-9b8f70bb/drover/internal/slurmd"
)

// versusService is the service that both sides' jobs are of.
const versusService = "job"

// versusSettles is how long a job that has written its last line may take until Drover
// has seen its end.
const versusSettles = 2 * time.Minute

// byDrover plays a workload through a client, an agent and a server in front of each
// cluster.
func (c *benchVersusCmd) byDrover(ctx context.Context, a *app, dir string, s *bench.Slurm, jobs []bench.Job) (_ []bench.Run, err error) {
	g, err := c.startGrid(ctx, dir, s)
	if err != nil {
		return nil, err
	}
	defer func() {
		g.end()
		for _, m := range g.members {
			<-m.over
		}
	}()
	grid, err := client.New(client.Default(g.agent.url))
	if err != nil {
		return nil, err
	}
	defer grid.Close()
	if _, err := awaitSites(ctx, grid, len(s.Clusters)); err != nil {
		return nil, err
	}
	side := &droverSide{grid: grid, slurm: s, ids: make(chan [2]string, len(jobs))}
	runs, err := bench.Play(ctx, jobs, s, side, versusProgress(a, "Drover"))
	if err != nil {
		var said []error
		for _, m := range g.members {
			if log := m.log.String(); log != "" {
				said = append(said, fmt.Errorf("%s said at last: %s", m.name, log))
			}
		}
		return runs, errors.Join(append([]error{err}, said...)...)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, versusSettles, fmt.Errorf("not all jobs are known to have ended %v after they have", versusSettles))
	defer cancel()
	if err := side.settle(ctx, runs); err != nil {
		return runs, err
	}
	_, err = s.Read(runs)
	return runs, err
}

// startGrid starts the agent and the servers.
func (c *benchVersusCmd) startGrid(ctx context.Context, dir string, s *bench.Slurm) (_ *demoGrid, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx)) // the members outlive ctx
	g := &demoGrid{dir: dir, end: end}
	defer func() {
		if err != nil {
			end()
		}
	}()
	period := "off"
	if c.Period > 0 {
		period = c.Period.String()
	}
	config := demoAgentConfig()
	config["reallocation"] = document{
		"period": period, "threshold": c.Threshold.String(), "algorithm": c.Algorithm, "heuristic": c.Heuristic,
		"most_moves": c.MostMoves,
	}
	if g.agent, err = g.start(life, program, "agent", "agent", config); err != nil {
		return nil, err
	}
	if err := g.agent.wait(ctx); err != nil {
		return nil, err
	}
	for _, cluster := range s.Clusters {
		m, err := g.start(life, program, "server", cluster.Name, c.site(dir, g.agent.gossip, cluster, s))
		if err != nil {
			return nil, err
		}
		if err := m.wait(ctx); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// site is the configuration of the server in front of a cluster.
func (c *benchVersusCmd) site(dir, seed string, cluster *slurmd.Cluster, s *bench.Slurm) document {
	return document{
		"version": 1, "name": cluster.Name, "listen": "127.0.0.1:0", "data_dir": filepath.Join(dir, cluster.Name), "on_stop": "end",
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
	if r.Cluster = slices.IndexFunc(d.slurm.Clusters, func(c *slurmd.Cluster) bool { return c.Name == job.Site }); r.Cluster < 0 {
		return fmt.Errorf("job %s is at %s, which is none of the clusters", j.ID, job.Site)
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
