package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.yaml.in/yaml/v3"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/internal/config"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// Config is how a server runs. Default gives every field but Name, Nodes and
// Services a value that works on one machine.
type Config struct {
	Version int    `yaml:"version"` // of this format: 1
	Name    string `yaml:"name"`    // of the site, unique in the grid
	Listen  string `yaml:"listen"`  // host:port of the RPC face; port 0 picks one
	// URL is how others reach the RPC face; empty: http:// and where it listens.
	URL string `yaml:"url"`
	// DataDir holds uploaded content and the directories of jobs. Two servers
	// cannot share one. Empty: drover/NAME in the user's cache directory.
	DataDir string `yaml:"data_dir"`
	Gossip  Gossip `yaml:"gossip"`
	// Insecure allows to listen beyond loopback though nobody is authenticated.
	Insecure bool `yaml:"insecure"`

	Batch Batch   `yaml:"batch"`
	Nodes []Nodes `yaml:"nodes"` // the machine: virtual nodes of this host, or other hosts
	// Lease is how long jobs on nodes with an address live while the server is silent; 0:
	// pool.DefaultLease. The others have none.
	Lease time.Duration `yaml:"lease"`
	// Licenses are those of the site that are bound to no node.
	Licenses []License `yaml:"licenses"`
	Speed    float64   `yaml:"speed"` // of a processor, 1.0 being the reference of services' work
	Policy   Policy    `yaml:"policy"`
	// Tuning is how the width of a moldable job is chosen: exhaustive or binary.
	Tuning string `yaml:"tuning"`
	// Grace is how long a job may go on after SIGTERM before it is killed.
	Grace time.Duration `yaml:"grace"`
	// OnStop is what becomes of the jobs that run when the server is stopped.
	OnStop   OnStop   `yaml:"on_stop"`
	Limits   Limits   `yaml:"limits"`
	Services Services `yaml:"services"`

	// Catalogue is what the site offers. Reading a file fills it from Services.
	Catalogue *catalogue.Catalogue `yaml:"-"`
	// Program is what "drover" as the first word of a service's command stands
	// for; empty: the program that this server is part of.
	Program string `yaml:"-"`
	// Supervisor is the command of the process that keeps jobs running; nil: that
	// of package supervisor.
	Supervisor []string `yaml:"-"`
	// patience is the core's, shorter in tests.
	patience site.Patience
	// worth is what a processor of the site is of the host's, where they are shared; less in
	// tests than all that the host has for it.
	worth cgroup.CPU
	// measured is the time between two writings of what was found out; 0 for measuredEvery.
	measured time.Duration
	// Logger is where news goes; nil: nowhere.
	Logger hclog.Logger `yaml:"-"`
}

// Gossip is how agents find the server.
type Gossip struct {
	Bind  string   `yaml:"bind"`  // host:port, UDP and TCP; port 0 picks one
	Seeds []string `yaml:"seeds"` // host:port of members that may be up already
}

// Nodes is one node, or several that are alike.
type Nodes struct {
	// Name of the node; with a count the first part of the names. Empty: n and
	// the number of the node among all.
	Name       string `yaml:"name"`
	Count      int    `yaml:"count"` // nodes; 0 means 1
	Processors int32  `yaml:"processors"`
	Memory     Size   `yaml:"memory"` // of each node; 0: not known
	// Address is the URL of the daemon of a node that is another host; "": a virtual node
	// of this one.
	Address string `yaml:"address"`
	// Score is the benchmark score of each, among the other nodes; nil: all are alike.
	Score *int32 `yaml:"score"`
	// Licenses name software that each can run: bound to it, or one of the site's that
	// not all nodes can run.
	Licenses []string `yaml:"licenses"`
}

// License is a number of copies of a license that the site owns.
type License struct {
	Name   string `yaml:"name"`
	Copies int32  `yaml:"copies"` // in use at once
}

// Policy is how the batch system decides.
type Policy struct {
	Name     string         `yaml:"name"`     // one of batch/policy
	Settings batch.Settings `yaml:"settings"` // the policy's own
}

// Limits bound what the server accepts and keeps.
type Limits struct {
	Width   int32 `yaml:"width"`   // widest job, processors; 0: all of the machine
	File    Size  `yaml:"file"`    // largest uploaded file
	Content Size  `yaml:"content"` // all uploaded content but that of data under handles; the least recently used goes first
	// All data that stay under handles, 0 for none, and those of one owner, 0 for no
	// bound of his own. The same content counts once.
	Data      Size `yaml:"data"`
	DataOwner Size `yaml:"data_owner"`
	Waiting   int  `yaml:"waiting"` // jobs in the queue
	// Jobs that have ended are kept, with their files, until there are more of them,
	// they are larger together, or older than this; the oldest go first.
	Finished     int           `yaml:"finished"`
	FinishedSize Size          `yaml:"finished_size"`
	FinishedFor  time.Duration `yaml:"finished_for"`
	// Copies of the plan that rounds of reallocation may have at a time, 0 for no
	// part in them, and how long one is kept that nobody uses, unless its round says
	// so itself.
	Drafts     int           `yaml:"drafts"`
	DraftLease time.Duration `yaml:"draft_lease"`
}

// OnStop is a choice of Config.
type OnStop string

// The choices of OnStop.
const (
	LeaveJobs OnStop = "leave" // they go on, and the next server finds them
	EndJobs   OnStop = "end"   // SIGTERM, grace, SIGKILL; they have failed
)

// Services says where the catalogue is: in a file, in the configuration itself,
// or in both.
type Services struct {
	Catalogue string    `yaml:"catalogue"` // path, from the directory of the configuration
	Inline    yaml.Node `yaml:"inline"`    // list of services, as in a catalogue
}

// Size is a number of bytes, written "512MiB" or "16GB".
type Size = config.Size

// Default returns the configuration of a server on loopback. It lacks a name,
// nodes and services.
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

// micros converts to the cores' unit, rounding down.
func micros(d time.Duration) batch.Duration { return batch.Duration(d / time.Microsecond) }

// platform returns the nodes in the words of the batch system.
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

// dataDir returns where the data lies.
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
