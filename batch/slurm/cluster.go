package slurm

import (
	"context"
	"fmt"
	"strings"
)

// cluster is the machine behind a partition.
type cluster struct {
	nodes []NodeRow
	// parts are the partitions that share nodes with it, itself too: whose jobs are in
	// the way.
	parts map[string]bool
}

// cluster asks for the nodes of all partitions, with one command.
func (c *Commands) cluster(ctx context.Context, partition string) (*cluster, error) {
	mark := token()
	out, err := c.run(ctx, nil, "sinfo", "--noheader", "--Node", "--all",
		"--format="+mark+strings.Join([]string{"%N", "%c", "%m", "%t", "%P"}, mark))
	if err != nil {
		return nil, fmt.Errorf("nodes: %w", err)
	}
	return parseCluster(out, mark, partition)
}

// parseCluster reads lines of a node and a partition each. The default partition
// has an asterisk.
func parseCluster(out, mark, partition string) (*cluster, error) {
	records, err := split("sinfo", out, mark, 5)
	if err != nil {
		return nil, err
	}
	m := &cluster{parts: make(map[string]bool)}
	ours := make(map[string]bool)
	for _, f := range records {
		name, isDefault := strings.CutSuffix(f[4], "*")
		if name != partition && (partition != "" || !isDefault) {
			continue
		}
		m.parts[name] = true
		if ours[f[0]] {
			continue
		}
		ours[f[0]] = true
		n, err := parseNode(f)
		if err != nil {
			return nil, err
		}
		m.nodes = append(m.nodes, n)
	}
	if len(m.nodes) == 0 {
		return nil, &FormatError{Source: "sinfo", Field: "nodes of partition", Value: partition}
	}
	for _, f := range records {
		if ours[f[0]] {
			m.parts[strings.TrimSuffix(f[4], "*")] = true
		}
	}
	return m, nil
}

// concerns says whether a job of these partitions, a list, may be in the way.
func (v *view) concerns(partitions string) bool {
	for p := range strings.SplitSeq(partitions, ",") {
		if v.parts[p] {
			return true
		}
	}
	return false
}
