package client

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Defaults and ranges of Config.
const (
	DefaultPatience     = 10 * time.Second
	DefaultLongPatience = 5 * time.Minute
	DefaultCallTimeout  = 5 * time.Second
	minCallTimeout      = 10 * time.Millisecond
	longestTime         = 24 * time.Hour
)

// Config is how a client reaches the grid. Default gives all but Agents.
type Config struct {
	// Agents are the URLs of agents, the preferred one first; at least one.
	Agents []string
	// Patience is how long failures in a row are answered by trying again; 0
	// means that nothing is tried twice at one place. Lists are not tried again.
	Patience time.Duration
	// LongPatience is that of what takes long by nature and is best not begun
	// anew: Wait, Watch, Call once the job is accepted, Logs, Download and Save.
	// A site may be restarted meanwhile.
	LongPatience time.Duration
	// CallTimeout bounds one call that is answered at once, such as Submit.
	// Transfers, logs and watches have no bound but their context.
	CallTimeout time.Duration
	// Owner is who asks; not authenticated until identity exists.
	Owner string
}

// Default returns the configuration of a client of these agents.
func Default(agents ...string) Config {
	return Config{Agents: agents, Patience: DefaultPatience, LongPatience: DefaultLongPatience, CallTimeout: DefaultCallTimeout}
}

// Validate reports everything that is wrong with the configuration, each as an
// *Error.
func (c *Config) Validate() error {
	var errs []error
	for _, p := range c.problems() {
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}

// Redacted returns a URL without the password that may be in it, even if the URL is
// malformed.
func Redacted(address string) string { return rpc.Redacted(address) }

func (c *Config) problems() []*problem.Problem {
	var found []*problem.Problem
	bad := func(field, accepted, format string, a ...any) {
		found = append(found, &problem.Problem{Reason: problem.BadValue, Field: field, Accepted: accepted, Message: fmt.Sprintf(format, a...)})
	}
	if len(c.Agents) == 0 {
		bad("agents", "at least one URL", "none given")
	}
	for i, a := range c.Agents {
		if u, err := url.Parse(a); err != nil || u.Scheme != "http" || u.Host == "" {
			bad(fmt.Sprintf("agents[%d]", i), "http://host:port", "%q", Redacted(a))
		}
	}
	for _, p := range []struct {
		field string
		value time.Duration
	}{{"patience", c.Patience}, {"long patience", c.LongPatience}} {
		if p.value < 0 || p.value > longestTime {
			bad(p.field, fmt.Sprintf("0s..%v", longestTime), "%v", p.value)
		}
	}
	if c.CallTimeout < minCallTimeout || c.CallTimeout > longestTime {
		bad("call timeout", fmt.Sprintf("%v..%v", minCallTimeout, longestTime), "%v", c.CallTimeout)
	}
	return found
}
