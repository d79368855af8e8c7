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

// superviseCmd is the process that runs a site's programs. It logs to a file in
// the data directory.
type superviseCmd struct {
	Dir      string        `required:"" type:"path" help:"The site's data directory."`
	Linger   time.Duration `default:"10s" help:"How long to stay with nobody connected and no program left."`
	LockWait time.Duration `name:"lock-patience" default:"5s" help:"How long one that is dying may keep the directory."`
	Leased   bool          `help:"Programs live on a lease that the client renews, and die with this process."`
	ReadyFD  int           `name:"ready-fd" help:"Descriptor to tell what became of the start."`
	LogLevel string        `default:"info" enum:"trace,debug,info,warn,error" help:"What to log: ${enum}."`
}

func (c *superviseCmd) Run(a *app) error {
	// The end of a terminal is not the end of what it started. Catching is not
	// ignoring, which programs would inherit.
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	cfg := supervisor.ServeConfig{Dir: c.Dir, Linger: c.Linger, Patience: c.LockWait, Leased: c.Leased, Level: hclog.LevelFromString(c.LogLevel)}
	if c.ReadyFD > 0 {
		syscall.CloseOnExec(c.ReadyFD)
		cfg.Ready = os.NewFile(uintptr(c.ReadyFD), "ready")
	}
	return supervisor.Serve(a.ctx, cfg)
}

// gateCmd is there for the error message only: main becomes a gate before it
// looks at flags, as every launch of a job waits for that.
type gateCmd struct{}

func (*gateCmd) Run(*app) error {
	return &cmdline.UsageError{Message: "a gate takes no flags", Hint: "supervisors start these"}
}

// gate does not return when this process was started as a gate.
func gate() {
	if len(os.Args) == 2 && os.Args[1] == "gate" {
		proc.Gate()
	}
}

// attemptCmd is there for the error message only, like gateCmd: the batch scripts of
// sites under Slurm begin with it.
type attemptCmd struct{}

func (*attemptCmd) Run(*app) error {
	return &cmdline.UsageError{Message: "an attempt takes the file of its order", Hint: "batch scripts of servers start these"}
}

// attempt does not return when this process was started to run an attempt.
func attempt() {
	if len(os.Args) == 3 && os.Args[1] == "attempt" {
		os.Exit(solo.Run(os.Args[2], os.Stdin, os.Stderr))
	}
}
