package client

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/internal/config"
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

// Config is how a client reaches the grid. Default sets everything but Agents.
type Config struct {
	// Agents are the URLs of agents, at least one, the preferred one first.
	Agents []string
	// Patience is how long consecutive failures are retried; 0 for no retries at the
	// same process. Lists are not retried.
	Patience time.Duration
	// LongPatience is the patience of operations that take long and are expensive to
	// repeat: Wait, Watch, Call once the job is accepted, Logs, Download and Save. A
	// site can be restarted meanwhile.
	LongPatience time.Duration
	// CallTimeout bounds a call that is answered at once, such as Submit. Transfers,
	// logs and watches are bounded by their context only.
	CallTimeout time.Duration
	// Owner is the owner of jobs and data; not authenticated until identity exists.
	Owner string
}

// Default returns the configuration of a client of these agents.
func Default(agents ...string) Config {
	return Config{
		Agents: agents, Patience: DefaultPatience, LongPatience: DefaultLongPatience, CallTimeout: DefaultCallTimeout,
	}
}

// Validate reports every problem of the configuration, each as a *problem.Problem.
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
		found = append(found, &problem.Problem{
			Reason: problem.BadValue, Field: field, Accepted: accepted, Message: fmt.Sprintf(format, a...),
		})
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

// Environment variables that name the grid.
const (
	EnvironmentConfig = "DROVER_CONFIG" // path of a configuration file
	EnvironmentAgents = "DROVER_AGENTS" // URLs of agents, separated by commas
)

// LocalAgent is the URL of the agent of a grid on this host that runs without a
// configuration.
const LocalAgent = "http://127.0.0.1:7410"

// mostConfig bounds the size of a configuration file, bytes.
const mostConfig = 1 << 20

// configFile is the content of a configuration file.
type configFile struct {
	Version      int           `yaml:"version"`
	Agents       []string      `yaml:"agents"`
	Patience     time.Duration `yaml:"patience"`
	LongPatience time.Duration `yaml:"long_patience"`
	CallTimeout  time.Duration `yaml:"call_timeout"`
	Owner        string        `yaml:"owner"`
}

// ConfigError is a configuration file that does not exist (fs.ErrNotExist), cannot be
// read or is wrong.
type ConfigError struct {
	Err error
}

// Error returns the reason.
func (e *ConfigError) Error() string {
	if errors.Is(e.Err, fs.ErrNotExist) {
		return "no such configuration file: " + e.Err.Error()
	}
	return "the configuration is wrong: " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *ConfigError) Unwrap() error { return e.Err }

// ReadConfig reads a configuration file over the defaults. The error is a
// *ConfigError; it reports every problem with its line.
func ReadConfig(path string) (Config, error) {
	data, err := readConfig(path)
	if err != nil {
		return Config{}, &ConfigError{Err: err}
	}
	c, err := ParseConfig(data)
	if err != nil {
		return Config{}, &ConfigError{Err: fmt.Errorf("%s: %w", path, err)}
	}
	return c, nil
}

func readConfig(path string) ([]byte, error) {
	about, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !about.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %v, accepted: a file", path, about.Mode().Type())
	case about.Size() > mostConfig:
		return nil, fmt.Errorf("%s: %d bytes, accepted: at most %d", path, about.Size(), mostConfig)
	}
	return os.ReadFile(path)
}

// ParseConfig reads YAML over the defaults. It refuses unknown keys, and reports every
// problem with its line: a joined error of *config.FieldError.
func ParseConfig(data []byte) (Config, error) {
	d := Default()
	in := configFile{Patience: d.Patience, LongPatience: d.LongPatience, CallTimeout: d.CallTimeout, Owner: d.Owner}
	file, err := config.Read(data, &in)
	if err != nil {
		return Config{}, err
	}
	c := Config{
		Agents: in.Agents, Patience: in.Patience, LongPatience: in.LongPatience, CallTimeout: in.CallTimeout,
		Owner: in.Owner,
	}
	var found []*config.FieldError
	if in.Version != 1 {
		found = append(found, &config.FieldError{Key: "version", Value: fmt.Sprint(in.Version), Accepted: "1"})
	}
	for _, p := range c.problems() {
		found = append(found, &config.FieldError{
			Key: strings.ReplaceAll(p.Field, " ", "_"), Accepted: p.Accepted,
			Message: p.Message + ", accepted: " + p.Accepted,
		})
	}
	if err := file.Check(found); err != nil {
		return Config{}, err
	}
	return c, nil
}

// Environment returns the configuration that the environment names: the file of
// DROVER_CONFIG, with the agents of DROVER_AGENTS instead of the file's; without either,
// a grid on this host. Errors are those of ReadConfig. getenv is os.Getenv, or replaces
// it.
func Environment(getenv func(string) string) (Config, error) {
	c := Default(LocalAgent)
	if path := getenv(EnvironmentConfig); path != "" {
		var err error
		if c, err = ReadConfig(path); err != nil {
			return Config{}, err
		}
	}
	if agents := getenv(EnvironmentAgents); agents != "" {
		c.Agents = strings.Split(agents, ",")
	}
	return c, nil
}
