package slurm

import (
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// NodeRow is a node of a partition.
type NodeRow struct {
	Name   string
	CPUs   int32
	Memory int64  // bytes
	State  string // idle, alloc, mix, down, drain, …, without what is marked behind it
	Usable bool   // jobs run on it, or may
}

// parseNode reads a name, processors, megabytes and a state.
func parseNode(f []string) (NodeRow, error) {
	n := NodeRow{Name: f[0], State: strings.TrimRight(f[3], "*~#!%$@^+-")}
	cpus, okC := parseCount(strings.TrimSuffix(f[1], "+"))
	megabytes, okM := parseNumber(strings.TrimSuffix(f[2], "+"))
	if !okC || !okM || n.Name == "" || megabytes > 1<<40 {
		return NodeRow{}, &FormatError{Source: "sinfo", Field: "node", Value: strings.Join(f, " ")}
	}
	n.CPUs, n.Memory = cpus, megabytes<<20
	switch n.State {
	case "idle", "alloc", "mix", "comp", "allocated", "mixed", "completing", "resv", "plnd", "planned", "reserved":
		n.Usable = !strings.HasSuffix(f[3], "*") // else it does not answer
	}
	return n, nil
}

// platform is the machine that nodes make, in the words of planners: those that
// may be used now.
func platform(nodes []NodeRow) batch.Platform {
	var p batch.Platform
	for i := range nodes {
		if n := &nodes[i]; n.Usable && n.CPUs > 0 {
			p.Nodes = append(p.Nodes, batch.Node{Name: n.Name, Processors: n.CPUs, Memory: n.Memory})
		}
	}
	return p
}
