package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/agent/rpc"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/internal/config"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

// Config configures an agent. Default returns values that work on one machine.
type Config struct {
	Version int    `yaml:"version"` // of this format: 1
	Name    string `yaml:"name"`    // unique among the agents
	Listen  string `yaml:"listen"`  // host:port of the service; port 0 picks one
	// URL is how others reach the service; empty for http:// and the listen address.
	URL    string `yaml:"url"`
	Gossip Gossip `yaml:"gossip"`
	// DataDir keeps the list of the sites that the agent has known; "" for none. Then the servers tell
	// it of sites that do not answer.
	DataDir string `yaml:"data_dir"`
	// Patience bounds how long the agent waits for a site's answer.
	Patience time.Duration `yaml:"patience"`
	// Poll is how often the agent asks each site for its queue and whether it drains.
	Poll time.Duration `yaml:"poll"`
	// Remember bounds how many jobs the agent remembers for sites that do not answer. A job
	// takes about 300 bytes.
	Remember     int          `yaml:"remember"`
	Drain        Drain        `yaml:"drain"`
	Reallocation Reallocation `yaml:"reallocation"`
	Mapping      Mapping      `yaml:"mapping"`
	Network      Network      `yaml:"network"`
	// Insecure allows listening beyond loopback although callers are not authenticated.
	Insecure bool `yaml:"insecure"`

	// Logger receives the agent's log; nil discards it.
	Logger hclog.Logger `yaml:"-"`
}

// Gossip is how the agent finds the servers.
type Gossip struct {
	Bind  string   `yaml:"bind"`  // host:port, UDP and TCP; port 0 picks one
	Seeds []string `yaml:"seeds"` // host:port of members to contact first
	// Rejoin is how often the agent tries seeds and lost members.
	Rejoin time.Duration `yaml:"rejoin"`
}

// Drain is how jobs leave a draining site.
type Drain struct {
	AtOnce int           `yaml:"at_once"` // moves under way from one site
	Retry  time.Duration `yaml:"retry"`   // first pause until a job that found no site is tried again
}

// Mapping is how the site of a request is chosen.
type Mapping struct {
	// Calibrate corrects estimates by the accuracy of earlier ones of the same site and
	// service.
	Calibrate bool `yaml:"calibrate"`
}

// Network is how fast input data travels. The zero Network is infinitely fast.
type Network struct {
	Bandwidth Rate          `yaml:"bandwidth"` // 0: unlimited
	Latency   time.Duration `yaml:"latency"`
	Links     []Link        `yaml:"links"` // exceptions from the two above
}

// Link is the network path between two sites, or from the clients to a site.
type Link struct {
	From      string        `yaml:"from"` // a site, or "" for the clients
	To        string        `yaml:"to"`   // a site
	Bandwidth Rate          `yaml:"bandwidth"`
	Latency   time.Duration `yaml:"latency"`
}

// Rate is in bytes per second, written "125MB/s" or "1GiB/s".
type Rate = config.Rate

// The range of Config.Patience and of all intervals between attempts.
const (
	minPatience = 10 * time.Millisecond
	maxPatience = 10 * time.Minute
)

// The largest values of Config.Remember and Drain.AtOnce.
const (
	mostRemembered = 10_000_000
	mostAtOnce     = 1000
)

// Default returns the configuration of an agent on loopback.
func Default() Config {
	return Config{
		Version:      1,
		Name:         "agent",
		Listen:       "127.0.0.1:7410",
		Gossip:       Gossip{Bind: "127.0.0.1:7411", Rejoin: 2 * time.Second},
		Patience:     2 * time.Second,
		Poll:         2 * time.Second,
		Remember:     1_000_000,
		Drain:        Drain{AtOnce: 8, Retry: 5 * time.Second},
		Reallocation: defaultReallocation(),
	}
}

// rosterFile returns the path of the list of sites, "" for none.
func (c *Config) rosterFile() string {
	if c.DataDir == "" {
		return ""
	}
	return filepath.Join(c.DataDir, "members.json")
}

// FieldError is one problem of a configuration.
type FieldError = config.FieldError

// Validate returns all problems as a joined error of *FieldError.
func (c *Config) Validate() error { return new(config.File).Check(c.problems()) }

func (c *Config) problems() []*FieldError {
	common := config.Process{
		Version: c.Version, Name: c.Name, Listen: c.Listen, URL: c.URL,
		Bind: c.Gossip.Bind, Seeds: c.Gossip.Seeds, Insecure: c.Insecure,
	}
	errs := common.Problems()
	bad := func(key string, value any, accepted string) {
		errs = append(errs, &FieldError{Key: key, Value: fmt.Sprint(value), Accepted: accepted})
	}
	period := func(key string, d time.Duration) {
		if d < minPatience || d > maxPatience {
			bad(key, d, fmt.Sprintf("%v..%v", minPatience, maxPatience))
		}
	}
	period("gossip.rejoin", c.Gossip.Rejoin)
	period("patience", c.Patience)
	period("poll", c.Poll)
	period("drain.retry", c.Drain.Retry)
	number := func(key string, n, most int) {
		if n < 1 || n > most {
			bad(key, n, fmt.Sprintf("1..%d", most))
		}
	}
	number("remember", c.Remember, mostRemembered)
	number("drain.at_once", c.Drain.AtOnce, mostAtOnce)
	_, _, wrong := c.Reallocation.rounds()
	for _, e := range wrong {
		bad("reallocation."+e.Key, e.Value, e.Accepted)
	}
	link := func(key string, bandwidth Rate, latency time.Duration) {
		if bandwidth < 0 {
			bad(key+".bandwidth", int64(bandwidth), "0 (no limit) or more")
		}
		if latency < 0 {
			bad(key+".latency", latency, "0s or more")
		}
	}
	link("network", c.Network.Bandwidth, c.Network.Latency)
	seen := make(map[mapping.Pair]bool)
	for i, l := range c.Network.Links {
		key := fmt.Sprintf("network.links[%d]", i)
		link(key, l.Bandwidth, l.Latency)
		pair := mapping.Pair{From: l.From, To: l.To}
		if l.To == "" || l.From == l.To || seen[pair] {
			bad(key+".to", l.To, "a site other than from, and each pair once")
		}
		seen[pair] = true
	}
	return errs
}

// links returns the network for package mapping.
func (n *Network) links() mapping.Links {
	l := mapping.Links{
		Default: mapping.Link{Bandwidth: int64(n.Bandwidth), Latency: micros(n.Latency)},
		Pairs:   make(map[mapping.Pair]mapping.Link, len(n.Links)),
	}
	for _, w := range n.Links {
		pair := mapping.Pair{From: w.From, To: w.To}
		l.Pairs[pair] = mapping.Link{Bandwidth: int64(w.Bandwidth), Latency: micros(w.Latency)}
	}
	return l
}

// micros converts to the cores' unit, rounding down.
func micros(d time.Duration) batch.Duration { return batch.Duration(d / time.Microsecond) }

// ReadConfig reads a configuration file over the defaults.
func ReadConfig(path string) (Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("read agent configuration: %w", err)
	}
	c, err := ParseConfig(data)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// ParseConfig reads YAML over the defaults. It refuses unknown keys and returns all
// problems with their lines, as a joined error of *FieldError.
func ParseConfig(data []byte) (Config, error) {
	c := Default()
	c.Version = 0 // required
	file, err := config.Read(data, &c)
	if err == nil {
		err = file.Check(c.problems())
	}
	if err != nil {
		return Config{}, fmt.Errorf("agent configuration: %w", err)
	}
	return c, nil
}

// Reallocation configures how waiting jobs change sites.
type Reallocation struct {
	// Period is the time between two rounds, 1s or more; 0 or off for rounds only on demand.
	Period    string `yaml:"period"`
	Algorithm string `yaml:"algorithm"` // regular, all-cancellation
	Heuristic string `yaml:"heuristic"` // mct, minmin, maxmin, sufferage, maxgain, maxrelgain
	Window    string `yaml:"window"`    // how many of the oldest jobs the heuristic compares, or all
	// Threshold is the minimum gain of a move under regular if the transfer time of the job's
	// input is not known, LeastGain that of any move.
	Threshold time.Duration `yaml:"threshold"`
	LeastGain time.Duration `yaml:"least_gain"`
	// MostMoves bounds the moves of a job, MostMovesRound those of a round; 0 for no bound.
	MostMoves      int `yaml:"most_moves"`
	MostMovesRound int `yaml:"most_moves_round"`
	// Patience is how often rounds may delay a job before it keeps its slot; off for no bound.
	Patience string `yaml:"patience"`
}

// off is a period without rounds.
const off = "off"

// defaultReallocation returns the defaults of package reallocation.
func defaultReallocation() Reallocation {
	d := reallocation.Default
	return Reallocation{
		Period: "1h", Algorithm: d.Algorithm.String(), Heuristic: d.Heuristic.String(), Window: d.Window.String(),
		Threshold: d.Threshold.Std(), LeastGain: d.LeastGain.Std(),
		MostMoves: d.MostMoves, MostMovesRound: d.MostMovesRound, Patience: reallocation.PatienceText(d.Patience),
	}
}

// rounds returns the configuration for package reallocation, the period (0 for rounds only
// on demand), and all problems, with keys relative to the section.
func (r *Reallocation) rounds() (c reallocation.Config, period batch.Duration, errs []*FieldError) {
	bad := func(key, value, accepted string) {
		errs = append(errs, &FieldError{Key: key, Value: value, Accepted: accepted})
	}
	if r.Period != off && r.Period != "0" {
		d, err := time.ParseDuration(r.Period)
		if err != nil || d != 0 && d < time.Second || d > longestPeriod {
			bad("period", r.Period, fmt.Sprintf("1s..%v, or 0 or off for rounds only on demand", longestPeriod))
		}
		period = micros(d)
	}
	var err error
	if c.Algorithm, err = reallocation.ParseAlgorithm(r.Algorithm); err != nil {
		bad("algorithm", r.Algorithm, accepted(err))
	}
	if c.Heuristic, err = reallocation.ParseHeuristic(r.Heuristic); err != nil {
		bad("heuristic", r.Heuristic, accepted(err))
	}
	if c.Window, err = reallocation.ParseWindow(r.Window); err != nil {
		bad("window", r.Window, accepted(err))
	}
	length := func(key string, d time.Duration) batch.Duration {
		if d < 0 {
			bad(key, d.String(), "0s or more")
		}
		return micros(d)
	}
	c.Threshold, c.LeastGain = length("threshold", r.Threshold), length("least_gain", r.LeastGain)
	bound := func(key string, n int) int {
		if n < 0 {
			bad(key, strconv.Itoa(n), "0 (no bound) or more")
		}
		return n
	}
	c.MostMoves, c.MostMovesRound = bound("most_moves", r.MostMoves), bound("most_moves_round", r.MostMovesRound)
	if c.Patience, err = reallocation.ParsePatience(r.Patience); err != nil {
		bad("patience", r.Patience, accepted(err))
	}
	c.Period = batch.Hour // rounds ignore it
	return c, period, errs
}

// longestPeriod is the largest Reallocation.Period.
const longestPeriod = 366 * 24 * time.Hour

// accepted returns the accepted values that an error of package reallocation names.
func accepted(err error) string {
	_, what, _ := strings.Cut(err.Error(), "accepted: ")
	return what
}

// with returns the configuration with the fields that a client has set.
func (r *Reallocation) with(o rpc.RoundOptions) *Reallocation {
	c := *r
	for _, f := range []struct {
		set  string
		into *string
	}{{o.Algorithm, &c.Algorithm}, {o.Heuristic, &c.Heuristic}, {o.Window, &c.Window}} {
		if f.set != "" {
			*f.into = f.set
		}
	}
	if o.Threshold != nil {
		c.Threshold = *o.Threshold
	}
	if o.LeastGain != nil {
		c.LeastGain = *o.LeastGain
	}
	if o.MostMoves != nil {
		c.MostMoves = *o.MostMoves
	}
	if o.MostMovesRound != nil {
		c.MostMovesRound = *o.MostMovesRound
	}
	if o.Patience != nil {
		c.Patience = reallocation.PatienceText(*o.Patience)
	}
	return &c
}
