package main

import (
	"fmt"
	"runtime"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/agent"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/daemon"
)

// roleFlags are the flags that agent and server share.
type roleFlags struct {
	Config   string   `placeholder:"FILE" type:"path" help:"Configuration file; see docs/examples."`
	Seed     []string `placeholder:"HOST:PORT" help:"A gossip member to join, in addition to those of the configuration."`
	LogLevel string   `default:"info" enum:"trace,debug,info,warn,error" help:"Log level on stderr: ${enum}."`
}

func (r *roleFlags) logger(a *app, name string) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{
		Name: name, Output: a.Stderr, Level: hclog.LevelFromString(r.LogLevel), JSONFormat: a.flags.JSON,
	})
}

// announce prints that the sockets of an agent or server are open.
func announce(a *app, up daemon.Announcement) error {
	if a.flags.JSON {
		return cmdline.WriteJSON(a.Stdout, up)
	}
	_, err := fmt.Fprintf(a.Stdout, "%s is up at %s, gossip at %s\n", up.Name, up.URL, up.Gossip)
	return err
}

// ballastBytes is heap that is never touched and so takes no physical memory. It raises
// the size at which the garbage collector runs: otherwise it would run every few MiB in a
// small server or agent.
const ballastBytes = 32 << 20

// allocateBallast allocates the ballast and returns a function that releases it.
func allocateBallast() (release func()) {
	ballast := make([]byte, ballastBytes)
	return func() { runtime.KeepAlive(ballast) }
}

type agentCmd struct {
	roleFlags `embed:""`
}

func (c *agentCmd) Run(a *app) error {
	defer allocateBallast()()
	cfg := agent.Default()
	if c.Config != "" {
		var err error
		if cfg, err = agent.ReadConfig(c.Config); err != nil {
			return err
		}
	}
	cfg.Gossip.Seeds = append(cfg.Gossip.Seeds, c.Seed...)
	cfg.Logger = c.logger(a, "agent")
	g, err := agent.New(cfg)
	if err != nil {
		return err
	}
	if err := announce(a, daemon.Announcement{Name: cfg.Name, URL: g.URL(), Gossip: g.Seed()}); err != nil {
		return err
	}
	return g.Run(a.ctx)
}
