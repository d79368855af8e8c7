package main

import (
	"fmt"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch/exec/node/daemon"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// nodeCmd is the daemon on a node of a site whose batch system is embedded.
type nodeCmd struct {
	Name       string `required:"" placeholder:"NAME" help:"The node's name, as the configuration of its site has it."`
	Site       string `placeholder:"SITE" help:"The only site that may use it. Default: the first that asks, for good."`
	Listen     string `default:"127.0.0.1:7470" placeholder:"HOST:PORT" help:"Where its server reaches it. Default: ${default}."`
	Insecure   bool   `help:"Listen beyond loopback although nobody is authenticated: whoever reaches the port runs programs."`
	Dir        string `required:"" type:"path" placeholder:"DIR" help:"The node's own directory, on a disk of its own."`
	Processors int    `placeholder:"N" help:"What it says it has; tasks then run on so many of the host's. Default: what the host has."`
	Memory     string `placeholder:"SIZE" help:"What it says it has, as 64GiB. Default: what the host has."`
	Parent     string `placeholder:"PATH" help:"The control group below which tasks are, in each hierarchy. Default: this process's."`
	LogLevel   string `default:"info" enum:"trace,debug,info,warn,error" help:"What to log on stderr: ${enum}."`
}

func (c *nodeCmd) Run(a *app) error {
	memory, err := c.memory()
	if err != nil {
		return err
	}
	cfg := daemon.Config{
		Name: c.Name, Site: c.Site, Listen: c.Listen, Insecure: c.Insecure, Dir: c.Dir,
		Processors: c.Processors, Memory: memory, Parent: c.Parent, Version: cmdline.BuiltFrom(),
		Logger: hclog.New(&hclog.LoggerOptions{Name: c.Name, Output: a.Stderr, Level: hclog.LevelFromString(c.LogLevel), JSONFormat: a.flags.JSON}),
	}
	if err := cfg.Validate(); err != nil {
		return &cmdline.UsageError{Message: err.Error(), Hint: "docs/nodes.md"}
	}
	d, err := daemon.New(a.ctx, cfg)
	if err != nil {
		return err
	}
	if err := c.up(a, d); err != nil {
		return err
	}
	return d.Run(a.ctx)
}

// memory is what --memory says, 0 if nothing.
func (c *nodeCmd) memory() (int64, error) {
	if c.Memory == "" {
		return 0, nil
	}
	n, err := cmdline.ParseSize(c.Memory)
	if err != nil || n < 1 {
		return 0, &cmdline.UsageError{Message: fmt.Sprintf("--memory: %q", c.Memory), Hint: "accepted: a number with a unit, as 64GiB"}
	}
	return n, nil
}

// up tells that the daemon has its socket, and how it holds tasks to what they get.
func (c *nodeCmd) up(a *app, d *daemon.Daemon) error {
	view := nodeView{Schema: "drover.node/1", Name: c.Name, URL: d.URL()}
	for _, o := range d.Offers() {
		view.Offers = append(view.Offers, abilityView{Ability: o.Ability.String(), Way: o.Way.String(), Why: o.Why})
	}
	if a.flags.JSON {
		return cmdline.WriteJSON(a.Stdout, view)
	}
	if _, err := fmt.Fprintf(a.Stdout, "node %s is up at %s\n", view.Name, view.URL); err != nil {
		return err
	}
	for _, o := range view.Offers {
		text := o.Ability + ": " + o.Way
		if o.Why != "" {
			text += " (" + o.Why + ")"
		}
		if _, err := fmt.Fprintf(a.Stdout, "  %s\n", text); err != nil {
			return err
		}
	}
	return nil
}

type nodeView struct {
	Schema string        `json:"schema"`
	Name   string        `json:"name"`
	URL    string        `json:"url"`
	Offers []abilityView `json:"offers"`
}

type abilityView struct {
	Ability string `json:"ability"`
	Way     string `json:"way"`
	Why     string `json:"why,omitempty"`
}
