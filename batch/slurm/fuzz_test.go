package slurm

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch/external"
)

// Part of the parsers' input comes from other users' jobs.

func FuzzQueue(f *testing.F) {
	f.Add(read(f, "squeue-22.05.txt"))
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := parseQueue(text, "~m~")
		if err != nil {
			return
		}
		for _, r := range rows {
			if r.id == "" || r.processors < 0 || r.nodes < 0 || r.limit < 0 || r.used < 0 || r.tasks < 1 ||
				r.tasks > maxTasks {
				t.Fatalf("%+v", r)
			}
			j := r.job()
			external.Identify("site", j.Name, j.Comment)
		}
	})
}

func FuzzDetails(f *testing.F) {
	f.Add(read(f, "squeue-ended-22.05.txt"))
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parseDetails(text, "~m~")
		for _, e := range all {
			if err != nil || e.ID == "" || e.State == "" || e.Code < 0 || e.Code > 255 {
				t.Fatalf("%+v, %v", e, err)
			}
		}
	})
}

func FuzzAccounting(f *testing.F) {
	f.Add(read(f, "sacct-documented.txt"))
	f.Add(read(f, "jobcomp-22.05.txt"))
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = parseAccounted(text, "~m~")
		parseCompleted(text)
	})
}

func FuzzCluster(f *testing.F) {
	f.Add(read(f, "config-22.05.txt"))
	f.Add(read(f, "partition-22.05.txt"))
	f.Add(read(f, "sinfo-22.05.txt"))
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = parseSettings(text)
		parts, _ := parsePartitions(text)
		for _, p := range parts {
			if p.processors < 0 || p.maxNodes < 0 || p.maxTime < 0 {
				t.Fatalf("%+v", p)
			}
		}
		if m, err := parseNodes(text, "~m~", "main"); err == nil {
			for _, n := range m.List {
				if n.Processors < 0 || n.Memory < 0 {
					t.Fatalf("%+v", n)
				}
			}
		}
		if len(expand(text)) > maxHosts {
			t.Fatal("too many nodes")
		}
	})
}
