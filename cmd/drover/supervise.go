package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	proc "github.com/seed-9b8f70bb/drover/batch/exec/process"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/solo"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// The hidden commands that Drover starts itself:
//
//	server ──▶ drover supervise ──▶ drover gate ──▶ becomes the job's program
//	Slurm  ──▶ batch script ──▶ drover attempt ──▶ the job's program

// superviseCmd runs a site's programs. It logs to a file in the data directory.
type superviseCmd struct {
	Dir      string        `required:"" type:"path" help:"The site's data directory."`
	Linger   time.Duration `default:"10s" help:"Exit after this time without a connection and without a program."`
	LockWait time.Duration `name:"lock-patience" default:"5s" help:"How long to wait for a previous supervisor to release the directory."`
	Leased   bool          `help:"Programs run under a lease that the client renews, and end with this process."`
	ReadyFD  int           `name:"ready-fd" help:"File descriptor to report the result of the start to."`
	LogLevel string        `default:"info" enum:"trace,debug,info,warn,error" help:"Log level: ${enum}."`
}

func (c *superviseCmd) Run(a *app) error {
	// The supervisor survives the end of a terminal. It catches SIGHUP rather than
	// ignore it, because programs would inherit that.
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	cfg := supervisor.ServeConfig{
		Dir: c.Dir, Linger: c.Linger, Patience: c.LockWait, Leased: c.Leased, Level: hclog.LevelFromString(c.LogLevel),
	}
	if c.ReadyFD > 0 {
		syscall.CloseOnExec(c.ReadyFD)
		cfg.Ready = os.NewFile(uintptr(c.ReadyFD), "ready")
	}
	return supervisor.Serve(a.ctx, cfg)
}

// gateCmd exists for its error message only: main calls becomeGate before it parses
// flags, because every start of a job waits for that.
type gateCmd struct{}

func (*gateCmd) Run(*app) error {
	return &cmdline.UsageError{Message: "a gate takes no flags", Hint: "only supervisors start gates"}
}

// becomeGate does not return if this process was started as a gate.
func becomeGate() {
	if len(os.Args) == 2 && os.Args[1] == "gate" {
		proc.Gate()
	}
}

// attemptCmd exists for its error message only, like gateCmd.
type attemptCmd struct{}

func (*attemptCmd) Run(*app) error {
	return &cmdline.UsageError{
		Message: "an attempt takes one file", Hint: "only batch scripts of servers start attempts",
	}
}

// becomeAttempt does not return if this process was started to run an attempt of a job.
func becomeAttempt() {
	if len(os.Args) == 3 && os.Args[1] == "attempt" {
		os.Exit(solo.Run(os.Args[2], os.Stdin, os.Stderr))
	}
}
