package server

import (
	"fmt"
	"math"

	"github.com/seed-9b8f70bb/drover/batch/policy"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// checkFarm reports what is wrong with scores and licenses, and says whether the policy
// can be made for them.
func (c *Config) checkFarm(bad func(key string, value any, accepted string)) bool {
	ok, unlike := true, policy.Of(c.Policy.Name).Machines
	refuse := func(key string, value any, accepted string) {
		bad(key, value, accepted)
		ok = false
	}
	alike := fmt.Sprintf("none with policy %s, to which all processors are alike", c.Policy.Name)
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

// checkNames reports names of licenses that cannot be, or are there twice.
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
