package policy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
)

// Edge finds the jobs that can never run under a policy on a platform: they would wait
// without end.
type Edge struct {
	licenses bool // counted by the policy
	check    func(*batch.Job) error
}

// NewEdge returns the edge of a policy on a platform that New accepts. The name can be
// that of an external batch system: it counts no licenses.
func NewEdge(name string, p batch.Platform) (*Edge, error) {
	policy := Of(name)
	e := &Edge{licenses: policy.Machines, check: func(*batch.Job) error { return nil }}
	if policy.Check == nil {
		return e, nil
	}
	var err error
	e.check, err = policy.Check(p)
	return e, err
}

// The fields of a NeedError.
const (
	NeedLicense = "license" // unknown, or more copies than there are
	NeedWidth   = "width"   // more processors than a node has
	NeedNode    = "node"    // the needs together exceed every node
)

// NeedError is a need of a job that a site under a policy can never serve.
type NeedError struct {
	Field    string // one of the Need constants
	License  string // its name, if Field is NeedLicense
	Asked    string
	Accepted string
}

// Error says what was asked for, and what is accepted.
func (e *NeedError) Error() string { return e.Asked + ", accepted: " + e.Accepted }

// Check returns a *NeedError for a job that can never run. It does not look at the
// deadline.
func (e *Edge) Check(spec *batch.Job) error {
	if len(spec.Licenses) > 0 && !e.licenses {
		return &NeedError{
			Field: NeedLicense, License: spec.Licenses[0].Name, Asked: "license " + spec.Licenses[0].Name,
			Accepted: "none, this site counts no licenses",
		}
	}
	return e.check(spec)
}

// checkFarm refuses jobs that fit no machine of a farm.
func checkFarm(p batch.Platform) (func(*batch.Job) error, error) {
	edge, err := convergent.NewEdge(p)
	if err != nil {
		return nil, err
	}
	return func(spec *batch.Job) error {
		err := edge.Validate(spec, 0)
		var need *farm.NeedError
		if !errors.As(err, &need) {
			return err
		}
		name, license := strings.CutPrefix(need.Need, "license ")
		switch {
		case license:
			return &NeedError{
				Field: NeedLicense, License: name,
				Asked: fmt.Sprintf("%d of license %s", need.Asked, name), Accepted: need.Accepted,
			}
		case need.Need == "cpus":
			return &NeedError{
				Field: NeedWidth, Asked: fmt.Sprintf("width %d", need.Asked),
				Accepted: need.Accepted + ", the processors of the largest node",
			}
		}
		return &NeedError{Field: NeedNode, Asked: need.Need, Accepted: "less, " + need.Accepted}
	}, nil
}

// checkShared refuses jobs with tasks that do not fit the nodes. Tasks share a processor, but
// not its memory.
func checkShared(p batch.Platform) (func(*batch.Job) error, error) {
	return func(spec *batch.Job) error {
		err := dfrs.Validate(p, spec)
		var job *dfrs.JobError
		if !errors.As(err, &job) {
			return err
		}
		field := NeedNode
		if job.Field == "tasks" {
			field = NeedWidth
		}
		return &NeedError{Field: field, Asked: fmt.Sprintf("%s %d", job.Field, job.Value), Accepted: job.Accepted}
	}, nil
}
