package main

import (
	"context"
	_ "embed" // of the catalogue
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"syscall"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/server/services"
	"github.com/seed-9b8f70bb/drover/server/services/gemm"
	"github.com/seed-9b8f70bb/drover/server/services/lu"
	"github.com/seed-9b8f70bb/drover/server/services/mandelbrot"
	"github.com/seed-9b8f70bb/drover/server/services/primes"
)

// serviceCmd runs the bundled services. `drover service NAME` is their command in the
// catalogue.
type serviceCmd struct {
	Lu         luCmd         `cmd:"" help:"Solve a dense linear system."`
	Mandelbrot mandelbrotCmd `cmd:"" help:"Render the Mandelbrot set."`
	Primes     primesCmd     `cmd:"" help:"Count primes, with checkpoints."`
	Sleep      sleepCmd      `cmd:"" help:"Do nothing for a while."`
	Exec       execCmd       `cmd:"" help:"Run an argument vector."`
	Gemm       gemmCmd       `cmd:"" help:"Multiply matrices."`
}

type luCmd struct {
	Matrix  string `help:"Matrix Market file of A."`
	RHS     string `name:"rhs" help:"Matrix Market file of b; default: A times ones."`
	Output  string `help:"File for the solution."`
	Threads int    `default:"1"`
	Repeat  int    `default:"1" help:"Solve so many times."`
}

func (c *luCmd) Run(a *app) error {
	cfg := lu.Config{Matrix: c.Matrix, RHS: c.RHS, Output: c.Output, Threads: c.Threads, Repeat: c.Repeat}
	if err := cfg.Validate(); err != nil {
		return refused(err)
	}
	return lu.Run(a.ctx, cfg, a.Stdout)
}

type gemmCmd struct {
	A       string  `help:"File of A: little-endian float64, rows one after the other."`
	B       string  `help:"File of B."`
	C       string  `help:"File of C, which becomes alpha A B + beta C."`
	Rows    int     `help:"Rows of A and C."`
	Inner   int     `help:"Columns of A and rows of B."`
	Cols    int     `help:"Columns of B and C."`
	Alpha   float64 `default:"1"`
	Beta    float64 `default:"0"`
	Threads int     `default:"1"`
}

func (c *gemmCmd) Run(a *app) error {
	cfg := gemm.Config{
		A: c.A, B: c.B, C: c.C, Rows: c.Rows, Inner: c.Inner, Cols: c.Cols, Alpha: c.Alpha, Beta: c.Beta,
		Threads: c.Threads,
	}
	if err := cfg.Validate(); err != nil {
		return refused(err)
	}
	return gemm.Run(a.ctx, cfg, a.Stdout)
}

type mandelbrotCmd struct {
	Width      int     `default:"960" help:"Pixels."`
	Height     int     `default:"640" help:"Pixels."`
	CentreX    float64 `default:"-0.65"`
	CentreY    float64 `default:"0"`
	Zoom       float64 `default:"1"`
	Iterations int     `default:"1000"`
	Threads    int     `default:"1"`
	Output     string  `help:"PNG file to write."`
}

func (c *mandelbrotCmd) Run(a *app) error {
	cfg := mandelbrot.Config{
		Width: c.Width, Height: c.Height, CentreX: c.CentreX, CentreY: c.CentreY, Zoom: c.Zoom,
		Iterations: c.Iterations, Threads: c.Threads, Output: c.Output,
	}
	if err := cfg.Validate(); err != nil {
		return refused(err)
	}
	return mandelbrot.Run(a.ctx, cfg, a.Stdout)
}

type primesCmd struct {
	Below      int    `help:"Count those below this number."`
	Checkpoint string `env:"DROVER_CHECKPOINT" help:"Directory for its checkpoint, written when it is stopped."`
}

// exitCheckpoint is the exit code of a program that stopped at a checkpoint.
const exitCheckpoint = cmdline.ExitError(batch.CheckpointStatus)

func (c *primesCmd) Run(a *app) error {
	cfg := primes.Config{Below: c.Below, Checkpoint: c.Checkpoint}
	if err := cfg.Validate(); err != nil {
		return refused(err)
	}
	err := primes.Run(a.ctx, cfg, a.Stdout)
	if errors.Is(err, primes.ErrStopped) {
		return exitCheckpoint
	}
	return err
}

type sleepCmd struct {
	Seconds float64 `default:"1"`
}

// mostSeconds is the longest sleep: a day.
const mostSeconds = 86400

func (c *sleepCmd) Run(a *app) error {
	if err := services.CheckRange("seconds", c.Seconds, 0, mostSeconds); err != nil {
		return refused(err)
	}
	timer := time.NewTimer(time.Duration(math.Round(c.Seconds * float64(time.Second))))
	defer timer.Stop()
	select {
	case <-timer.C:
		_, err := fmt.Fprintf(a.Stdout, "slept %gs\n", c.Seconds)
		return err
	case <-a.ctx.Done():
		return context.Cause(a.ctx)
	}
}

// execCmd takes its argument vector as JSON, because a catalogue passes one argument of the
// service as one argument of the program, without a shell.
type execCmd struct {
	Argv string `help:"The program and its arguments, a JSON array of strings."`
}

func (c *execCmd) Run(a *app) error {
	var argv []string
	if err := json.Unmarshal([]byte(c.Argv), &argv); err != nil || len(argv) == 0 {
		return &cmdline.UsageError{Message: fmt.Sprintf("--argv %q, accepted: a JSON array of at least one string",
			c.Argv)}
	}
	cmd := exec.CommandContext(a.ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.Stdin, a.Stdout, a.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	err := cmd.Run()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		if code := e.ExitCode(); code >= 0 {
			return cmdline.ExitError(code)
		}
		return fmt.Errorf("%s: %w", argv[0], err)
	}
	return err
}

// refused is the error of a service about its arguments.
func refused(err error) error {
	return &cmdline.UsageError{Message: err.Error(), Hint: "drover service NAME --help lists the flags"}
}

// bundledYAML is the catalogue of the services that come with Drover, the same
// as docs/examples/services.yaml.
//
//go:embed services.yaml
var bundledYAML []byte
