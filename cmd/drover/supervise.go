package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
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
