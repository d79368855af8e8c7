package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
)

// benchSlurmSite is the configuration of the server that a benchmark puts in front of
// a Slurm cluster.
const benchSlurmSite = `version: 1
name: bench
listen: 127.0.0.1:0
gossip: {bind: 127.0.0.1:0}
data_dir: %q
on_stop: end
batch: {type: slurm, conf: %q, waiting: %d}
services:
  inline:
    - name: noop
      doc: Does nothing.
      command: ["true"]
      walltime: {factor: 1, margin: 60s}
      model: {fixed: {width: 1, time: "1"}}
`

const (
	slurmTurns   = 3
	mostSlurm    = 20_000           // jobs of one turn
	slurmArrives = 10 * time.Minute // for all jobs of a turn to be in Slurm
)

// versusSlurm measures plain sbatch and Drover in turns, with as many submitters and
// jobs each. The jobs only wait, so that it is submissions that are measured.
func (c *benchSubmitCmd) versusSlurm(a *app) error {
	if c.Jobs < c.Clients || c.Jobs > mostSlurm {
		return &usageError{message: fmt.Sprintf("--jobs %d, accepted: %d (one for each of --clients)..%d", c.Jobs, c.Clients, mostSlurm)}
	}
	conf, err := filepath.Abs(c.Slurm)
	if err != nil {
		return err
	}
	b := &slurmBench{conf: conf, clients: c.Clients, jobs: c.Jobs}
	v := &slurmBenchView{Schema: "drover.bench.submit-slurm/1", Clients: c.Clients, Jobs: c.Jobs, Turns: []slurmTurnView{}}
	var handed, taken []float64
	for range slurmTurns {
		plain, err := b.plain(a.ctx)
		if err != nil {
			return fmt.Errorf("plain sbatch: %w", err)
		}
		t, err := b.through(a)
		if err != nil {
			return fmt.Errorf("through Drover: %w", err)
		}
		t.Plain = plain
		v.Turns = append(v.Turns, t)
		handed, taken = append(handed, t.InSlurm/plain), append(taken, t.Acknowledged/plain)
	}
	slices.Sort(handed)
	slices.Sort(taken)
	v.Ratio, v.AcknowledgedRatio = handed[slurmTurns/2], taken[slurmTurns/2]
	if a.flags.JSON {
		return writeJSON(a.stdout, v)
	}
	printSlurmBench(a.stdout, v)
	return nil
}

// slurmBench is one comparison.
type slurmBench struct {
	conf    string
	clients int
	jobs    int
}

// command is one of Slurm's.
func (b *slurmBench) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+b.conf)
	return cmd
}

// each has so many submitters do something for all jobs, and returns what it took.
func (b *slurmBench) each(do func(client int) error) (time.Duration, error) {
	var next atomic.Int64
	errs := make([]error, b.clients)
	var wg sync.WaitGroup
	began := time.Now()
	for i := range b.clients {
		wg.Go(func() {
			for errs[i] == nil && next.Add(1) <= int64(b.jobs) {
				errs[i] = do(i)
			}
		})
	}
	wg.Wait()
	return time.Since(began), errors.Join(errs...)
}

// plain returns submissions per second by sbatch.
func (b *slurmBench) plain(ctx context.Context) (float64, error) {
	const name = "plain-bench"
	defer func() { _ = b.command(context.WithoutCancel(ctx), "scancel", "--name="+name).Run() }() // they would wait for a day
	took, err := b.each(func(int) error {
		cmd := b.command(ctx, "sbatch", "--parsable", "--job-name="+name, "--begin=now+1day", "--ntasks=1", "--time=2", "--output=/dev/null")
		cmd.Stdin = strings.NewReader("#!/bin/sh\nexec true\n")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("sbatch: %w: %s", err, strings.TrimSpace(string(out)))
		}
		return nil
	})
	return float64(b.jobs) / took.Seconds(), err
}

// through returns submissions per second through a server: until they were
// acknowledged, and until Slurm had them.
func (b *slurmBench) through(a *app) (slurmTurnView, error) {
	own, err := startBenchServer(a, func(dir string) string {
		return fmt.Sprintf(benchSlurmSite, filepath.Join(dir, "data"), b.conf, b.jobs)
	})
	if err != nil {
		return slurmTurnView{}, err
	}
	defer own.stop()
	clients := make([]*client.Direct, b.clients)
	for i := range clients {
		if clients[i], err = client.NewDirect(own.url, client.Default(a.agents()...)); err != nil {
			return slurmTurnView{}, err
		}
		defer clients[i].Close()
	}
	tomorrow := client.EarliestStart(time.Now().Add(24 * time.Hour))
	began := time.Now()
	acknowledged, err := b.each(func(i int) error {
		_, err := clients[i].Submit(a.ctx, benchService, tomorrow)
		return err
	})
	if err != nil {
		return slurmTurnView{}, err
	}
	arrived, err := b.arrived(a.ctx, began)
	n := float64(b.jobs)
	return slurmTurnView{Acknowledged: n / acknowledged.Seconds(), InSlurm: n / arrived.Seconds()}, err
}

// arrived waits until Slurm has all jobs, and returns how long that is after began.
func (b *slurmBench) arrived(ctx context.Context, began time.Time) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, slurmArrives)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		out, err := b.command(ctx, "squeue", "--noheader", "--format=%j").Output()
		if err != nil {
			return 0, fmt.Errorf("squeue: %w", err)
		}
		took := time.Since(began)
		n := strings.Count(string(out), "drover-")
		if n >= b.jobs {
			return took, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, fmt.Errorf("%s of %d jobs are in Slurm: %w", strconv.Itoa(n), b.jobs, ctx.Err())
		}
	}
}
