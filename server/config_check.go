package server

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy"
	"github.com/seed-9b8f70bb/drover/internal/config"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// The limits of a configuration.
const (
	maxNodes    = 1 << 16
	longestKept = 10 * 365 * 24 * time.Hour
)

// FieldError is one problem of a configuration.
type FieldError = config.FieldError

// Validate returns all problems of a configuration, as a joined error of *FieldError.
func (c *Config) Validate() error { return new(config.File).Check(c.problems()) }

// problems returns all problems, in the order of the fields.
func (c *Config) problems() []*FieldError {
	common := config.Process{
		Version: c.Version, Name: c.Name, Listen: c.Listen, URL: c.URL,
		Bind: c.Gossip.Bind, Seeds: c.Gossip.Seeds, Insecure: c.Insecure,
	}
	errs := common.Problems()
	bad := func(key string, value any, accepted string) {
		errs = append(errs, &FieldError{Key: key, Value: fmt.Sprint(value), Accepted: accepted})
	}
	machine := c.checkBatch(bad)
	if _, err := c.speed(); err != nil {
		bad("speed", c.Speed, "a number from 0.001 to 1000")
	}
	if _, err := site.ParseTuning(c.Tuning); err != nil {
		bad("tuning", c.Tuning, "exhaustive, binary")
	}
	if c.Grace < time.Millisecond || c.Grace > time.Hour {
		bad("grace", c.Grace, "1ms..1h")
	}
	if c.OnStop != LeaveJobs && c.OnStop != EndJobs {
		bad("on_stop", c.OnStop, "leave, end")
	}
	c.checkLimits(machine, bad)
	c.checkLaunch(bad)
	if c.Catalogue == nil {
		bad("services", "", "the path of a catalogue, services inline, or both")
	}
	return errs
}

// checkNodes reports problems of the nodes, and whether the nodes form a machine.
func (c *Config) checkNodes(bad func(key string, value any, accepted string)) bool {
	ok := true
	total, width := 0, int64(0)
	names := make(map[string]bool)
	for i, n := range c.Nodes {
		key := fmt.Sprintf("nodes[%d]", i)
		switch {
		case n.Count < 0 || n.Count > maxNodes:
			bad(key+".count", n.Count, fmt.Sprintf("0 (for 1) to %d", maxNodes))
			ok = false
			continue
		case n.Processors < 1 || n.Processors > batch.MaxProcessors:
			bad(key+".processors", n.Processors, fmt.Sprintf("1..%d", batch.MaxProcessors))
			ok = false
		case strings.ContainsAny(n.Name, ":, \t\n\x00=/"):
			bad(key+".name", n.Name, "a word without : , = and /")
			ok = false
		}
		total += max(n.Count, 1)
		width += int64(max(n.Count, 1)) * int64(max(n.Processors, 1))
	}
	if len(c.Nodes) == 0 || total > maxNodes || width > batch.MaxProcessors {
		bad("nodes", fmt.Sprintf("%d nodes, %d processors", total, width),
			fmt.Sprintf("1..%d nodes, up to %d processors in all", maxNodes, batch.MaxProcessors))
		return false
	}
	if !ok {
		return false
	}
	for _, n := range c.platform().Nodes {
		if names[n.Name] {
			bad("nodes", n.Name, "a unique name for each node")
			return false
		}
		names[n.Name] = true
	}
	return c.checkAddresses(bad)
}

func (c *Config) checkPolicy(machine bool, bad func(key string, value any, accepted string)) {
	p := batch.Processors(1)
	if machine {
		p = c.platform()
	}
	_, err := policy.New(c.Policy.Name, p, c.Policy.Settings)
	var unknown *policy.UnknownError
	settings := batch.SettingErrors(err)
	for _, e := range settings {
		bad("policy.settings."+e.Key, e.Value, e.Accepted)
	}
	switch {
	case err == nil || len(settings) > 0:
	case errors.As(err, &unknown):
		bad("policy.name", c.Policy.Name, strings.Join(policy.Names(), ", "))
	default:
		bad("policy", c.Policy.Name, err.Error())
	}
}

func (c *Config) checkLimits(machine bool, bad func(key string, value any, accepted string)) {
	l := c.Limits
	if machine {
		if w := c.platform().Width(); l.Width < 0 || l.Width > w {
			bad("limits.width", l.Width, fmt.Sprintf("0 (all) to %d, the processors of the site", w))
		}
	}
	if l.File < 1 {
		bad("limits.file", int64(l.File), "at least 1B")
	}
	if l.Content < l.File {
		bad("limits.content", int64(l.Content), "at least limits.file")
	}
	if l.Data < 0 {
		bad("limits.data", int64(l.Data), "0B (no data stay) or more")
	}
	if l.DataOwner < 0 || l.DataOwner > l.Data {
		bad("limits.data_owner", int64(l.DataOwner), "0B (no bound of one owner) to limits.data")
	}
	if l.Waiting < 1 || l.Waiting > 1_000_000 {
		bad("limits.waiting", l.Waiting, "1..1000000")
	}
	if l.Finished < 1 || l.Finished > 1_000_000 {
		bad("limits.finished", l.Finished, "1..1000000")
	}
	if l.FinishedSize < 1 {
		bad("limits.finished_size", int64(l.FinishedSize), "at least 1B")
	}
	if l.FinishedFor < time.Second || l.FinishedFor > longestKept {
		bad("limits.finished_for", l.FinishedFor, fmt.Sprintf("1s..%v", longestKept))
	}
	if l.Drafts < 0 || l.Drafts > 100 {
		bad("limits.drafts", l.Drafts, "0 (no part in rounds) to 100")
	}
	if d := l.DraftLease; d < site.ShortestLease.Std() || d > site.LongestLease.Std() {
		bad("limits.draft_lease", d, fmt.Sprintf("%v..%v", site.ShortestLease, site.LongestLease))
	}
}

// checkFarm reports problems of scores and licenses, and whether the policy can be built with them.
func (c *Config) checkFarm(bad func(key string, value any, accepted string)) bool {
	ok, unlike := true, policy.Of(c.Policy.Name).Machines
	refuse := func(key string, value any, accepted string) {
		bad(key, value, accepted)
		ok = false
	}
	alike := fmt.Sprintf("none: policy %s treats all processors as equal", c.Policy.Name)
	scored := 0
	for i, n := range c.Nodes {
		key := fmt.Sprintf("nodes[%d].", i)
		switch {
		case n.Score == nil:
		case !unlike:
			refuse(key+"score", *n.Score, alike)
		case *n.Score < 1:
			refuse(key+"score", *n.Score, fmt.Sprintf("1..%d", math.MaxInt32))
		}
		if n.Score != nil {
			scored++
		}
		if len(n.Licenses) > 0 && !unlike {
			refuse(key+"licenses", fmt.Sprintf("%d entries", len(n.Licenses)), alike)
			continue
		}
		c.checkNames(key+"licenses[%d]", n.Licenses, refuse)
	}
	if unlike && scored > 0 && scored < len(c.Nodes) {
		for i, n := range c.Nodes {
			if n.Score == nil {
				refuse(fmt.Sprintf("nodes[%d].score", i), "missing", "one for each node, or none at all")
			}
		}
	}
	if len(c.Licenses) > 0 && !unlike {
		refuse("licenses", fmt.Sprintf("%d entries", len(c.Licenses)), alike)
		return false
	}
	names := make([]string, 0, len(c.Licenses))
	for i, l := range c.Licenses {
		names = append(names, l.Name)
		if l.Copies < 1 {
			refuse(fmt.Sprintf("licenses[%d].copies", i), l.Copies, fmt.Sprintf("1..%d", math.MaxInt32))
		}
	}
	c.checkNames("licenses[%d].name", names, refuse)
	return ok
}

// checkNames reports invalid and duplicate license names.
func (c *Config) checkNames(key string, names []string, bad func(key string, value any, accepted string)) {
	seen := make(map[string]bool)
	for i, name := range names {
		switch {
		case catalogue.BadLicense(name):
			bad(fmt.Sprintf(key, i), name, catalogue.LicenseAccepted)
		case seen[name]:
			bad(fmt.Sprintf(key, i), name, "each name once")
		}
		seen[name] = true
	}
}

// The range of the lease.
const (
	shortestNodeLease = time.Second
	longestNodeLease  = time.Hour
)

// daemonName matches valid names of node daemons.
var daemonName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)

// distant reports whether the nodes are other hosts.
func (c *Config) distant() bool {
	return c.external() == nil && len(c.Nodes) > 0 && c.Nodes[0].Address != ""
}

// checkAddresses reports problems of the nodes' addresses, and whether there are none.
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
		case !daemonName.MatchString(names[i].Name): // names match entries, because no earlier entry has a count
			refuse(key+"name", names[i].Name, "the name of its daemon: 1 to 63 letters, digits, '-' and '_', "+
				"starting with a letter or digit")
		}
		u, err := url.Parse(n.Address)
		if err != nil || u.Scheme != "http" || u.Hostname() == "" || u.Port() == "" ||
			strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil || u.Fragment != "" {
			refuse(key+"address", n.Address, "http://host:port")
			continue
		}
		if host := strings.ToLower(u.Host); addresses[host] {
			refuse(key+"address", n.Address, "a unique address for each node")
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

// checkLaunch reports services that need more launches of their program than this site supports:
// they would compute wrong results.
func (c *Config) checkLaunch(bad func(key string, value any, accepted string)) {
	if c.Catalogue == nil || c.distant() {
		return
	}
	accepted := "once, where the nodes are virtual ones of this host and policy " + c.Policy.Name +
		" gives whole processors; give the nodes addresses"
	kind := c.external()
	switch {
	case kind != nil:
		accepted = "once, under " + kind.title + ": " + kind.launchHint
	case policy.Of(c.Policy.Name).Shares:
		accepted = "once and per-task, where the nodes are virtual ones of this host; give the nodes addresses"
	}
	for _, s := range c.Catalogue.Services() {
		if s.Launch == batch.LaunchOnce || s.Launch == batch.LaunchPerTask && policy.Of(c.Policy.Name).Shares &&
			kind == nil {
			continue
		}
		bad("services.launch", fmt.Sprintf("%s of service %s", s.Launch, s.Name), accepted)
	}
}
