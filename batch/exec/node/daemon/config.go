package daemon

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/internal/config"
)

// Config configures New. Name, Listen and Dir are required.
type Config struct {
	// Name is the node's name in its site's configuration.
	Name string
	// Site is the only site that may claim it; "" accepts the first.
	Site string
	// Listen is host:port. Beyond loopback Insecure must be set: there is no authentication
	// yet, and every client that reaches the port can run programs.
	Listen   string
	Insecure bool
	// Dir is the node's own directory, on a local disk.
	Dir string
	// Processors and Memory, in bytes, are the reported capacity; 0 is that of the host. If
	// Processors is less than the host has, tasks run on that many of its processors only.
	Processors int
	Memory     int64
	// Parent and Without are as in cgroup.Config.
	Parent  string
	Without []cgroup.Ability
	// Supervisor is as in node.Config.Program.
	Supervisor []string
	// Version is reported by DescribeNode.
	Version string
	// Logger may be nil.
	Logger hclog.Logger
}

var okName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)

// NameAccepted describes a valid name of a node.
const NameAccepted = "1 to 63 letters, digits, '-' and '_', the first a letter or digit"

// longestSite is the longest name of a site that its server accepts.
const longestSite = 63

// Validate reports everything that is wrong with the configuration.
func (c *Config) Validate() error {
	var errs []error
	if !okName.MatchString(c.Name) {
		errs = append(errs, fmt.Errorf("name: %.80q, accepted: %s", c.Name, NameAccepted))
	}
	if len(c.Site) > longestSite || strings.ContainsAny(c.Site, "/\\ \t\n\x00") || strings.HasPrefix(c.Site, ".") {
		errs = append(errs,
			fmt.Errorf("site: %.80q, accepted: the name of a site, at most %d bytes without / and spaces", c.Site,
				longestSite))
	}
	if c.Dir == "" {
		errs = append(errs, errors.New("dir: missing"))
	}
	switch loopback, err := config.Loopback(c.Listen); {
	case err != nil:
		errs = append(errs, fmt.Errorf("listen: %q, accepted: %s", c.Listen, config.AddressAccepted))
	case !loopback && !c.Insecure:
		errs = append(errs,
			fmt.Errorf("listen: %q, accepted: a loopback address such as 127.0.0.1, or any with --insecure (there is "+
				"no authentication yet)", c.Listen))
	}
	if c.Processors < 0 {
		errs = append(errs, fmt.Errorf("processors: %d, accepted: 0 (all of the host) or more", c.Processors))
	}
	if c.Memory < 0 {
		errs = append(errs, fmt.Errorf("memory: %d, accepted: 0 (all of the host) or more", c.Memory))
	}
	return errors.Join(errs...)
}
