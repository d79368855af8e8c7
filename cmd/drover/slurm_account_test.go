package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// accountFor requires an ERROR line with the job's ID for each irregular attempt: an attempt that
// never ran and was repeated, one with two Slurm job numbers or two starts, and one that Slurm
// killed while it ran.
func (g *slurmGrid) accountFor(ids, killed []string) {
	t := g.t
	reported, said := g.reports(ids)
	demand := func(id, what string) {
		if reported[id] == 0 {
			t.Errorf("job %s: %s, but no server logged it", id, what)
		}
	}
	for _, id := range killed {
		demand(id, "lost while it ran")
	}
	again, numbered, started := 0, 0, 0
	for i := range g.clusters {
		for _, id := range ids {
			dir := filepath.Join(g.servers[i].dir, "jobs", id, "attempts")
			if n := mostAttempts(dir); n > 1 {
				again++
				demand(id, "several attempts at "+g.servers[i].name)
			}
			if startedTwice(dir) {
				started++
				demand(id, "started twice at "+g.servers[i].name)
			}
		}
		numbers := g.numbers(i)
		for _, name := range slices.Sorted(maps.Keys(numbers)) {
			if len(numbers[name]) > 1 {
				numbered++
				demand(strings.TrimPrefix(name, "drover-")[:36], "several Slurm numbers for "+name)
			}
		}
	}
	t.Logf("repeated attempts: %d; started twice: %d; two Slurm numbers: %d; lost while running: %d; lines of "+
		"level ERROR: %v",
		again, started, numbered, len(killed), said)
	if t.Failed() {
		g.keepLogs()
	}
}

var serious = regexp.MustCompile(`\[ERROR\] +[^:]+: ([^:]+)`)

// reports counts the ERROR lines about each job, and those with each message.
func (g *slurmGrid) reports(ids []string) (reported, said map[string]int) {
	reported, said = make(map[string]int), make(map[string]int)
	for _, v := range g.servers {
		text, err := os.ReadFile(v.log.Name())
		if err != nil {
			g.t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			found := serious.FindSubmatch(line)
			if found == nil {
				continue
			}
			said[string(found[1])]++
			for _, id := range ids {
				if bytes.Contains(line, []byte(id)) {
					reported[id]++
				}
			}
		}
	}
	return reported, said
}

// mostAttempts returns the largest number of claimed attempts under one epoch.
func mostAttempts(dir string) int {
	claims, _ := filepath.Glob(filepath.Join(dir, "[0-9]*-*"))
	byEpoch, most := make(map[string]int), 0
	for _, c := range claims {
		epoch, _, _ := strings.Cut(filepath.Base(c), "-")
		byEpoch[epoch]++
		most = max(most, byEpoch[epoch])
	}
	return most
}

// startedTwice reports whether a start of an attempt found the claim of an earlier start.
func startedTwice(dir string) bool {
	logs, _ := filepath.Glob(filepath.Join(dir, "..", "slurm-*.log"))
	for _, l := range logs {
		if text, err := os.ReadFile(l); err == nil &&
			bytes.Contains(text, []byte("claimed before, by the supervisor")) {
			return true
		}
	}
	return false
}

// numbers returns the Slurm job numbers of each attempt, by the name of the attempt.
func (g *slurmGrid) numbers(cluster int) map[string]map[string]bool {
	numbers := make(map[string]map[string]bool)
	text, err := os.ReadFile(g.clusters[cluster].JobComp())
	if err != nil {
		g.t.Error(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := make(map[string]string)
		for f := range strings.FieldsSeq(line) {
			key, value, _ := strings.Cut(f, "=")
			fields[key] = value
		}
		if name := fields["Name"]; strings.HasPrefix(name, "drover-") {
			if numbers[name] == nil {
				numbers[name] = make(map[string]bool)
			}
			numbers[name][fields["JobId"]] = true
		}
	}
	return numbers
}
