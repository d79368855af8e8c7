package main

import (
	"fmt"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch/exec/node/daemon"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// nodeCmd runs the daemon on a node of a site with an embedded batch system.
type nodeCmd struct {
	Name       string `required:"" placeholder:"NAME" help:"The node's name in the configuration of its site."`
	Site       string `placeholder:"SITE" help:"The only site that can use the node. Default: the first site that connects, permanently."`
	Listen     string `default:"127.0.0.1:7470" placeholder:"HOST:PORT" help:"Address for the server of the site. Default: ${default}."`
	Insecure   bool   `help:"Allow an address beyond loopback although clients are not authenticated: whoever reaches the port can run programs."`
	Dir        string `required:"" type:"path" placeholder:"DIR" help:"The node's own directory, on a local disk."`
	Processors int    `placeholder:"N" help:"Processors to offer; tasks are confined to that many. Default: all of the host."`
	Memory     string `placeholder:"SIZE" help:"Memory to offer, as 64GiB. Default: all of the host."`
	Parent     string `placeholder:"PATH" help:"The control group under which tasks run, in each hierarchy. Default: this process's."`
	LogLevel   string `default:"info" enum:"trace,debug,info,warn,error" help:"Log level on stderr: ${enum}."`
}

// nodeJSON is the JSON of node, printed when the daemon listens.
type nodeJSON struct {
	Name   string        `json:"name"`
	URL    string        `json:"url"`
	Offers []abilityJSON `json:"offers"`
}

// abilityJSON says how the node provides an ability: shares, processors, memory, pausing,
// killing, measuring.
type abilityJSON struct {
	Ability string `json:"ability"`
	Way     string `json:"way"`           // v2, v1, duty, signals or none
	Why     string `json:"why,omitempty"` // no better way
}

func (c *nodeCmd) Run(a *app) error {
	memory, err := c.memory()
	if err != nil {
		return err
	}
	cfg := daemon.Config{
		Name: c.Name, Site: c.Site, Listen: c.Listen, Insecure: c.Insecure, Dir: c.Dir,
		Processors: c.Processors, Memory: memory, Parent: c.Parent, Version: cmdline.BuiltFrom(),
		Logger: hclog.New(&hclog.LoggerOptions{
			Name: c.Name, Output: a.Stderr, Level: hclog.LevelFromString(c.LogLevel), JSONFormat: a.flags.JSON,
		}),
	}
	if err := cfg.Validate(); err != nil {
		return &cmdline.UsageError{Message: err.Error(), Hint: "see docs/nodes.md"}
	}
	d, err := daemon.New(a.ctx, cfg)
	if err != nil {
		return err
	}
	if err := c.announce(a, d); err != nil {
		return err
	}
	return d.Run(a.ctx)
}

// memory returns the value of --memory in bytes, 0 for none.
func (c *nodeCmd) memory() (int64, error) {
	if c.Memory == "" {
		return 0, nil
	}
	n, err := cmdline.ParseSize(c.Memory)
	if err == nil && n < 1 {
		err = fmt.Errorf("%q, accepted: 1B or more", c.Memory)
	}
	if err != nil {
		return 0, &cmdline.UsageError{Message: "--memory: " + err.Error()}
	}
	return n, nil
}

// announce prints that the daemon listens, and how it enforces what tasks get.
func (c *nodeCmd) announce(a *app, d *daemon.Daemon) error {
	up := nodeJSON{Name: c.Name, URL: d.URL()}
	for _, o := range d.Offers() {
		up.Offers = append(up.Offers, abilityJSON{Ability: o.Ability.String(), Way: o.Way.String(), Why: o.Why})
	}
	if a.flags.JSON {
		return cmdline.WriteJSON(a.Stdout, up)
	}
	if _, err := fmt.Fprintf(a.Stdout, "node %s is up at %s\n", up.Name, up.URL); err != nil {
		return err
	}
	for _, o := range up.Offers {
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
