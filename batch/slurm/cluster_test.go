package slurm

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/external"
	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
)

// isUnreachable reports whether an error says that the controller did not answer.
func isUnreachable(err error) bool {
	_, ok := errors.AsType[*external.UnreachableError](err)
	return ok
}

func connect(c *slurmtest.Cluster) *Cluster { return New(Config{Conf: c.Conf()}) }

// entry returns the row of a job, an empty one if it is not in the queue.
func entry(t *testing.T, c *Cluster, id string) row {
	t.Helper()
	rows, err := c.queue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.id == id {
			return r
		}
	}
	return row{}
}

func TestSubmitHoldReleaseAndCancelAJob(t *testing.T) {
	cluster := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 3})[0]
	c := connect(cluster)
	key := batch.Key{Job: id, Epoch: 1, Attempt: 1}
	file := t.TempDir() + "/100%j %x"
	sub := &external.Submission{
		Script: external.Script{
			Text: []byte("#!/bin/sh\n#SBATCH --ntasks=99 --mail-type=NONE\necho $SLURM_NTASKS\nsleep 100\n"),
			Dir:  t.TempDir(), Stdout: file, Extra: []string{"--hold"},
		},
		Name: external.Name(key), Comment: external.Comment("a", key, "bob"), Width: 2, Limit: 61 * batch.Second,
	}
	job, err := c.Submit(t.Context(), sub)
	if err != nil {
		t.Fatal(err)
	}
	r := entry(t, c, job)
	k, ok := external.Identify("a", r.name, r.comment)
	if !ok || k != key || r.limit != 2*batch.Minute || r.state != "PENDING" || r.processors != 2 {
		t.Errorf("%+v", r)
	}
	if err := c.Control(t.Context(), external.Release, []string{job}); err != nil {
		t.Fatal(err)
	}
	slurmtest.Until(t, "it runs", func() bool { return entry(t, c, job).state == "RUNNING" })
	// Slurm does not always report that this comes too late.
	err = c.Control(t.Context(), external.Hold, []string{job})
	if refused, ok := errors.AsType[*external.RefusedError](err); err != nil && (!ok || !refused.Gone) {
		t.Errorf("hold of a running job: %v", err)
	}
	if r := entry(t, c, job); r.state != "RUNNING" || r.nodeList == "" || r.start.IsZero() {
		t.Errorf("while it runs: %+v", r)
	}
	// The state becomes RUNNING before the script starts.
	var out string
	slurmtest.Until(t, "it has written", func() bool {
		out, _ = cluster.Try("cat", file) // it may not exist yet
		return out != ""
	})
	if out != "2" {
		t.Errorf("output in a file with percent signs: %q", out)
	}
	if err := c.Control(t.Context(), external.Cancel, []string{job}); err != nil {
		t.Fatal(err)
	}
	slurmtest.Until(t, "it is gone", func() bool { return entry(t, c, job).id == "" })
	ended, err := c.Lookup(t.Context(), []string{job, "77"}, nil)
	if err != nil || len(ended) != 1 || ended[0].State != "CANCELLED" || !ended[0].Over() {
		t.Errorf("%+v, %v", ended, err)
	}
	if ended, err := c.Lookup(t.Context(), []string{"77"}, nil); err != nil || len(ended) != 0 {
		t.Errorf("of an unknown job: %+v, %v", ended, err)
	}
	if err := c.Control(t.Context(), external.Cancel, []string{"77"}); err != nil {
		t.Errorf("cancel of an unknown job: %v", err)
	}
}

func TestSubmitRefusesJobsThatCannotRun(t *testing.T) {
	c := connect(slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 1})[0])
	for name, bad := range map[string]struct {
		width     int32
		partition string
		options   []string
	}{
		"too wide":     {width: 9},
		"no partition": {width: 1, partition: "nope"},
		"bad option":   {width: 1, options: []string{"--no-such-option"}},
	} {
		sub := external.Submission{
			Script: external.Script{Text: []byte("#!/bin/sh\n"), Extra: bad.options},
			Name:   "x", Width: bad.width, Limit: batch.Minute,
		}
		_, err := New(Config{Conf: c.cfg.Conf, Partition: bad.partition}).Submit(t.Context(), &sub)
		var refused *external.RefusedError
		if !errors.As(err, &refused) || refused.Again || maybeDone(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.accounted(t.Context(), nil, []string{"x"}); err == nil || isUnreachable(err) {
		t.Errorf("missing accounting: %v", err)
	}
}

func TestAStoppedControllerIsUnreachable(t *testing.T) {
	cluster := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 1})[0]
	c := connect(cluster)
	c.cfg.Timeout = 500 * time.Millisecond
	cluster.Stop(t)
	began := time.Now()
	_, err := c.queue(t.Context())
	if !isUnreachable(err) || time.Since(began) > 5*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	script := external.Script{Text: []byte("#!/bin/sh\n")}
	_, err = c.Submit(t.Context(), &external.Submission{Script: script, Name: "x", Width: 1, Limit: batch.Minute})
	if !isUnreachable(err) {
		t.Errorf("submission: %v", err)
	}
	cluster.StartController(t)
	cluster.Await(t)
	if rows, err := c.queue(t.Context()); err != nil || len(rows) != 0 {
		t.Errorf("after a restart: %v, %v", rows, err)
	}
	none := New(Config{Dir: "/nonexistent"})
	if _, err := none.queue(t.Context()); !isUnreachable(err) || maybeDone(err) {
		t.Errorf("without programs: %v", err)
	}
}

func TestSettingsPartitionsAndNodesOfARealCluster(t *testing.T) {
	cluster := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 2, CPUs: 2, Partitions: []string{
		"PartitionName=debug Nodes=an1 MaxTime=30 State=UP",
		"PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP",
	}})[0]
	c := connect(cluster)
	s, err := c.settings(t.Context())
	if err != nil || s.cluster != "a" || s.jobCompFile != cluster.JobComp() || s.version.before(oldest) {
		t.Errorf("%+v, %v", s, err)
	}
	parts, err := c.partitions(t.Context())
	if err != nil || len(parts) != 2 || parts[0].name != "main" || parts[1].maxTime != 30*batch.Minute ||
		parts[1].processors != 2 {
		t.Errorf("%+v, %v", parts, err)
	}
	for partition, width := range map[string]int32{"debug": 2, "main": 4, "": 4} {
		m, err := New(Config{Conf: cluster.Conf(), Partition: partition}).Nodes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if w := m.Platform().Width(); w != width || !m.Partitions["debug"] || !m.Partitions["main"] {
			t.Errorf("%s: %d processors, want %d; %v", partition, w, width, m.Partitions)
		}
	}
}

func TestDescribeChecksTheClusterAndTheConfiguration(t *testing.T) {
	cluster := slurmtest.Start(t, slurmtest.Config{
		Name: "a", Nodes: 2, MinJobAge: 2, Lines: []string{"EnforcePartLimits=NO"},
	})[0]
	cfg := Config{Conf: cluster.Conf(), Interval: external.DefaultInterval}
	r, err := New(cfg).Describe(t.Context())
	if err != nil || r.Facts["partition"] != "main" || r.Platform.Width() != 2 || r.Usable != 2 ||
		len(r.Warnings) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	for what, change := range map[string]func(*Config){
		"unknown partition": func(c *Config) { c.Partition = "nope" },
		"unknown option":    func(c *Config) { c.Extra = []string{"--no-such-option"} },
	} {
		c := cfg
		change(&c)
		if _, err := New(c).Describe(t.Context()); err == nil || isUnreachable(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	cfg.Conf = filepath.Join(t.TempDir(), "slurm.conf")
	if _, err := New(cfg).Describe(t.Context()); !isUnreachable(err) || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("missing slurm.conf: %v", err)
	}
}
