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

// accountFor compares what became of each attempt with what the servers have said: an
// attempt that came to nothing and was made again, one that Slurm has had under two
// numbers or has started twice, and a job that it has killed while it ran, is in the log
// with its job's ID.
func (g *slurmGrid) accountFor(ids, killed []string) {
	t := g.t
	reported, said := g.reports(ids)
	demand := func(id, what string) {
		if reported[id] == 0 {
			t.Errorf("job %s: %s, and nobody said so", id, what)
		}
	}
	for _, id := range killed {
		demand(id, "it was lost")
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
				demand(strings.TrimPrefix(name, "drover-")[:36], "under several numbers as "+name)
			}
		}
	}
	t.Logf("attempts made again: %d; started twice: %d; under two numbers: %d; lost while they ran: %d; lines of "+
		"level ERROR: %v",
		again, started, numbered, len(killed), said)
	if t.Failed() {
		g.keepLogs()
	}
}

var serious = regexp.MustCompile(`\[ERROR\] +[^:]+: ([^:]+)`)

// reports counts the serious lines about each job, and those of each kind.
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

// mostAttempts returns how many attempts there were under one epoch. Each was claimed,
// by itself or by the server.
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

// startedTwice says whether a start of an attempt has found an earlier one's claim.
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

// numbers are those that a cluster has given to each of our attempts, by their names.
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
