package main

import (
	"fmt"
	"runtime"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/agent"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/server"
)

// role is what agent and server have in common.
type role struct {
	Config   string   `placeholder:"FILE" type:"path" help:"Configuration; see docs/examples."`
	Seed     []string `placeholder:"HOST:PORT" help:"A member of the gossip to join, besides those of the configuration."`
	LogLevel string   `default:"info" enum:"trace,debug,info,warn,error" help:"What to log on stderr: ${enum}."`
}

func (r *role) logger(a *app, name string) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Name: name, Output: a.Stderr, Level: hclog.LevelFromString(r.LogLevel), JSONFormat: a.flags.JSON})
}

// up tells that a process has its sockets, and where they are.
func up(a *app, schema, name, url, gossip string) error {
	if a.flags.JSON {
		return cmdline.WriteJSON(a.Stdout, upView{Schema: schema, Name: name, URL: url, Gossip: gossip})
	}
	_, err := fmt.Fprintf(a.Stdout, "%s is up at %s, gossip at %s\n", name, url, gossip)
	return err
}

// heapFloor is how much of the heap is never touched, so that no page of it exists. The
// garbage collector takes it for live: the garbage of a small server or agent, which
// else is collected every few MiB, may come to as much. Bytes.
const heapFloor = 32 << 20

// floor makes the heap's floor, and returns what lets go of it.
func floor() (release func()) {
	untouched := make([]byte, heapFloor)
	return func() { runtime.KeepAlive(untouched) }
}

type agentCmd struct {
	role `embed:""`
}

func (c *agentCmd) Run(a *app) error {
	defer floor()()
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
	if err := up(a, "drover.agent/1", cfg.Name, g.URL(), g.Seed()); err != nil {
		return err
	}
	return g.Run(a.ctx)
}

type serverCmd struct {
	role `embed:""`
}

func (c *serverCmd) Run(a *app) error {
	if c.Config == "" {
		return &cmdline.UsageError{Message: "--config is missing", Hint: "docs/examples/site.yaml is one to begin with"}
	}
	defer floor()()
	cfg, err := server.ReadConfig(c.Config)
	if err != nil {
		return err
	}
	cfg.Gossip.Seeds = append(cfg.Gossip.Seeds, c.Seed...)
	cfg.Logger = c.logger(a, cfg.Name)
	s, err := server.New(cfg)
	if err != nil {
		return err
	}
	if err := up(a, "drover.server/1", cfg.Name, s.URL(), s.Seed()); err != nil {
		return err
	}
	return s.Run(a.ctx)
}
