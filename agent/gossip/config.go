package gossip

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/memberlist"
)

// Role is a member's role in the grid.
type Role uint8

// The roles of members. Clients do not gossip.
const (
	Agent Role = iota + 1
	Server
)

// String returns the role's name.
func (r Role) String() string {
	switch r {
	case Agent:
		return "agent"
	case Server:
		return "server"
	}
	return "unspecified"
}

// Config configures a member.
type Config struct {
	Name         string   // unique among the members of its role; no "/"
	Role         Role     // Agent or Server
	Bind         string   // host:port for gossip, UDP and TCP; port 0 picks one
	URL          string   // of its service, as others reach it; may be empty
	API          int      // version of drover.v1, at least 1
	Capabilities []string // optional features of the member
	Seeds        []string // host:port of members to contact first; they may be down
	// Rejoin is how often missing members are tried: seeds that are not members, all seeds
	// while a member is lost, and the last addresses of lost members. 0 stands for 2s.
	Rejoin time.Duration
	// Roster is the path of the file that keeps the servers that this member has known; "" for none.
	Roster string
	Logger hclog.Logger
}

// defaultRejoin is the default of Config.Rejoin.
const defaultRejoin = 2 * time.Second

// dialTimeout bounds a TCP connection attempt, so that a dead host does not delay the
// others for long.
const dialTimeout = 3 * time.Second

// validate returns the host and port to bind; an error names every bad field.
func (c *Config) validate() (host string, port int, err error) {
	var errs []error
	if c.Name == "" || strings.Contains(c.Name, "/") {
		errs = append(errs, fmt.Errorf("name: %q, accepted: any text without /", c.Name))
	}
	if c.Role != Agent && c.Role != Server {
		errs = append(errs, fmt.Errorf("role: %d, accepted: agent, server", c.Role))
	}
	if c.API < 1 {
		errs = append(errs, fmt.Errorf("api: %d, accepted: at least 1", c.API))
	}
	host, p, err := net.SplitHostPort(c.Bind)
	if err == nil {
		port, err = strconv.Atoi(p)
	}
	if err != nil || port < 0 || port > 65535 {
		errs = append(errs, fmt.Errorf("bind: %q, accepted: host:port", c.Bind))
	}
	for i, s := range c.Seeds {
		if _, _, err := net.SplitHostPort(s); err != nil {
			errs = append(errs, fmt.Errorf("seeds[%d]: %q, accepted: host:port", i, s))
		}
	}
	if c.Rejoin < 0 {
		errs = append(errs, fmt.Errorf("rejoin: %v, accepted: 0s (for %v) or more", c.Rejoin, defaultRejoin))
	}
	if len(errs) > 0 {
		return "", 0, fmt.Errorf("gossip: %w", errors.Join(errs...))
	}
	return host, port, nil
}

// timing returns memberlist's settings for the network of host. On loopback news spread in
// tenths of a second, but probes keep a generous timeout, so that a busy machine does not
// count as dead. A lost member can come back at another address at once.
func timing(host string) *memberlist.Config {
	ip := net.ParseIP(host)
	c := memberlist.DefaultLANConfig()
	// Gossip repeats a message only a few times, and members that join at the same time can
	// miss each other. A full comparison with another member repairs that.
	c.PushPullInterval = 5 * time.Second
	if host == "localhost" || ip != nil && ip.IsLoopback() {
		c = memberlist.DefaultLocalConfig()
		c.GossipInterval = 50 * time.Millisecond
		c.ProbeTimeout = 500 * time.Millisecond
		c.PushPullInterval = 2 * time.Second
		c.SuspicionMaxTimeoutMult = 2
	}
	c.DeadNodeReclaimTime = time.Millisecond
	c.TCPTimeout = dialTimeout
	return c
}
