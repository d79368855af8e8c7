package heuristic

import (
	"math/bits"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

// requirements are the minimal requirements: they determine the eligible machines of a job. The
// paper's tests consider processors and floating licenses, by number and type. This code also
// checks memory, excludes machines that are down, and excludes all other machines for a held
// job. A job that requests more copies of a license than exist has no eligible machine.
// farm.State.Eligible checks the same for one machine.
//
// Bit sets of machines answer for all machines at once: one set per license, one per distinct
// number of CPUs.
type requirements struct {
	licenses []set // by license: the machines that can run it
	copies   []int32
	cpus     []int32 // the different numbers of CPUs, ascending
	atLeast  []set   // machines that are up and have at least so many CPUs
	eligible set
	columns  []int32
}

// set is a set of machines.
type set []uint64

// begin updates the sets to the farm.
func (q *requirements) begin(s *farm.State, m *farm.Matrix) {
	if !m.Changed() {
		return
	}
	words := (len(s.Machines) + 63) / 64
	q.eligible = make(set, words)
	q.copies, q.cpus = q.copies[:0], q.cpus[:0]
	for i := range s.Licenses {
		q.copies = append(q.copies, s.Licenses[i].Copies)
	}
	for i := range s.Machines {
		q.cpus = append(q.cpus, s.Machines[i].CPUs)
	}
	slices.Sort(q.cpus)
	q.cpus = slices.Compact(q.cpus)
	q.licenses = sets(len(s.Licenses), words)
	q.atLeast = sets(len(q.cpus), words)
	for i := range s.Machines {
		m := &s.Machines[i]
		for l := range q.licenses {
			q.licenses[l].put(i, m.Licenses.Has(int32(l)))
		}
		for k, cpus := range q.cpus {
			q.atLeast[k].put(i, !m.Down && m.CPUs >= cpus)
		}
	}
}

// machines returns the eligible machines of a job, ascending. The slice is valid until the next
// call.
func (q *requirements) machines(s *farm.State, j *farm.Job) []int32 {
	q.columns = q.columns[:0]
	k, _ := slices.BinarySearch(q.cpus, j.CPUs)
	if k == len(q.cpus) {
		return nil
	}
	copy(q.eligible, q.atLeast[k])
	for _, n := range j.Licenses {
		if n.Copies > q.copies[n.License] {
			return nil
		}
		for i, w := range q.licenses[n.License] {
			q.eligible[i] &= w
		}
	}
	if j.Held {
		if q.eligible.has(j.Machine) && s.HasMemory(j, j.Machine) {
			q.columns = append(q.columns, j.Machine)
		}
		return q.columns
	}
	for i, w := range q.eligible {
		for ; w != 0; w &= w - 1 {
			if c := int32(i*64 + bits.TrailingZeros64(w)); j.Memory == 0 || s.HasMemory(j, c) {
				q.columns = append(q.columns, c)
			}
		}
	}
	return q.columns
}

// sets returns n empty sets.
func sets(n, words int) []set {
	all := make([]set, n)
	memory := make(set, n*words)
	for i := range all {
		all[i] = memory[i*words : (i+1)*words : (i+1)*words]
	}
	return all
}

// has reports whether a machine is in the set.
func (s set) has(machine int32) bool { return s[machine>>6]>>(machine&63)&1 == 1 }

// put adds a machine if belongs is true.
func (s set) put(machine int, belongs bool) {
	if belongs {
		s[machine>>6] |= 1 << (machine & 63)
	}
}
