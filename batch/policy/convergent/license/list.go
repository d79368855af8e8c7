package license

import "slices"

// Cluster is a set of critical licenses and the jobs that request any of them. Jobs of other
// clusters request none of them.
type Cluster struct {
	Licenses []int32 // ascending
	Jobs     []int64 // orders of submission, ascending
}

// List returns all clusters, ordered by their first license.
func (c *Clusters) List() []Cluster {
	var list []Cluster
	position := make([]int32, len(c.in))
	for l, cluster := range c.of {
		if cluster == none {
			continue
		}
		licenses := c.in[cluster]
		if slices.Min(licenses) == int32(l) {
			position[cluster] = int32(len(list))
			list = append(list, Cluster{Licenses: slices.Sorted(slices.Values(licenses))})
		}
	}
	if len(list) == 0 {
		return nil
	}
	for i, needs := range c.needs {
		for _, n := range needs {
			if cluster := c.of[n.License]; cluster != none {
				in := &list[position[cluster]]
				in.Jobs = append(in.Jobs, c.orders[i])
				break
			}
		}
	}
	return list
}
