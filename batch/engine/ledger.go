package engine

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Ledger checks a policy's decisions against the machine: processors, memory
// and shares of every node, licenses, earliest starts. It checks all running
// jobs after every pass, for tests and for runs that have to be proven correct.
type Ledger struct {
	platform batch.Platform
	total    int32
	held     map[batch.Handle]holding
	over     []int64 // memory of each node that was measured to be taken, if that is more than it has
}

type holding struct {
	spec   *batch.Job
	places []batch.NodeAllocation
	paused bool
	memory []int64 // that was measured, of each group; nil: as in spec
}

// NewLedger returns a ledger of an idle machine.
func NewLedger(p batch.Platform) *Ledger {
	return &Ledger{platform: p, total: p.Width(), held: map[batch.Handle]holding{}, over: make([]int64, len(p.Nodes))}
}

func (l *Ledger) note(now batch.Time, spec *batch.Job, d *batch.Decision) {
	if d.Kind == batch.Start && spec.EarliestStart > now {
		panic(fmt.Sprintf("ledger: job %d starts at %d, before %d", spec.Handle, now, spec.EarliestStart))
	}
	before := l.held[spec.Handle]
	h := holding{spec: spec, places: append([]batch.NodeAllocation(nil), d.Allocation...), memory: before.memory}
	if spec.Resident && before.places != nil && d.Kind != batch.Kill {
		before.stay(now, d)
		if h.paused = d.Kind == batch.Pause; h.paused {
			h.places = before.places
		}
	}
	if d.Kind == batch.Pause {
		h.paused = true
	}
	l.held[spec.Handle] = h
}

// adopt books a job that the policy has adopted.
func (l *Ledger) adopt(spec *batch.Job, places []batch.NodeAllocation) {
	l.held[spec.Handle] = holding{spec: spec, places: append([]batch.NodeAllocation(nil), places...)}
}

func (l *Ledger) leave(h batch.Handle) { delete(l.held, h) }

func (l *Ledger) floating(name string) bool {
	return slices.ContainsFunc(l.platform.Licenses, func(p batch.LicensePool) bool { return p.Name == name })
}

// check panics if what runs does not fit the machine.
func (l *Ledger) check(now batch.Time) {
	width := int64(0)
	shares, memory := make([]int64, len(l.platform.Nodes)), l.memory()
	licenses := map[string]int64{}
	for _, h := range l.held {
		if h.paused {
			continue // its memory is counted below
		}
		for _, lic := range h.spec.Licenses {
			licenses[lic.Name] += int64(lic.Copies)
		}
		if len(h.places) == 0 {
			width += int64(h.spec.Shape.Width)
			continue
		}
		for _, p := range h.places {
			for _, lic := range h.spec.Licenses {
				if !l.floating(lic.Name) && !slices.Contains(l.platform.Nodes[p.Node].Licenses, lic.Name) {
					panic(fmt.Sprintf("ledger: at %d job %d is on node %d, which cannot run %s", now, h.spec.Handle,
						p.Node, lic.Name))
				}
			}
			shares[p.Node] += int64(p.Share) * int64(p.Processors)
		}
	}
	if width > int64(l.total) {
		panic(fmt.Sprintf("ledger: at %d %d of %d processors are taken", now, width, l.total))
	}
	for i := range l.platform.Nodes {
		spec := &l.platform.Nodes[i]
		if shares[i] > int64(spec.Processors)*int64(batch.One) {
			panic(fmt.Sprintf("ledger: at %d node %d gives %d shares of %d processors", now, i, shares[i],
				spec.Processors))
		}
		l.over[i] = min(l.over[i], memory[i])
		if spec.Memory > 0 && memory[i] > max(spec.Memory, l.over[i]) {
			panic(fmt.Sprintf("ledger: at %d node %d has %d bytes taken of %d", now, i, memory[i], spec.Memory))
		}
	}
	for _, pool := range l.platform.Licenses {
		if licenses[pool.Name] > int64(pool.Copies) {
			panic(fmt.Sprintf("ledger: at %d %d copies of license %s are taken of %d", now, licenses[pool.Name],
				pool.Name,
				pool.Copies))
		}
	}
}
