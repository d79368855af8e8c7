package dfrs

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/pack"
)

// measured applies the measured needs of a group. Memory counts at once. A CPU need of a
// job with shares counts when shares are next computed, so that bookings match what the
// driver was told.
func (p *Policy) measured(now batch.Time, ev *batch.Event) {
	j := p.known(ev.Job)
	if int(ev.Group) >= len(j.groups) || ev.Group < 0 || ev.CPU < 1 || ev.CPU > batch.One || ev.Memory < 0 {
		panic(fmt.Sprintf("dfrs: job %d: %d and %d bytes measured of group %d", ev.Job, ev.CPU, ev.Memory, ev.Group))
	}
	if p.set.declared {
		return
	}
	j.gauged = true
	if ev.Memory > 0 && p.machine.Memory > 0 {
		p.remember(now, j, ev.Group, ev.Memory)
	}
	if j.wanted == nil {
		if j.groups[ev.Group].CPU == ev.CPU {
			return
		}
		for i := range j.groups {
			j.wanted = append(j.wanted, j.groups[i].CPU)
		}
		p.learned = append(p.learned, ev.Job)
	} else {
		j.wanted = slices.Clone(j.wanted) // copies share it
	}
	if j.wanted[ev.Group] = ev.CPU; !j.running && len(j.gone) == 0 {
		p.takeIn(j)
	}
}

// remember changes the booked memory of a group's tasks on all their nodes. Where a node
// is exceeded, jobs lose their targets.
func (p *Policy) remember(now batch.Time, j *job, group int32, memory int64) {
	memory = p.most(j, group, memory)
	was := j.groups[group].Memory
	if memory == was {
		return
	}
	p.book(j, -1)
	j.groups = slices.Clone(j.groups) // copies share it
	j.groups[group].Memory, j.barred = memory, 0
	p.book(j, 1)
	if memory < was {
		p.freed = true
		p.machines++
		return
	}
	for _, places := range [][]place{j.target, j.home} {
		for _, at := range slices.Clone(places) {
			p.relieve(now, at.Node)
		}
	}
}

// reshape applies another width and keeps measured needs as far as they fit the machine.
func (p *Policy) reshape(j *job, width int32) {
	was := j.groups
	p.describe(j, width)
	if !j.gauged {
		return
	}
	for i := range was {
		j.groups[i].CPU = was[i].CPU
		j.groups[i].Memory = p.most(j, int32(i), was[i].Memory)
	}
}

// most limits measured memory so that the job alone still fits the machine: otherwise it
// could never finish.
func (p *Policy) most(j *job, group int32, memory int64) int64 {
	if len(j.groups) == 1 {
		each := (j.groups[0].Tasks + p.machine.Nodes - 1) / p.machine.Nodes
		return min(memory, p.machine.Memory/int64(each))
	}
	if memory <= j.groups[group].Memory {
		return memory
	}
	all := p.machine
	all.Down = make([]bool, all.Nodes)
	alone := &job{spec: j.spec, groups: slices.Clone(j.groups)}
	if alone.groups[group].Memory = min(memory, all.Memory); newPolicy(all, p.set).possible(alone) {
		return alone.groups[group].Memory
	}
	return j.groups[group].Memory
}

// book books the memory and the load of a job, or frees them with a sign of -1.
func (p *Policy) book(j *job, sign int64) {
	p.occupy(j, sign)
	p.hold(j, j.at, sign)
	p.hold(j, j.gone, sign)
	enter(p.held, j, j.home, sign)
	enter(p.free, j, j.home, -sign)
	if j.home != nil {
		enter(p.left, j, j.home, -sign)
	}
}

// relieve removes targets, of the lowest priorities first, until the rest fits the memory
// of its nodes, as far as that helps.
func (p *Policy) relieve(now batch.Time, node int32) {
	for p.free[node] < 0 {
		last := ranked{job: batch.NoJob}
		for _, h := range p.placed {
			j := &p.jobs[h]
			on := func(at place) bool { return at.Node == node && j.groups[at.Group].Memory > 0 }
			if j.home != nil || !slices.ContainsFunc(j.target, on) {
				continue
			}
			if r := (ranked{j.key(now), j.seq, h}); last.job == batch.NoJob || last.compare(r) < 0 {
				last = r
			}
		}
		if last.job == batch.NoJob {
			return
		}
		p.unplace(now, last.job)
		p.arrives(last.job)
	}
}

// adjust adopts the measured needs of running jobs, if shares are to be computed.
func (p *Policy) adjust(now batch.Time) {
	p.altered = p.altered[:0]
	if len(p.learned) == 0 || p.leavers > 0 && len(p.begun) == 0 {
		return
	}
	kept := p.learned[:0]
	for _, h := range p.learned {
		j := &p.jobs[h]
		switch {
		case j.wanted == nil:
		case len(j.gone) > 0: // what it leaves was booked by its previous needs
			kept = append(kept, h)
		case !j.running:
			p.takeIn(j)
		default:
			p.altered = append(p.altered, had{h, j.at, j.groups, j.yield})
			j.adjusted = true
			p.sweep(j)
			p.takeIn(j)
			p.enterPool(now, h)
		}
	}
	p.learned = kept
}

// takeIn adopts the measured needs of a job.
func (p *Policy) takeIn(j *job) {
	p.occupy(j, -1)
	groups := make([]pack.Group, len(j.groups))
	for i, g := range j.groups {
		g.CPU = j.wanted[i]
		groups[i] = g
	}
	j.groups, j.wanted, j.barred = groups, nil, 0
	p.occupy(j, 1)
}
