package license

import "slices"

// Clusters tracks which jobs request which license, which licenses are critical, and the
// clusters that they form. A change costs only local work: it visits the licenses of one job,
// and the clusters that may split.
type Clusters struct {
	copies []int64
	demand []int64
	// links counts, for each pair of licenses, the jobs that request both.
	links []int32
	of    []int32   // the cluster of each license, none if it is not critical
	in    [][]int32 // the licenses of each cluster, unordered; empty: not in use
	spare []int32   // clusters that are not in use

	orders []int64  // of the jobs, ascending
	needs  [][]Need // of the same jobs
}

const none int32 = -1

// New returns clusters without jobs for the given number of copies of each license.
func New(copies []int64) *Clusters {
	n := len(copies)
	return &Clusters{
		copies: slices.Clone(copies),
		demand: make([]int64, n),
		links:  make([]int32, n*n),
		of:     slices.Repeat([]int32{none}, n),
	}
}

// Clone returns an independent copy.
func (c *Clusters) Clone() *Clusters {
	d := &Clusters{
		copies: slices.Clone(c.copies), demand: slices.Clone(c.demand), links: slices.Clone(c.links),
		of: slices.Clone(c.of), in: slices.Clone(c.in), spare: slices.Clone(c.spare),
		orders: slices.Clone(c.orders), needs: slices.Clone(c.needs),
	}
	for i := range d.in {
		d.in[i] = slices.Clone(d.in[i])
	}
	return d
}

// Copies returns the number of copies of a license: the offer.
func (c *Clusters) Copies(license int32) int64 { return c.copies[license] }

// Demand returns the number of copies that all jobs request. If each job requests one, as in
// the paper, it is the number of jobs.
func (c *Clusters) Demand(license int32) int64 { return c.demand[license] }

// Critical reports whether jobs request more copies than exist.
func (c *Clusters) Critical(license int32) bool { return c.demand[license] > c.copies[license] }

// Jobs returns the number of jobs.
func (c *Clusters) Jobs() int { return len(c.orders) }

// Add adds a job by its order of submission, which must be unique. It requests each license at
// most once; Clusters keeps the slice of needs, which must not change. Leave out a job that
// requests more copies than exist: it can never run and would only make a license critical for
// other jobs.
func (c *Clusters) Add(order int64, needs []Need) {
	at, _ := slices.BinarySearch(c.orders, order)
	c.orders = slices.Insert(c.orders, at, order)
	c.needs = slices.Insert(c.needs, at, needs)
	for i, n := range needs {
		c.demand[n.License] += int64(n.Copies)
		for _, m := range needs[:i] {
			c.link(n.License, m.License, 1)
		}
	}
	first := none
	for _, n := range needs {
		if c.review(n.License) && c.of[n.License] != none {
			if first != none {
				c.merge(c.of[first], c.of[n.License])
			}
			first = n.License
		}
	}
}

// Remove removes a job. It does nothing if there is no such job.
func (c *Clusters) Remove(order int64) {
	at, found := slices.BinarySearch(c.orders, order)
	if !found {
		return
	}
	needs := c.needs[at]
	c.orders = slices.Delete(c.orders, at, at+1)
	c.needs = slices.Delete(c.needs, at, at+1)
	for i, n := range needs {
		c.demand[n.License] -= int64(n.Copies)
		for _, m := range needs[:i] {
			c.link(n.License, m.License, -1)
		}
	}
	for _, n := range needs {
		c.review(n.License)
	}
	for i, n := range needs {
		for _, m := range needs[:i] {
			cluster := c.of[n.License]
			if cluster != none && cluster == c.of[m.License] && c.linked(n.License, m.License) == 0 {
				c.split(cluster)
			}
		}
	}
}

// SetCopies changes the number of copies of a license.
func (c *Clusters) SetCopies(license int32, copies int64) {
	c.copies[license] = copies
	c.review(license)
}

func (c *Clusters) linked(a, b int32) int32 { return c.links[int(a)*len(c.of)+int(b)] }

func (c *Clusters) link(a, b, by int32) {
	c.links[int(a)*len(c.of)+int(b)] += by
	c.links[int(b)*len(c.of)+int(a)] += by
}

// review adds a license to the clusters or removes it if its criticality has changed. It
// reports whether the license is critical.
func (c *Clusters) review(license int32) bool {
	critical := c.Critical(license)
	switch was := c.of[license]; {
	case critical && was == none:
		c.found([]int32{license})
		for other := range int32(len(c.of)) {
			if c.of[other] != none && c.linked(license, other) > 0 {
				c.merge(c.of[license], c.of[other])
			}
		}
	case !critical && was != none:
		c.of[license] = none
		at := slices.Index(c.in[was], license)
		c.in[was] = slices.Delete(c.in[was], at, at+1)
		c.split(was)
	}
	return critical
}

// found creates a cluster of licenses.
func (c *Clusters) found(licenses []int32) {
	cluster := int32(len(c.in))
	if n := len(c.spare); n > 0 {
		cluster, c.spare = c.spare[n-1], c.spare[:n-1]
	} else {
		c.in = append(c.in, nil)
	}
	c.in[cluster] = append(c.in[cluster], licenses...)
	for _, l := range licenses {
		c.of[l] = cluster
	}
}

// merge merges two clusters; it moves the smaller one.
func (c *Clusters) merge(a, b int32) {
	if a == b {
		return
	}
	if len(c.in[a]) < len(c.in[b]) {
		a, b = b, a
	}
	for _, l := range c.in[b] {
		c.of[l] = a
	}
	c.in[a] = append(c.in[a], c.in[b]...)
	c.dissolve(b)
}

// split replaces a cluster by its connected parts.
func (c *Clusters) split(cluster int32) {
	left := slices.Clone(c.in[cluster])
	c.dissolve(cluster)
	for len(left) > 0 {
		part := []int32{left[0]}
		left = left[1:]
		for k := 0; k < len(part); k++ {
			rest := left[:0]
			for _, l := range left {
				if c.linked(part[k], l) > 0 {
					part = append(part, l)
				} else {
					rest = append(rest, l)
				}
			}
			left = rest
		}
		c.found(part)
	}
}

func (c *Clusters) dissolve(cluster int32) {
	c.in[cluster] = c.in[cluster][:0]
	c.spare = append(c.spare, cluster)
}

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
