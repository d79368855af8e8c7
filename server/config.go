package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/internal/config"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// Config is the configuration of a server. Default gives every field but Name, Nodes and Services a
// value that works on one machine.
type Config struct {
	Version int    `yaml:"version"` // of this format: 1
	Name    string `yaml:"name"`    // of the site, unique in the grid
	Listen  string `yaml:"listen"`  // host:port of the API; port 0 picks a free one
	// URL is the URL at which others reach the API; empty: http:// and the listen address.
	URL string `yaml:"url"`
	// DataDir holds uploaded content and the directories of jobs. Two servers cannot share one.
	// Empty: drover/NAME in the user's cache directory.
	DataDir string `yaml:"data_dir"`
	Gossip  Gossip `yaml:"gossip"`
	// Insecure allows a server without authentication to listen beyond loopback.
	Insecure bool `yaml:"insecure"`

	Batch Batch   `yaml:"batch"`
	Nodes []Nodes `yaml:"nodes"` // the machine: virtual nodes of this host, or other hosts
	// Lease is how long jobs on nodes with an address keep running while the server is silent; 0:
	// pool.DefaultLease. Other nodes have no lease.
	Lease time.Duration `yaml:"lease"`
	// Licenses are the site's licenses that are not bound to a node.
	Licenses []License `yaml:"licenses"`
	Speed    float64   `yaml:"speed"` // of a processor; 1.0 is the reference for the work of services
	Policy   Policy    `yaml:"policy"`
	// Tuning selects how the width of a moldable job is chosen: exhaustive or binary.
	Tuning string `yaml:"tuning"`
	// Grace is the time between SIGTERM and SIGKILL of a job.
	Grace time.Duration `yaml:"grace"`
	// OnStop selects what happens to running jobs when the server stops.
	OnStop   OnStop   `yaml:"on_stop"`
	Limits   Limits   `yaml:"limits"`
	Services Services `yaml:"services"`

	// Catalogue holds the services that the site offers. Reading a file fills it from Services.
	Catalogue *catalogue.Catalogue `yaml:"-"`
	// Program replaces "drover" as the first word of a service's command; empty: the program that
	// this server is part of.
	Program string `yaml:"-"`
	// Supervisor is the command of the process that owns running jobs; nil: the default of package
	// supervisor.
	Supervisor []string `yaml:"-"`
	// patience is the core's patience, shorter in tests.
	patience site.Patience
	// worth is the part of a host processor that each processor of the site gets, where processors
	// are shared; tests set less than the host has.
	worth cgroup.CPU
	// measured is the interval between two writes of measurements; 0 for measuredEvery.
	measured time.Duration
	// Logger receives log messages; nil discards them.
	Logger hclog.Logger `yaml:"-"`
}

// Gossip configures how agents find the server.
type Gossip struct {
	Bind  string   `yaml:"bind"`  // host:port, UDP and TCP; port 0 picks one
	Seeds []string `yaml:"seeds"` // host:port of other members
}

// Nodes is one node, or several equal nodes.
type Nodes struct {
	// Name of the node; with a count, the prefix of the names. Empty: n and the number of the node
	// among all.
	Name       string `yaml:"name"`
	Count      int    `yaml:"count"` // nodes; 0 means 1
	Processors int32  `yaml:"processors"`
	Memory     Size   `yaml:"memory"` // of each node; 0: unknown
	// Address is the URL of the daemon of a node that is another host; "": a virtual node of this
	// host.
	Address string `yaml:"address"`
	// Score is the benchmark score of each node, relative to the other nodes; nil: all are equal.
	Score *int32 `yaml:"score"`
	// Licenses name software that each node can run: bound to the node, or a license of the site
	// that not all nodes can use.
	Licenses []string `yaml:"licenses"`
}

// License is a number of copies of a license that the site owns.
type License struct {
	Name   string `yaml:"name"`
	Copies int32  `yaml:"copies"` // in use at once
}

// Policy selects the scheduling policy.
type Policy struct {
	Name     string         `yaml:"name"`     // see batch/policy
	Settings batch.Settings `yaml:"settings"` // of the policy
}

// Limits bound what the server accepts and keeps.
type Limits struct {
	Width int32 `yaml:"width"` // widest job, in processors; 0: the whole machine
	File  Size  `yaml:"file"`  // largest uploaded file
	// all uploaded content except data under handles; the least recently used is evicted first
	Content Size `yaml:"content"`
	// All data under handles, 0 for none; and the data of one owner, 0 for no separate bound. Equal
	// content counts once.
	Data      Size `yaml:"data"`
	DataOwner Size `yaml:"data_owner"`
	Waiting   int  `yaml:"waiting"` // jobs in the queue
	// Finished jobs are kept with their files up to this number, total size and age; the oldest are
	// removed first.
	Finished     int           `yaml:"finished"`
	FinishedSize Size          `yaml:"finished_size"`
	FinishedFor  time.Duration `yaml:"finished_for"`
	// Drafts of the plan that reallocation rounds may have at a time, 0 to take no part in rounds;
	// and the lease of an unused draft, unless its round sets one.
	Drafts     int           `yaml:"drafts"`
	DraftLease time.Duration `yaml:"draft_lease"`
}

// OnStop is the type of Config.OnStop.
type OnStop string

// The values of OnStop.
const (
	LeaveJobs OnStop = "leave" // they keep running, and the next server adopts them
	EndJobs   OnStop = "end"   // SIGTERM, grace, SIGKILL; they fail
)

// Services locates the catalogue: in a file, in the configuration itself, or in both.
type Services struct {
	Catalogue string       `yaml:"catalogue"` // path, relative to the configuration's directory
	Inline    config.Value `yaml:"inline"`    // list of services, as in a catalogue
}

// Size is a number of bytes, written "512MiB" or "16GB".
type Size = config.Size

// Default returns the configuration of a server on loopback. It lacks a name, nodes and services.
func Default() Config {
	return Config{
		Version: 1,
		Listen:  "127.0.0.1:7420",
		Gossip:  Gossip{Bind: "127.0.0.1:7421"},
		Batch:   defaultBatch(),
		Speed:   1,
		Policy:  Policy{Name: "cbf"},
		Tuning:  site.Exhaustive.String(),
		Grace:   10 * time.Second,
		OnStop:  LeaveJobs,
		Limits: Limits{
			File: 1 << 30, Content: 16 << 30, Data: 16 << 30, Waiting: 100_000,
			Finished: 10_000, FinishedSize: 16 << 30, FinishedFor: 7 * 24 * time.Hour,
			Drafts: 4, DraftLease: time.Minute,
		},
	}
}

// micros converts to the unit of the cores, rounding down.
func micros(d time.Duration) batch.Duration { return batch.Duration(d / time.Microsecond) }

// platform converts the nodes for the batch system.
func (c *Config) platform() batch.Platform {
	var p batch.Platform
	for _, n := range c.Nodes {
		for i := range max(n.Count, 1) {
			name := n.Name
			switch {
			case name == "":
				name = "n" + strconv.Itoa(len(p.Nodes)+1)
			case n.Count > 0:
				name += strconv.Itoa(i + 1)
			}
			node := batch.Node{Name: name, Processors: n.Processors, Memory: int64(n.Memory), Licenses: n.Licenses}
			if n.Score != nil {
				node.Score = *n.Score
			}
			p.Nodes = append(p.Nodes, node)
		}
	}
	for _, l := range c.Licenses {
		p.Licenses = append(p.Licenses, batch.LicensePool(l))
	}
	return p
}

func (c *Config) speed() (catalogue.Speed, error) {
	return catalogue.ParseSpeed(strconv.FormatFloat(c.Speed, 'g', -1, 64))
}

// dataDir returns the path of the data directory.
func (c *Config) dataDir() (string, error) {
	if c.DataDir != "" {
		return filepath.Abs(c.DataDir)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("data_dir: not given, and %w", err)
	}
	return filepath.Join(cache, "drover", c.Name), nil
}
