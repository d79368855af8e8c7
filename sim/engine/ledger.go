package engine

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Ledger checks a policy's decisions against the machine: processors, memory
// and shares of every node, licences, earliest starts. It goes through all that
// runs after every pass; it is for tests and for runs that shall prove
// something.
type Ledger struct {
	platform batch.Platform
	total    int32
	held     map[batch.Handle]holding
}

type holding struct {
	spec   *batch.Job
	places []batch.Location
	paused bool
}

// NewLedger returns a ledger of an idle machine.
func NewLedger(p batch.Platform) *Ledger {
	return &Ledger{platform: p, total: p.Width(), held: map[batch.Handle]holding{}}
}

func (l *Ledger) note(now batch.Time, spec *batch.Job, d *batch.Decision) {
	if d.Kind == batch.Start && spec.EarliestStart > now {
		panic(fmt.Sprintf("ledger: job %d starts at %d, before %d", spec.Handle, now, spec.EarliestStart))
	}
	h := holding{spec: spec, places: append([]batch.Location(nil), d.Places...)}
	if d.Kind == batch.Pause {
		h.paused = true
	}
	l.held[spec.Handle] = h
}

// adopt books a job that the policy was told to find running.
func (l *Ledger) adopt(spec *batch.Job, places []batch.Location) {
	l.held[spec.Handle] = holding{spec: spec, places: append([]batch.Location(nil), places...)}
}

func (l *Ledger) leave(h batch.Handle) { delete(l.held, h) }

func (l *Ledger) floating(name string) bool {
	return slices.ContainsFunc(l.platform.Licences, func(p batch.LicencePool) bool { return p.Name == name })
}

// check panics if what runs does not fit the machine.
func (l *Ledger) check(now batch.Time) {
	width := int64(0)
	nodes := make([]struct{ share, memory int64 }, len(l.platform.Nodes))
	licences := map[string]int64{}
	for _, h := range l.held {
		if h.paused {
			continue
		}
		for _, lic := range h.spec.Licences {
			licences[lic.Name] += int64(lic.Copies)
		}
		if len(h.places) == 0 {
			width += int64(h.spec.Shape.Width)
			continue
		}
		for _, p := range h.places {
			memory := h.spec.Memory
			if len(h.spec.Groups) > 0 {
				memory = h.spec.Groups[p.Group].Memory
			}
			for _, lic := range h.spec.Licences {
				if !l.floating(lic.Name) && !slices.Contains(l.platform.Nodes[p.Node].Licences, lic.Name) {
					panic(fmt.Sprintf("ledger: at %d job %d is on node %d, which cannot run %s", now, h.spec.Handle, p.Node, lic.Name))
				}
			}
			nodes[p.Node].share += int64(p.Share) * int64(p.Processors)
			nodes[p.Node].memory += memory * int64(p.Processors)
		}
	}
	if width > int64(l.total) {
		panic(fmt.Sprintf("ledger: at %d %d of %d processors are taken", now, width, l.total))
	}
	for i, n := range nodes {
		spec := &l.platform.Nodes[i]
		if n.share > int64(spec.Processors)*int64(batch.One) {
			panic(fmt.Sprintf("ledger: at %d node %d gives %d shares of %d processors", now, i, n.share, spec.Processors))
		}
		if spec.Memory > 0 && n.memory > spec.Memory {
			panic(fmt.Sprintf("ledger: at %d node %d has %d bytes taken of %d", now, i, n.memory, spec.Memory))
		}
	}
	for _, pool := range l.platform.Licences {
		if licences[pool.Name] > int64(pool.Copies) {
			panic(fmt.Sprintf("ledger: at %d %d copies of licence %s are taken of %d", now, licences[pool.Name], pool.Name, pool.Copies))
		}
	}
}
