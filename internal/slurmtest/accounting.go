package slurmtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/slurmd"
)

// Accounting is a running slurmdbd with its database.
type Accounting struct{ *slurmd.Accounting }

// StartAccounted is Start with a slurmdbd that all clusters share. It skips the test on
// machines without slurmdbd.
func StartAccounted(t testing.TB, configs ...Config) (*Accounting, []*Cluster) {
	t.Helper()
	h := open(t, slurmd.AccountingPrograms...)
	if err := h.Account(t.Context()); err != nil {
		t.Fatal(err)
	}
	a := &Accounting{h.Accounting()}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("accounting, the end of its log:\n%s", a.Log())
		}
	})
	return a, start(t, h, configs)
}

// Run runs a Slurm command for slurmdbd and returns its trimmed output. The test fails if
// the command does.
func (a *Accounting) Run(t testing.TB, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	out, err := a.Try(ctx, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// cgroups is where Slurm expects version 1 of the kernel's control groups.
const cgroups = "/sys/fs/cgroup"

// LimitMemory makes a cluster kill jobs that exceed their memory, with control groups of
// version 1. If the machine has none, why says so and limited is cfg. The cluster gets a
// unique name, because the machine's clusters share the control groups.
func LimitMemory(t testing.TB, cfg Config) (limited Config, why string) {
	t.Helper()
	for _, controller := range []string{"memory", "freezer"} {
		probe := filepath.Join(cgroups, controller, fmt.Sprintf("slurmtest%d", os.Getpid()))
		if err := os.Mkdir(probe, 0o755); err != nil {
			return cfg, "no cgroup of version 1 can be made: " + err.Error()
		}
		_, err := os.Stat(filepath.Join(probe, "cgroup.procs"))
		if e := os.Remove(probe); e != nil {
			t.Fatal(e)
		}
		if err != nil {
			return cfg, "no cgroups of version 1: " + err.Error()
		}
	}
	cfg.Name = fmt.Sprintf("%s%d", cfg.Name, os.Getpid())
	cfg.Cgroups = "CgroupPlugin=cgroup/v1\nCgroupMountpoint=" + cgroups +
		"\nConstrainRAMSpace=yes\nConstrainSwapSpace=yes\nMinRAMSpace=10\n"
	cfg.Lines = append(slices.Clone(cfg.Lines), "TaskPlugin=task/cgroup", "ProctrackType=proctrack/cgroup",
		"SelectTypeParameters=CR_CPU_Memory", "DefMemPerCPU=100")
	t.Cleanup(func() {
		for i := range cfg.Nodes {
			removeGroups(t, fmt.Sprintf("slurm_%sn%d", cfg.Name, i+1))
		}
	})
	return cfg, ""
}

// removeGroups removes the control groups that a node left.
func removeGroups(t testing.TB, node string) {
	t.Helper()
	tops, err := filepath.Glob(filepath.Join(cgroups, "*", node))
	if err != nil {
		t.Fatal(err)
	}
	for _, top := range tops {
		var dirs []string
		err := filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				dirs = append(dirs, path)
			}
			return err
		})
		for _, dir := range slices.Backward(dirs) {
			// It can still contain a process that was just killed.
			Until(t, "cgroup "+dir+" is removed", func() bool { return os.Remove(dir) == nil })
		}
		if err != nil {
			t.Errorf("cgroups of node %s: %v", node, err)
		}
	}
}
