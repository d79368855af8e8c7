package farm

import (
	"errors"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Limits of a farm. They keep every sum and product of the heuristics within its type.
const (
	MaxMachines = 1 << 18
	MaxLicenses = 1 << 12
	// Longest is the longest estimate: 285 years.
	Longest batch.Duration = 1 << 53
)

// FieldError is an invalid field of a state.
type FieldError struct {
	Field    string // "machines[3].score"
	Value    string
	Accepted string
}

// Error names the field, its value, and the accepted values.
func (e *FieldError) Error() string {
	return fmt.Sprintf("farm: %s: %s, accepted: %s", e.Field, e.Value, e.Accepted)
}

// problems collects errors.
type problems []error

// unless adds an error about a field unless ok.
func (p *problems) unless(right bool, value any, accepted, field string, at ...any) {
	if !right {
		*p = append(*p, &FieldError{fmt.Sprintf(field, at...), fmt.Sprint(value), accepted})
	}
}

// Validate reports all errors of a state, each a FieldError. A job with needs that no machine
// serves is no error of a state; see Check.
func (s *State) Validate() error {
	var p problems
	p.unless(s.Now >= 0, s.Now, "0 or later", "now")
	p.unless(len(s.Machines) <= MaxMachines, len(s.Machines), fmt.Sprintf("at most %d", MaxMachines), "machines")
	p.unless(len(s.Licenses) <= MaxLicenses, len(s.Licenses), fmt.Sprintf("at most %d", MaxLicenses), "licenses")
	for i := range s.Machines {
		m := &s.Machines[i]
		p.unless(m.Score >= 1, m.Score, "at least 1", "machines[%d].score", i)
		p.unless(m.CPUs >= 1, m.CPUs, "at least 1", "machines[%d].cpus", i)
		p.unless(m.Licenses.within(len(s.Licenses)), "one that the farm does not list", "licenses of the farm",
			"machines[%d].licenses", i)
	}
	for i := range s.Licenses {
		l := &s.Licenses[i]
		p.unless(l.Copies >= 0, l.Copies, "0 or more", "licenses[%d].copies", i)
	}
	s.validateLinks(&p)
	last := int64(-1)
	for i := range s.Jobs {
		j := &s.Jobs[i]
		p.unless(j.Order > last, j.Order, fmt.Sprintf("more than %d", last), "jobs[%d].order", i)
		last = max(last, j.Order)
		s.validateJob(&p, j, fmt.Sprintf("jobs[%d]", i))
	}
	return errors.Join(p...)
}

func (s *State) validateLinks(p *problems) {
	if s.Links == nil {
		return
	}
	p.unless(s.Links.Rate >= 1, s.Links.Rate, "at least 1", "links.rate")
	for place, row := range s.Links.Rates {
		if row == nil {
			continue
		}
		p.unless(len(row) == len(s.Machines), len(row), "one rate for each machine", "links.rates[%d]", place)
		for m, rate := range row {
			p.unless(rate >= 1, rate, "at least 1", "links.rates[%d][%d]", place, m)
		}
	}
}

func (s *State) validateJob(p *problems, j *Job, at string) {
	p.unless(j.Estimate >= 1 && j.Estimate <= Longest, j.Estimate, fmt.Sprintf("1..%d", Longest), "%s.estimate", at)
	p.unless(j.Reference >= 0, j.Reference, "0 (the same everywhere) or more", "%s.reference", at)
	p.unless(j.Done >= 0, j.Done, "0 or more", "%s.done", at)
	p.unless(j.Memory >= 0, j.Memory, "0 or more", "%s.memory", at)
	p.unless(j.CPUs >= 0, j.CPUs, "0 or more", "%s.cpus", at)
	p.unless(j.Deadline == 0 || j.Deadline > j.Submit, j.Deadline,
		"0 (none) or later than the submission", "%s.deadline", at)
	p.unless(s.known(j.Machine), j.Machine, "-1 (none) or a machine", "%s.machine", at)
	p.unless(s.known(j.Last), j.Last, "-1 (none) or a machine", "%s.last", at)
	p.unless(!j.Held || j.Machine != NoMachine, j.Held, "only for a job that has a machine", "%s.held", at)
	for i, n := range j.Licenses {
		p.unless(n.License >= 0 && int(n.License) < len(s.Licenses), n.License, "a license of the farm",
			"%s.licenses[%d]", at, i)
		p.unless(n.Copies >= 1, n.Copies, "at least 1", "%s.licenses[%d].copies", at, i)
		for _, other := range j.Licenses[:i] {
			p.unless(other.License != n.License, n.License, "each license once", "%s.licenses[%d]", at, i)
		}
	}
	for i, in := range j.Input {
		p.unless(in.Place >= 0, in.Place, "a place", "%s.input[%d].place", at, i)
		p.unless(in.Bytes >= 0, in.Bytes, "0 or more", "%s.input[%d].bytes", at, i)
	}
}

// known reports whether m is a machine, or NoMachine.
func (s *State) known(machine int32) bool {
	return machine >= NoMachine && int(machine) < len(s.Machines)
}

// within reports whether all licenses of the set are below n.
func (s Set) within(licenses int) bool {
	for i := len(s)*64 - 1; i >= licenses; i-- {
		if s.Has(int32(i)) {
			return false
		}
	}
	return true
}
