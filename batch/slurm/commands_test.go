package slurm

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
)

func commands(c *slurmtest.Cluster) *Commands { return &Commands{Conf: c.Conf()} }

// row returns the line of a queue about a job, an empty one if there is none.
func row(t *testing.T, c *Commands, id string) Row {
	t.Helper()
	rows, err := c.Queue(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.ID == id {
			return r
		}
	}
	return Row{}
}

func TestAJobIsSubmittedHeldReleasedAndCancelled(t *testing.T) {
	cluster := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 3})[0]
	c := commands(cluster)
	key := batch.Key{Job: id, Epoch: 1, Attempt: 1}
	file := t.TempDir() + "/100%j %x"
	sub := &Submission{
		Script: []byte("#!/bin/sh\n#SBATCH --ntasks=99 --mail-type=NONE\necho $SLURM_NTASKS\nsleep 100\n"), Name: Name(key), Comment: comment("a", key, "bob"),
		Width: 2, Limit: 61 * batch.Second, Dir: t.TempDir(), Stdout: file, Held: true,
	}
	job, err := c.Submit(t.Context(), sub)
	if err != nil {
		t.Fatal(err)
	}
	r := row(t, c, job)
	if k, ok := identify("a", r.Name, r.Comment); !ok || k != key || r.Limit != 2*batch.Minute || r.State != "PENDING" || r.CPUs != 2 {
		t.Errorf("%+v", r)
	}
	if err := c.Release(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	slurmtest.Until(t, "it runs", func() bool { return row(t, c, job).State == "RUNNING" })
	// Nobody says that this comes too late.
	if err := c.Hold(t.Context(), job); err != nil && !goneFrom(err) {
		t.Errorf("hold of one that runs: %v", err)
	}
	if r := row(t, c, job); r.State != "RUNNING" || r.NodeList == "" || r.Start.IsZero() {
		t.Errorf("while it runs: %+v", r)
	}
	// Slurm says RUNNING before the script has begun.
	var out string
	slurmtest.Until(t, "it has written", func() bool { out = cluster.Run(t, "cat", file); return out != "" })
	if out != "2" {
		t.Errorf("its output in a file with a strange name: %q", out)
	}
	if err := c.Cancel(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	slurmtest.Until(t, "it is gone", func() bool { return row(t, c, job).ID == "" })
	ended, err := c.Jobs(t.Context(), []string{job, "77"})
	if err != nil || len(ended) != 1 || ended[0].State != "CANCELLED" || !ended[0].Over() {
		t.Errorf("%+v, %v", ended, err)
	}
	if ended, err := c.Jobs(t.Context(), []string{"77"}); err != nil || len(ended) != 0 {
		t.Errorf("of one that is not known: %+v, %v", ended, err)
	}
	if err := c.Cancel(t.Context(), "77"); err != nil {
		t.Errorf("cancel of one that is not known: %v", err)
	}
}

func TestWhatCannotRunIsRefusedAtOnce(t *testing.T) {
	c := commands(slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 1})[0])
	for name, sub := range map[string]Submission{
		"too wide":     {Width: 9, Limit: batch.Minute},
		"no partition": {Width: 1, Limit: batch.Minute, Partition: "nope"},
		"bad option":   {Width: 1, Limit: batch.Minute, Extra: []string{"--no-such-option"}},
	} {
		sub.Script, sub.Name = []byte("#!/bin/sh\n"), "x"
		_, err := c.Submit(t.Context(), &sub)
		var refused *RefusedError
		if !errors.As(err, &refused) || refused.Again || maybeDone(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.Accounted(t.Context(), nil, []string{"x"}); err == nil || unreachable(err) {
		t.Errorf("accounting that is not there: %v", err)
	}
}

func TestAControllerThatIsDownIsUnreachable(t *testing.T) {
	cluster := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 1})[0]
	c := commands(cluster)
	c.Timeout = 500 * time.Millisecond
	cluster.Stop(t)
	began := time.Now()
	_, err := c.Queue(t.Context(), "")
	if !unreachable(err) || time.Since(began) > 5*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	if _, err := c.Submit(t.Context(), &Submission{Script: []byte("#!/bin/sh\n"), Name: "x", Width: 1, Limit: batch.Minute}); !unreachable(err) {
		t.Errorf("submission: %v", err)
	}
	cluster.StartController(t)
	cluster.Await(t)
	if rows, err := c.Queue(t.Context(), ""); err != nil || len(rows) != 0 {
		t.Errorf("after its return: %v, %v", rows, err)
	}
	none := &Commands{Dir: "/nonexistent"}
	if _, err := none.Queue(t.Context(), ""); !unreachable(err) || maybeDone(err) {
		t.Errorf("without programs: %v", err)
	}
}

func TestTheClusterSaysWhatItIs(t *testing.T) {
	cluster := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 2, CPUs: 2, Partitions: []string{
		"PartitionName=debug Nodes=an1 MaxTime=30 State=UP",
		"PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP",
	}})[0]
	c := commands(cluster)
	s, err := c.Settings(t.Context())
	if err != nil || s.Cluster != "a" || s.JobCompLoc != cluster.JobComp() || s.Version.Before(Oldest) {
		t.Errorf("%+v, %v", s, err)
	}
	parts, err := c.Partitions(t.Context())
	if err != nil || len(parts) != 2 || parts[0].Name != "main" || parts[1].MaxTime != 30*batch.Minute || parts[1].CPUs != 2 {
		t.Errorf("%+v, %v", parts, err)
	}
	for partition, width := range map[string]int32{"debug": 2, "main": 4, "": 4} {
		m, err := c.cluster(t.Context(), partition)
		if err != nil {
			t.Fatal(err)
		}
		if w := platform(m.nodes).Width(); w != width || !m.parts["debug"] || !m.parts["main"] {
			t.Errorf("%s: %d processors, want %d; %v", partition, w, width, m.parts)
		}
	}
}

func TestAClusterIsInspectedBeforeItIsUsed(t *testing.T) {
	cluster := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 2, MinJobAge: 2, Lines: []string{"EnforcePartLimits=NO"}})[0]
	cfg := Config{Commands: Commands{Conf: cluster.Conf()}}
	cfg.setDefaults()
	r, err := Inspect(t.Context(), &cfg)
	if err != nil || r.Partition.Name != "main" || r.Platform.Width() != 2 || r.Usable != 2 || len(r.Warnings) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	for what, change := range map[string]func(*Config){
		"a partition that is not there": func(c *Config) { c.Partition = "nope" },
		"an option that is none":        func(c *Config) { c.Extra = []string{"--no-such-option"} },
	} {
		c := cfg
		change(&c)
		if _, err := Inspect(t.Context(), &c); err == nil || unreachable(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	cfg.Commands.Conf = filepath.Join(t.TempDir(), "slurm.conf")
	if _, err := Inspect(t.Context(), &cfg); !unreachable(err) || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a slurm.conf that is not there: %v", err)
	}
}
