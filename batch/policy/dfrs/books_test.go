package dfrs

import (
	"fmt"
	"slices"
)

// Books compares the accounts of the nodes with sums over all jobs.
func (p *Policy) Books() error {
	free := slices.Repeat([]int64{p.machine.Memory}, int(p.machine.Nodes))
	left, held, load := slices.Clone(free), make([]int64, len(free)), make([]int64, len(free))
	homed := 0
	for i := range p.jobs {
		j := &p.jobs[i]
		if j.home != nil {
			homed++
			enter(left, j, j.home, -1)
			enter(free, j, j.home, -1)
			enter(held, j, j.home, 1)
			if j.running && !slices.Equal(j.at, j.home) || j.target != nil && !slices.Equal(j.target, j.home) {
				return fmt.Errorf("job %d is at %v and must be at %v: its home is %v", i, j.at, j.target, j.home)
			}
		} else {
			enter(free, j, j.target, -1)
			enter(held, j, j.at, 1)
			enter(held, j, j.gone, 1)
		}
		for _, at := range j.target {
			load[at.Node] += int64(at.Tasks) * int64(j.groups[at.Group].CPU)
		}
	}
	switch {
	case !slices.Equal(free, p.free) || !slices.Equal(held, p.held) || !slices.Equal(load, p.load):
		return fmt.Errorf("free %v, held %v, load %v; booked are %v, %v, %v", free, held, load, p.free, p.held, p.load)
	case homed != p.homed || p.left != nil && !slices.Equal(left, p.left) || p.left == nil && homed > 0:
		return fmt.Errorf("%d with a home leave %v; booked are %d and %v", homed, left, p.homed, p.left)
	}
	return nil
}
