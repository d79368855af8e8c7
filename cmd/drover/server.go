package main

import (
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/daemon"
	"github.com/seed-9b8f70bb/drover/server"
)

type serverCmd struct {
	roleFlags `embed:""`
}

func (c *serverCmd) Run(a *app) error {
	if c.Config == "" {
		return &cmdline.UsageError{Message: "--config is missing", Hint: "docs/examples/site.yaml is an example"}
	}
	defer allocateBallast()()
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
	if err := announce(a, daemon.Announcement{Name: cfg.Name, URL: s.URL(), Gossip: s.Seed()}); err != nil {
		return err
	}
	return s.Run(a.ctx)
}
