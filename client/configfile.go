package client

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/config"
)

// Environment variables that say which grid there is.
const (
	EnvironmentConfig = "DROVER_CONFIG" // path of a configuration file
	EnvironmentAgents = "DROVER_AGENTS" // URLs of agents, separated by commas
)

// LocalAgent is where the agent of a grid on this host listens that was started
// without a configuration.
const LocalAgent = "http://127.0.0.1:7410"

// mostConfig bounds what is read of a configuration file, bytes.
const mostConfig = 1 << 20

// configFile is a configuration file as it is written.
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

// ParseConfig reads YAML over the defaults. It refuses keys that it does not
// know, and tells every problem by line: a joined error of *config.FieldError.
func ParseConfig(data []byte) (Config, error) {
	d := Default()
	in := configFile{Patience: d.Patience, LongPatience: d.LongPatience, CallTimeout: d.CallTimeout, Owner: d.Owner}
	file, err := config.Read(data, &in)
	if err != nil {
		return Config{}, err
	}
	c := Config{
		Agents: in.Agents, Patience: in.Patience, LongPatience: in.LongPatience, CallTimeout: in.CallTimeout, Owner: in.Owner,
	}
	var found []*config.FieldError
	if in.Version != 1 {
		found = append(found, &config.FieldError{Key: "version", Value: fmt.Sprint(in.Version), Accepted: "1"})
	}
	for _, p := range c.problems() {
		found = append(found, &config.FieldError{
			Key: strings.ReplaceAll(p.Field, " ", "_"), Accepted: p.Accepted, Message: p.Message + ", accepted: " + p.Accepted,
		})
	}
	if err := file.Check(found); err != nil {
		return Config{}, err
	}
	return c, nil
}

// Environment returns the configuration that the environment names: the file of
// DROVER_CONFIG, the agents of DROVER_AGENTS in place of the file's, and without
// either a grid on this host. Errors are those of ReadConfig. getenv is os.Getenv, or
// takes its place.
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
