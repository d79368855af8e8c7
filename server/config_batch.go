package server

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy"
	"github.com/seed-9b8f70bb/drover/batch/slurm"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// Batch is the batch system of the site.
type Batch struct {
	Type BatchType `yaml:"type"` // exec (the default) or slurm

	// The rest is Slurm's.
	Conf      string   `yaml:"conf"`     // path of slurm.conf; "": Slurm's own
	Commands  string   `yaml:"commands"` // directory of sbatch and the others; "": looked up in PATH
	Partition string   `yaml:"partition"`
	Account   string   `yaml:"account"`
	QOS       string   `yaml:"qos"`
	Extra     []string `yaml:"extra"` // options of every submission
	// Program is the path of drover on the nodes; "": where it is here.
	Program  string        `yaml:"program"`
	Waiting  int           `yaml:"waiting"`  // jobs that wait in Slurm's queue at once; others wait here
	Interval time.Duration `yaml:"interval"` // between two looks at the queue
	Timeout  time.Duration `yaml:"timeout"`  // of each command
	// Stale is how long Slurm may be silent before the site gives no estimates.
	Stale time.Duration `yaml:"stale"`
	// Unseen is how many jobs may wait here when it has been silent for longer, for
	// more to be accepted; 0: none is.
	Unseen int `yaml:"unseen"`
	// Model is the policy that estimates take Slurm's to be.
	Model Policy `yaml:"model"`
}

// BatchType is a choice of Batch.
type BatchType string

// The kinds of batch systems.
const (
	Embedded BatchType = "exec"  // Policy decides, on Nodes of this host
	Slurm    BatchType = "slurm" // Slurm decides, on its own nodes
)

// defaultBatch is that of Default.
func defaultBatch() Batch {
	return Batch{
		Type: Embedded, Waiting: slurm.DefaultMost, Interval: slurm.DefaultInterval, Timeout: slurm.DefaultTimeout,
		Stale: slurm.DefaultStale, Unseen: slurm.DefaultUnseen, Model: Policy{Name: "easy"},
	}
}

// foreign says whether the batch system is not one of Drover's own.
func (c *Config) foreign() bool { return c.Batch.Type == Slurm }

// traits returns what the table of policies says about the site's policy.
func (c *Config) traits() *policy.Entry {
	e := policy.Of(c.Policy.Name)
	return &e
}

// policyName is what the site is said to be scheduled by.
func (c *Config) policyName() string {
	if c.foreign() {
		return string(Slurm)
	}
	return c.Policy.Name
}

// checkBatch reports what is wrong with the batch system, and says whether there
// is a machine to check other things against.
func (c *Config) checkBatch(bad func(key string, value any, accepted string)) (machine bool) {
	b := &c.Batch
	switch b.Type {
	case Embedded:
		if own := defaultBatch(); !reflect.DeepEqual(own, *b) {
			bad("batch", "keys of Slurm's", "nothing but type with an embedded batch system")
		}
		machine = c.checkNodes(bad)
		able := c.checkFarm(bad)
		c.checkPolicy(machine && able, bad)
		return machine
	case Slurm:
	default:
		bad("batch.type", b.Type, "exec, slurm")
		return false
	}
	if len(c.Nodes) > 0 {
		bad("nodes", fmt.Sprintf("%d entries", len(c.Nodes)), "none: Slurm has its own")
	}
	if len(c.Licenses) > 0 {
		bad("licenses", fmt.Sprintf("%d entries", len(c.Licenses)), "none: Slurm has its own")
	}
	if strings.ContainsAny(c.Name, ":") {
		bad("name", c.Name, "a word without colons, with which jobs are marked in Slurm")
	}
	for key, v := range map[string]string{"partition": b.Partition, "account": b.Account, "qos": b.QOS} {
		if strings.ContainsAny(v, " \t\n\x00") {
			bad("batch."+key, v, "a word")
		}
	}
	if b.Program != "" && !filepath.IsAbs(b.Program) {
		bad("batch.program", b.Program, "an absolute path, on the nodes")
	}
	for i, o := range b.Extra {
		key := fmt.Sprintf("batch.extra[%d]", i)
		if !strings.HasPrefix(o, "-") || strings.ContainsAny(o, "\n\x00") {
			bad(key, o, "an option of sbatch, in one word: --mem=2G")
		} else if why := catalogue.Overruled(o); why != "" {
			bad(key, o, "an option that a site may add: "+why)
		}
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
