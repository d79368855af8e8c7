package roster

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

// JobError is a field of a job that no farm accepts.
type JobError struct {
	Field    string
	Value    string
	Accepted string
}

// Error names the field and the accepted values.
func (e *JobError) Error() string {
	return fmt.Sprintf("%s: %s, accepted: %s", e.Field, e.Value, e.Accepted)
}

// Edge decides which jobs a platform can ever run. It holds no jobs and can be reused.
type Edge struct {
	roster Roster // without jobs
	farm   farm.State
}

// NewEdge returns the edge of a platform, or an error about the platform.
func NewEdge(p batch.Platform) (*Edge, error) {
	site, machines, err := siteOf(p)
	if err != nil {
		return nil, err
	}
	return &Edge{
		roster: Roster{site: site, machines: machines},
		farm:   farm.State{Machines: machines, Licenses: site.licenses},
	}, nil
}

// Validate returns an error if a job submitted at the given time can never run here; the policy
// itself would let it wait forever. The error is a *JobError for a value that no farm accepts,
// or a *farm.NeedError for something that this farm lacks.
func (e *Edge) Validate(spec *batch.Job, submitted batch.Time) error {
	for i, l := range spec.Licenses {
		if _, found := e.roster.license[l.Name]; !found {
			return &farm.NeedError{Need: "license " + l.Name, Asked: int64(l.Copies), Accepted: "none of it here"}
		}
		if l.Copies < 1 {
			return &JobError{fmt.Sprintf("licenses[%d].copies", i), fmt.Sprint(l.Copies), "at least 1"}
		}
	}
	switch {
	case spec.Shape.Width < 1:
		return &JobError{"width", fmt.Sprint(spec.Shape.Width), "at least 1"}
	case spec.Reference < 0:
		return &JobError{"reference", fmt.Sprint(spec.Reference), "0 (same runtime on every machine) or more"}
	case spec.Deadline != 0 && spec.Deadline <= submitted:
		return &JobError{"deadline", fmt.Sprint(int64(spec.Deadline)), "0 (none) or later than the submission"}
	case spec.Window != nil || spec.Into != batch.NoJob:
		return &JobError{"window", "a reservation", "none: this policy does not reserve windows"}
	}
	j := &job{spec: spec}
	e.roster.describe(j, spec.Shape)
	return e.farm.Check(&farm.Job{CPUs: j.cpus, Memory: j.memory, Licenses: j.needs})
}
