package slurmtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// cgroups is where Slurm finds the kernel's means to limit memory.
const cgroups = "/sys/fs/cgroup"

// LimitMemory makes a cluster kill jobs that take more memory than they have asked
// for, by version 1 of the kernel's control groups. why says why that cannot be had
// here; cfg is as it was then. Such a cluster has a name of its own: groups are the
// host's.
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
	cfg.Cgroups = "CgroupPlugin=cgroup/v1\nCgroupMountpoint=" + cgroups + "\nConstrainRAMSpace=yes\nConstrainSwapSpace=yes\nMinRAMSpace=10\n"
	cfg.Lines = append(slices.Clone(cfg.Lines), "TaskPlugin=task/cgroup", "ProctrackType=proctrack/cgroup",
		"SelectTypeParameters=CR_CPU_Memory", "DefMemPerCPU=100")
	t.Cleanup(func() {
		for i := range cfg.Nodes {
			removeGroups(t, fmt.Sprintf("slurm_%sn%d", cfg.Name, i+1))
		}
	})
	return cfg, ""
}

// removeGroups removes what a node has left: groups without processes.
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
			// A process that was killed a moment ago may still be in it.
			Until(t, "cgroup "+dir+" is removed", func() bool { return os.Remove(dir) == nil })
		}
		if err != nil {
			t.Errorf("cgroups of node %s: %v", node, err)
		}
	}
}
