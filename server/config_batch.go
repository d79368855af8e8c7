package server

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/external"
	"github.com/seed-9b8f70bb/drover/batch/policy"
)

// Batch is the batch system of the site.
type Batch struct {
	Type BatchType `yaml:"type"` // exec (the default) or slurm

	// The other keys are for external batch systems.

	Conf      string   `yaml:"conf"`     // path of slurm.conf; "": Slurm's default
	Commands  string   `yaml:"commands"` // directory of sbatch and the other programs; "": looked up in PATH
	Partition string   `yaml:"partition"`
	Account   string   `yaml:"account"`
	QOS       string   `yaml:"qos"`
	Extra     []string `yaml:"extra"` // submit options of every job
	// Program is the path of drover on the nodes; "": the same as here.
	Program  string        `yaml:"program"`
	Waiting  int           `yaml:"waiting"`  // jobs in the batch system's queue at once; others wait at the server
	Interval time.Duration `yaml:"interval"` // between two polls of the queue
	Timeout  time.Duration `yaml:"timeout"`  // of each command
	// Stale is how old the last poll can be before the site stops giving estimates.
	Stale time.Duration `yaml:"stale"`
	// Unseen is how many jobs can wait at the server before it accepts no more while the
	// last poll is older than Stale; 0: it accepts none then.
	Unseen int `yaml:"unseen"`
	// Model is the policy of the model with which the server estimates starts.
	Model Policy `yaml:"model"`
}

// BatchType is the type of Batch.Type.
type BatchType string

// The kinds of batch systems.
const (
	Embedded BatchType = "exec"  // Policy decides, on Nodes of this host
	Slurm    BatchType = "slurm" // Slurm decides, on its own nodes
)

// defaultBatch is that of Default.
func defaultBatch() Batch {
	return Batch{
		Type: Embedded, Waiting: external.DefaultMaxQueued, Interval: external.DefaultInterval,
		Timeout: external.DefaultTimeout,
		Stale:   external.DefaultStale, Unseen: external.DefaultMaxUnseen, Model: Policy{Name: "easy"},
	}
}

// traits returns the traits of the site's policy.
func (c *Config) traits() *policy.Entry {
	e := policy.Of(c.Policy.Name)
	return &e
}

// policyName returns the name of the site's policy or external batch system.
func (c *Config) policyName() string {
	if c.external() != nil {
		return string(c.Batch.Type)
	}
	return c.Policy.Name
}

// checkBatch reports problems of the batch system, and whether the machine is known, so that other
// settings can be checked against it.
func (c *Config) checkBatch(bad func(key string, value any, accepted string)) (machine bool) {
	b := &c.Batch
	if b.Type == Embedded {
		if own := defaultBatch(); !reflect.DeepEqual(own, *b) {
			bad("batch", "keys of external batch systems", "nothing but type with an embedded batch system")
		}
		machine = c.checkNodes(bad)
		able := c.checkFarm(bad)
		c.checkPolicy(machine && able, bad)
		return machine
	}
	kind := c.external()
	if kind == nil {
		bad("batch.type", b.Type, fmt.Sprintf("one of %v", batchTypes()))
		return false
	}
	if len(c.Nodes) > 0 {
		bad("nodes", fmt.Sprintf("%d entries", len(c.Nodes)), "none: "+kind.title+" has its own")
	}
	if len(c.Licenses) > 0 {
		bad("licenses", fmt.Sprintf("%d entries", len(c.Licenses)), "none: "+kind.title+" has its own")
	}
	if strings.ContainsAny(c.Name, ":") {
		bad("name", c.Name, "a word without colons: it marks the site's jobs in "+kind.title)
	}
	kind.check(b, bad)
	if b.Program != "" && !filepath.IsAbs(b.Program) {
		bad("batch.program", b.Program, "an absolute path, on the nodes")
	}
	if b.Waiting < 1 || b.Waiting > 100_000 {
		bad("batch.waiting", b.Waiting, "1..100000")
	}
	if b.Unseen < 0 || b.Unseen > 1_000_000 {
		bad("batch.unseen", b.Unseen, "0..1000000")
	}
	span := func(key string, d, least, most time.Duration) {
		if d < least || d > most {
			bad("batch."+key, d, fmt.Sprintf("%v..%v", least, most))
		}
	}
	span("interval", b.Interval, 100*time.Millisecond, time.Hour)
	span("timeout", b.Timeout, 100*time.Millisecond, 10*time.Minute)
	span("stale", b.Stale, time.Second, 24*time.Hour)
	if _, err := policy.New(b.Model.Name, batch.Processors(1), b.Model.Settings); err != nil {
		bad("batch.model", b.Model.Name, err.Error())
	} else if policy.Of(b.Model.Name).Shares {
		bad("batch.model", b.Model.Name, "a policy that gives jobs whole processors")
	}
	return false
}
