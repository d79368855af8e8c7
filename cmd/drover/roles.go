package main

import (
	"fmt"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/agent"
	"github.com/seed-9b8f70bb/drover/server"
)

// role is what agent and server have in common.
type role struct {
	Config   string   `placeholder:"FILE" type:"path" help:"Configuration; see docs/examples."`
	Seed     []string `placeholder:"HOST:PORT" help:"A member of the gossip to join, besides those of the configuration."`
	LogLevel string   `default:"info" enum:"trace,debug,info,warn,error" help:"What to log on stderr: ${enum}."`
}

func (r *role) logger(a *app, name string) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Name: name, Output: a.stderr, Level: hclog.LevelFromString(r.LogLevel), JSONFormat: a.flags.JSON})
}

// up tells that a process has its sockets, and where they are.
func up(a *app, schema, name, url, gossip string) error {
	if a.flags.JSON {
		return writeJSON(a.stdout, upView{Schema: schema, Name: name, URL: url, Gossip: gossip})
	}
	_, err := fmt.Fprintf(a.stdout, "%s is up at %s, gossip at %s\n", name, url, gossip)
	return err
}

type agentCmd struct {
	role `embed:""`
}

func (c *agentCmd) Run(a *app) error {
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
		return &usageError{message: "--config is missing", hint: "docs/examples/site.yaml is one to begin with"}
	}
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
