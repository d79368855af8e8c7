package slurm

import (
	"context"
	"fmt"
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

// Nodes asks for the nodes of a partition, with one command.
func (c *Commands) Nodes(ctx context.Context, partition string) ([]NodeRow, error) {
	mark := token()
	args := []string{"sinfo", "--noheader", "--Node", "--format=" + mark + strings.Join([]string{"%N", "%c", "%m", "%t"}, mark)}
	if partition != "" {
		args = append(args, "--partition="+partition)
	}
	out, _, err := c.run(ctx, nil, args...)
	if err != nil {
		return nil, fmt.Errorf("nodes: %w", err)
	}
	return parseNodes(out, mark)
}

func parseNodes(out, mark string) ([]NodeRow, error) {
	records, err := split("sinfo", out, mark, 4)
	if err != nil {
		return nil, err
	}
	var all []NodeRow
	seen := make(map[string]bool) // a node of several partitions has several lines
	for _, f := range records {
		if seen[f[0]] {
			continue
		}
		seen[f[0]] = true
		n := NodeRow{Name: f[0], State: strings.TrimRight(f[3], "*~#!%$@^+-")}
		cpus, okC := parseCount(strings.TrimSuffix(f[1], "+"))
		megabytes, okM := parseNumber(strings.TrimSuffix(f[2], "+"))
		if !okC || !okM || n.Name == "" || megabytes > 1<<40 {
			return nil, &FormatError{Source: "sinfo", Field: "node", Value: strings.Join(f, " ")}
		}
		n.CPUs, n.Memory = cpus, megabytes<<20
		silent := strings.HasSuffix(f[3], "*") // it does not answer
		switch n.State {
		case "idle", "alloc", "mix", "comp", "allocated", "mixed", "completing", "resv", "plnd", "planned", "reserved":
			n.Usable = !silent
		}
		all = append(all, n)
	}
	return all, nil
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
