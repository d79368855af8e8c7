package farm

import (
	"errors"
	"fmt"
)

// Range is a range of whole numbers, with both ends.
type Range struct {
	Low  int64 `json:"low"`
	High int64 `json:"high"`
}

// Model says how machines and jobs are drawn.
type Model struct {
	Machines, Licenses, Jobs int

	Estimate  Range // of jobs, in units
	Deadline  Range // as Reading says
	Reading   Reading
	CPUs      Range // of machines, and for jobs
	Benchmark Range // of machines, and of jobs' estimates
	Input     Range // of jobs, in MB

	Ratio       Range // copies of a license, in percent of the machines that can run it
	Suitability int   // percent: chance that a machine can run a license
	Needed      int   // percent: chance that a job asks for a license
	Undated     int   // percent: chance that a job has no deadline

	Arrival int // mean time between submissions, in units
	Backlog int // how many of the jobs are there at the beginning
}

// Paper is the model of the paper's figures, with jobs every so many units.
func Paper(arrival int) Model {
	return Model{
		Machines: 150, Licenses: 20, Jobs: 1500,
		Estimate: Range{500, 3000}, Deadline: Range{25, 150}, Reading: Percent,
		CPUs: Range{1, 8}, Benchmark: Range{200, 600}, Input: Range{100, 800},
		Ratio: Range{55, 65}, Suitability: 90, Needed: 20, Undated: 30,
		Arrival: arrival,
	}
}

// The limits of a model.
const (
	MaxMachines = 1 << 16
	MaxJobs     = 1 << 20
	MaxLicenses = 1 << 10
	maxTime     = 1_000_000_000 // units: sums of a million of them are times still
	maxScore    = 1_000_000
	maxMB       = 1_000_000_000
)

// Validate reports everything that is wrong, field by field.
func (m *Model) Validate() error {
	var errs []error
	in := func(field string, v, low, high int) {
		if v < low || v > high {
			errs = append(errs, fmt.Errorf("%s: %d, accepted: %d..%d", field, v, low, high))
		}
	}
	inRange := func(field string, r Range, low, high int64) {
		if r.Low < low || r.High > high || r.Low > r.High {
			errs = append(errs, fmt.Errorf("%s: %d..%d, accepted: a range in %d..%d", field, r.Low, r.High, low, high))
		}
	}
	in("machines", m.Machines, 1, MaxMachines)
	in("licenses", m.Licenses, 0, MaxLicenses)
	in("jobs", m.Jobs, 0, MaxJobs)
	inRange("estimate", m.Estimate, 1, maxTime)
	inRange("deadline", m.Deadline, 1, maxTime)
	inRange("CPUs", m.CPUs, 1, 1024)
	inRange("benchmark", m.Benchmark, 1, maxScore)
	inRange("input", m.Input, 0, maxMB)
	inRange("license ratio", m.Ratio, 1, 100)
	in("license suitability", m.Suitability, 0, 100)
	in("licenses needed", m.Needed, 0, 100)
	in("jobs without deadline", m.Undated, 0, 100)
	in("inter-arrival", m.Arrival, 1, maxTime)
	in("backlog", m.Backlog, 0, max(0, m.Jobs))
	if !m.Reading.known() {
		errs = append(errs, &NameError{"reading of deadlines", string(m.Reading), names(Readings)})
	}
	return errors.Join(errs...)
}
