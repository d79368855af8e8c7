package server

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy"
)

// What a lease may be.
const (
	shortestNodeLease = time.Second
	longestNodeLease  = time.Hour
)

// daemonName is what a daemon may be called.
var daemonName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)

// distant says whether the nodes are other hosts.
func (c *Config) distant() bool {
	return c.external() == nil && len(c.Nodes) > 0 && c.Nodes[0].Address != ""
}

// checkAddresses reports what is wrong with the addresses of nodes, and says whether
// nothing is.
func (c *Config) checkAddresses(bad func(key string, value any, accepted string)) bool {
	ok := true
	refuse := func(key string, value any, accepted string) {
		bad(key, value, accepted)
		ok = false
	}
	names := c.platform().Nodes
	addresses := make(map[string]bool)
	for i, n := range c.Nodes {
		key := fmt.Sprintf("nodes[%d].", i)
		switch {
		case !c.distant() && n.Address == "":
			continue
		case n.Address == "":
			refuse(key+"address", "missing", "one for each node, or for none")
			continue
		case !c.distant():
			refuse(key+"address", n.Address, "one for each node, or for none")
			continue
		case n.Count != 0:
			refuse(key+"count", n.Count, "none with an address: each node has its own")
			continue
		case !daemonName.MatchString(names[i].Name): // no entry before has a count
			refuse(key+"name", names[i].Name, "1 to 63 letters, digits, '-' and '_', the first a letter or digit, as its daemon is called")
		}
		u, err := url.Parse(n.Address)
		if err != nil || u.Scheme != "http" || u.Hostname() == "" || u.Port() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil || u.Fragment != "" {
			refuse(key+"address", n.Address, "http://host:port")
			continue
		}
		if host := strings.ToLower(u.Host); addresses[host] {
			refuse(key+"address", n.Address, "an address of its own for each node")
		} else {
			addresses[host] = true
		}
	}
	switch {
	case c.Lease == 0:
	case !c.distant():
		refuse("lease", c.Lease, "none without nodes that have an address")
	case c.Lease < shortestNodeLease || c.Lease > longestNodeLease:
		refuse("lease", c.Lease, fmt.Sprintf("%v..%v", shortestNodeLease, longestNodeLease))
	}
	return ok
}

// checkLaunch reports services whose programs this site could not start as often as they
// want: they would compute something else.
func (c *Config) checkLaunch(bad func(key string, value any, accepted string)) {
	if c.Catalogue == nil || c.distant() {
		return
	}
	accepted := "once, where the nodes are virtual ones of this host and policy " + c.Policy.Name + " gives whole processors; give the nodes addresses"
	kind := c.external()
	switch {
	case kind != nil:
		accepted = "once, under " + kind.title + ": " + kind.launchHint
	case policy.Of(c.Policy.Name).Shares:
		accepted = "once and per-task, where the nodes are virtual ones of this host; give the nodes addresses"
	}
	for _, s := range c.Catalogue.Services() {
		if s.Launch == batch.LaunchOnce || s.Launch == batch.LaunchPerTask && policy.Of(c.Policy.Name).Shares && kind == nil {
			continue
		}
		bad("services.launch", fmt.Sprintf("%s of service %s", s.Launch, s.Name), accepted)
	}
}
