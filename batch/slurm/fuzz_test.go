package slurm

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

// What parsers are given comes from other people's jobs in part.

func FuzzQueue(f *testing.F) {
	f.Add(read(f, "squeue-22.05.txt"))
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := parseQueue(text, "~m~")
		if err != nil {
			return
		}
		for _, r := range rows {
			if r.ID == "" || r.CPUs < 0 || r.Nodes < 0 || r.Limit < 0 || r.Used < 0 || r.Tasks < 1 || r.Tasks > mostTasks {
				t.Fatalf("%+v", r)
			}
			identify("site", r.Name, r.Comment)
		}
	})
}

func FuzzEnded(f *testing.F) {
	f.Add(read(f, "squeue-ended-22.05.txt"))
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parseEnded(text, "~m~")
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
			if p.CPUs < 0 || p.MaxNodes < 0 || p.MaxTime < 0 {
				t.Fatalf("%+v", p)
			}
		}
		if m, err := parseCluster(text, "~m~", "main"); err == nil {
			for _, n := range m.nodes {
				if n.CPUs < 0 || n.Memory < 0 {
					t.Fatalf("%+v", n)
				}
			}
		}
		if len(expand(text)) > mostHosts {
			t.Fatal("more nodes than there may be")
		}
	})
}

// A comment is read back as it was written, whatever its site and owner are called.
func FuzzIdentity(f *testing.F) {
	f.Add("site", id, uint32(1), uint32(2), "bob")
	f.Fuzz(func(t *testing.T, site, job string, epoch, attempt uint32, owner string) {
		k := batch.Key{Job: batch.JobID(plain(job)), Epoch: epoch, Attempt: attempt}
		if k.Job == "" || plain(site) != site {
			return
		}
		if got, ok := identify(site, Name(k), comment(site, k, owner)); !ok || got != k {
			t.Fatalf("%v, %v", got, ok)
		}
		if got, ok := identify(site, Name(k), ""); !ok || got != k {
			t.Fatalf("by name: %v, %v", got, ok)
		}
	})
}
