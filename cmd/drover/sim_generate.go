package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/sim/lublin"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// simGenerateCmd is drover sim generate.
type simGenerateCmd struct {
	Jobs      int      `placeholder:"N" help:"Number of jobs: 1 to 10,000,000."`
	Days      int      `placeholder:"D" help:"Days of jobs, instead of --jobs: 1 to 100,000."`
	Procs     int      `placeholder:"P" help:"Processors of the machine."`
	Load      *float64 `placeholder:"L" help:"Offered load, 0.01 to 100; interarrival times are scaled to it. Default: that of the model."`
	Seed      uint64   `default:"1" placeholder:"S" help:"The same seed makes the same workload."`
	Classes   string   `default:"undivided" placeholder:"NAME" help:"The model's parameters: for all jobs (undivided), for batch and interactive jobs separately (divided), or for one of these classes (batch, interactive)."`
	Estimates string   `default:"exact" placeholder:"HOW" help:"Requested times: the runtime (exact), F times it (factor:F), or uniformly 1 to F times it (uniform:F)."`
	Users     int      `placeholder:"N" help:"Draw each job's user from so many. Default: unknown."`
	Out       string   `short:"o" placeholder:"FILE" help:"Write there, gzipped if it ends in .gz. Default: stdout."`
}

// workloadJSON is the JSON of sim generate.
type workloadJSON struct {
	Schema string  `json:"schema"`
	File   string  `json:"file"`
	Jobs   int     `json:"jobs"`
	Procs  int     `json:"procs"`
	Days   float64 `json:"days"` // until the last submission
	Load   float64 `json:"load"` // offered
}

// Run generates the workload and writes it.
func (c *simGenerateCmd) Run(a *app) error {
	begin := time.Now()
	cfg, err := c.config()
	if err != nil {
		return c.usage(err)
	}
	if a.flags.JSON && c.Out == "" {
		return &cmdline.UsageError{
			Message: "--json without --out", Hint: "stdout is the workload's; drover sim generate --json -o FILE",
		}
	}
	trace, err := lublin.Generate(a.ctx, cfg)
	if err != nil {
		return c.usage(err)
	}
	if c.Out == "" {
		err = swf.Write(&endingWriter{ctx: a.ctx, to: a.Stdout}, trace)
	} else {
		err = writeWorkload(a.ctx, c.Out, trace)
	}
	if err != nil {
		return err
	}
	view := workloadJSON{
		Schema: "drover.sim.generate/1", File: c.Out, Jobs: len(trace.Jobs), Procs: c.Procs,
		Load: lublin.OfferedLoad(trace.Jobs, c.Procs),
	}
	if n := len(trace.Jobs); n > 0 {
		view.Days = float64(trace.Jobs[n-1].Submit) / (24 * 3600)
	}
	if a.flags.JSON {
		if err := cmdline.WriteJSON(a.Stdout, &view); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(a.Stderr, "%d jobs in %.1f days, offered load %.4f; made in %.3f s\n", view.Jobs, view.Days,
		view.Load, time.Since(begin).Seconds())
	return err
}

func (c *simGenerateCmd) config() (lublin.Config, error) {
	classes, wrongClasses := lublin.ParseClasses(c.Classes)
	estimates, wrongEstimates := lublin.ParseEstimates(c.Estimates)
	cfg := lublin.Config{
		Jobs: c.Jobs, Days: c.Days, Procs: c.Procs, Seed: c.Seed, Classes: classes, Estimates: estimates,
		Users: c.Users,
	}
	errs := []error{wrongClasses, wrongEstimates}
	if c.Load != nil {
		if cfg.Load = *c.Load; cfg.Load == 0 { // which is none to a Config
			errs = append(errs, &lublin.FieldError{
				Field: "load", Value: "0", Accepted: fmt.Sprintf("%g..%g", lublin.MinLoad, lublin.MaxLoad),
			})
		}
	}
	return cfg, errors.Join(append(errs, cfg.Validate())...)
}

// usage turns errors about fields into errors about flags.
func (c *simGenerateCmd) usage(err error) error {
	if _, ok := errors.AsType[*lublin.FieldError](err); !ok {
		return err
	}
	return &cmdline.UsageError{
		Message: "--" + strings.ReplaceAll(err.Error(), "\n", "\n--"), Hint: "drover sim generate --help",
	}
}

// writeWorkload writes a file. It removes an incomplete regular file, because half a
// workload looks like a whole one.
func writeWorkload(ctx context.Context, path string, trace *swf.Trace) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
		if err == nil {
			return
		}
		err = fmt.Errorf("output: %w", err)
		if info, e := os.Stat(path); e == nil && info.Mode().IsRegular() {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	to := &endingWriter{ctx: ctx, to: f}
	if !strings.HasSuffix(path, ".gz") {
		return swf.Write(to, trace)
	}
	z := gzip.NewWriter(to)
	if err := swf.Write(z, trace); err != nil {
		return err
	}
	return z.Close()
}

// endingWriter fails when its context has ended.
type endingWriter struct {
	ctx context.Context
	to  io.Writer
}

func (w *endingWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.to.Write(p)
}
