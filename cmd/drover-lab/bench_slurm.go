package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
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
	slurmTurns   = 5
	mostSlurm    = 20_000           // jobs of one turn
	slurmArrives = 10 * time.Minute // for all jobs of a turn to be in Slurm
	slurmLook    = 10 * time.Millisecond
	slurmEmpties = time.Minute   // for the jobs of a half turn to be gone
	plainBench   = "plain-bench" // the name of jobs without Drover
)

// versusSlurm measures plain sbatch and Drover in turns, with as many submitters and
// jobs each. The jobs only wait: submissions alone are measured. The second of the two
// meets a controller that remembers more jobs, so they also take turns in being first.
func (c *benchSubmitCmd) versusSlurm(a *app) error {
	if c.Jobs < c.Clients || c.Jobs > mostSlurm {
		return &cmdline.UsageError{Message: fmt.Sprintf("--jobs %d, accepted: %d (one for each of --clients)..%d",
			c.Jobs,
			c.Clients, mostSlurm)}
	}
	conf, err := filepath.Abs(c.Slurm)
	if err != nil {
		return err
	}
	b := &slurmBench{droverFlag: c.droverFlag, conf: conf, clients: c.Clients, jobs: c.Jobs}
	// A file system looks past what was removed a moment ago for room for new files.
	defer func() {
		for _, s := range b.ended {
			s.remove()
		}
	}()
	v := &slurmBenchView{
		Schema: "drover.bench.submit-slurm/1", Clients: c.Clients, Jobs: c.Jobs, Turns: []slurmTurnView{},
	}
	var handed, taken []float64
	for i := range slurmTurns {
		t := slurmTurnView{DroverFirst: i%2 == 1}
		halves := []func() error{
			func() (err error) { t.Plain, err = b.plain(a.ctx); return },
			func() (err error) { t.Acknowledged, t.InSlurm, err = b.through(a); return },
		}
		if t.DroverFirst {
			slices.Reverse(halves)
		}
		for _, half := range halves {
			if err := errors.Join(half(), b.emptied(a.ctx)); err != nil {
				return err
			}
		}
		v.Turns = append(v.Turns, t)
		handed, taken = append(handed, t.InSlurm/t.Plain), append(taken, t.Acknowledged/t.Plain)
	}
	slices.Sort(handed)
	slices.Sort(taken)
	v.Ratio, v.AcknowledgedRatio = handed[slurmTurns/2], taken[slurmTurns/2]
	if a.flags.JSON {
		return cmdline.WriteJSON(a.Stdout, v)
	}
	printSlurmBench(a.Stdout, v)
	return nil
}

// slurmBench is one comparison.
type slurmBench struct {
	droverFlag
	conf    string
	clients int
	jobs    int
	ended   []*child // their directories still exist
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
	defer func() {
		_ = b.command(context.WithoutCancel(ctx), "scancel",
			"--name="+plainBench).Run()
	}() // they would wait for a day
	took, err := b.each(func(int) error {
		cmd := b.command(ctx, "sbatch", "--parsable", "--job-name="+plainBench, "--begin=now+1day", "--ntasks=1",
			"--time=2",
			"--output=/dev/null")
		cmd.Stdin = strings.NewReader("#!/bin/sh\nexec true\n")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("plain sbatch: %w: %s", err, strings.TrimSpace(string(out)))
		}
		return nil
	})
	return float64(b.jobs) / took.Seconds(), err
}

// through returns submissions per second through a server: until they were
// acknowledged, and until Slurm had them.
func (b *slurmBench) through(a *app) (acknowledged, inSlurm float64, err error) {
	own, err := b.startServer(a, func(dir string) string {
		return fmt.Sprintf(benchSlurmSite, filepath.Join(dir, "data"), b.conf, b.jobs)
	})
	if err != nil {
		return 0, 0, err
	}
	b.ended = append(b.ended, own)
	defer own.end()
	clients := make([]*client.Direct, b.clients)
	for i := range clients {
		if clients[i], err = client.NewDirect(own.URL, client.Default()); err != nil {
			return 0, 0, err
		}
		defer clients[i].Close()
	}
	before, err := b.taken(a.ctx)
	if err != nil {
		return 0, 0, err
	}
	tomorrow := client.EarliestStart(time.Now().Add(24 * time.Hour))
	began := time.Now()
	took, err := b.each(func(i int) error {
		_, err := clients[i].Submit(a.ctx, benchService, tomorrow)
		return err
	})
	if err != nil {
		return 0, 0, fmt.Errorf("through Drover: %w", err)
	}
	arrived, err := b.arrived(a.ctx, began, before)
	n := float64(b.jobs)
	return n / took.Seconds(), n / arrived.Seconds(), err
}

// arrived waits until Slurm has all jobs, and returns how long that is after began,
// when it had taken so many in all. The controller's own count costs little to ask for;
// the queue is looked at when it says that all are there, and decides. It is asked the
// more often the fewer are missing.
func (b *slurmBench) arrived(ctx context.Context, began time.Time, before int) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, slurmArrives)
	defer cancel()
	for {
		n, err := b.taken(ctx)
		took := time.Since(began)
		if n -= before; err == nil && (n >= b.jobs || n < 0) { // it was midnight
			if n, err = b.queued(ctx); err == nil && n >= b.jobs {
				return took, nil
			}
		}
		if err != nil {
			return 0, err
		}
		rest := slurmLook
		if n > 0 { // nine tenths of what is missing, at the rate so far
			rest = max(rest, took*time.Duration(9*(b.jobs-n))/time.Duration(10*n))
		}
		if err := await(ctx, rest); err != nil {
			return 0, fmt.Errorf("%d of %d jobs are in Slurm: %w", n, b.jobs, err)
		}
	}
}

// taken returns how many jobs the controller has taken since it was started, or
// midnight.
func (b *slurmBench) taken(ctx context.Context) (int, error) {
	out, err := b.command(ctx, "sdiag").Output()
	if err != nil {
		return 0, fmt.Errorf("sdiag: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "Jobs submitted:"); ok {
			return strconv.Atoi(strings.TrimSpace(text))
		}
	}
	return 0, errors.New("sdiag says nothing of jobs submitted")
}

// emptied waits until Slurm has none of the jobs any more: the next measurement starts
// with an idle controller.
func (b *slurmBench) emptied(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, slurmEmpties)
	defer cancel()
	for {
		n, err := b.queued(ctx)
		if err != nil || n == 0 {
			return err
		}
		if err := await(ctx, slurmLook); err != nil {
			return fmt.Errorf("%d jobs are left in Slurm: %w", n, err)
		}
	}
}

// queued returns how many jobs of the benchmark Slurm has.
func (b *slurmBench) queued(ctx context.Context) (int, error) {
	out, err := b.command(ctx, "squeue", "--noheader", "--format=%j").Output()
	if err != nil {
		return 0, fmt.Errorf("squeue: %w", err)
	}
	return strings.Count(string(out), "drover-") + strings.Count(string(out), plainBench), nil
}

// await waits, unless the context ends before.
func await(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type slurmBenchView struct {
	Schema            string          `json:"schema"`
	Clients           int             `json:"clients"`
	Jobs              int             `json:"jobs"`
	Turns             []slurmTurnView `json:"turns"`
	Ratio             float64         `json:"ratio"`              // in Slurm over plain, the median
	AcknowledgedRatio float64         `json:"acknowledged_ratio"` // acknowledged over plain, the median
}

// slurmTurnView is one turn of plain sbatch and Drover, in submissions per second.
type slurmTurnView struct {
	DroverFirst  bool    `json:"drover_first"`
	Plain        float64 `json:"plain_per_second"`
	Acknowledged float64 `json:"acknowledged_per_second"`
	InSlurm      float64 `json:"in_slurm_per_second"`
}

func printSlurmBench(w io.Writer, v *slurmBenchView) {
	t := cmdline.NewTable(w, table.Row{"turn", "plain sbatch", "drover, acknowledged", "drover, in slurm", "ratio"},
		"turn", "plain sbatch", "drover, acknowledged", "drover, in slurm", "ratio")
	for i, turn := range v.Turns {
		t.AppendRow(table.Row{
			i + 1, fmt.Sprintf("%.0f/s", turn.Plain), fmt.Sprintf("%.0f/s", turn.Acknowledged), fmt.Sprintf("%.0f/s",
				turn.InSlurm),
			fmt.Sprintf("%.2f", turn.InSlurm/turn.Plain),
		})
	}
	t.Render()
	_, _ = fmt.Fprintf(w,
		"\n%d jobs by %d submitters each: %.2f times as many submissions per second through Drover as "+
			"by sbatch, until Slurm has them (%.2f until they are acknowledged)\n",
		v.Jobs, v.Clients, v.Ratio, v.AcknowledgedRatio)
}
