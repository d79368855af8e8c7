package licence

import "slices"

// Cluster is a set of critical licences and the jobs that ask for any of them. No job
// of another cluster does.
type Cluster struct {
	Licences []int32 // rising
	Jobs     []int64 // by their order of submission, rising
}

// List returns all clusters, by their first licence.
func (c *Clusters) List() []Cluster {
	var list []Cluster
	position := make([]int32, len(c.in))
	for l, cluster := range c.of {
		if cluster == none {
			continue
		}
		licences := c.in[cluster]
		if slices.Min(licences) == int32(l) {
			position[cluster] = int32(len(list))
			list = append(list, Cluster{Licences: slices.Sorted(slices.Values(licences))})
		}
	}
	if len(list) == 0 {
		return nil
	}
	for i, needs := range c.needs {
		for _, n := range needs {
			if cluster := c.of[n.Licence]; cluster != none {
				in := &list[position[cluster]]
				in.Jobs = append(in.Jobs, c.orders[i])
				break
			}
		}
	}
	return list
}
