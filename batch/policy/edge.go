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

// Edge says which jobs could ever run under a policy on a platform, as far as that is a
// matter of the policy: one that cannot would wait for ever.
type Edge struct {
	farm   *convergent.Edge // nil: jobs are on any processors, and have no licenses
	shared *batch.Platform  // nil: tasks have whole processors
}

// NewEdge returns the edge of a policy on a platform, which New accepts. The name may be
// that of a batch system which is not in the table: it counts no licenses.
func NewEdge(name string, p batch.Platform) (*Edge, error) {
	e := &Edge{}
	if Shares(name) {
		e.shared = &p
	}
	if !Unlike(name) {
		return e, nil
	}
	var err error
	e.farm, err = convergent.NewEdge(p)
	return e, err
}

// Unlike says whether to a policy the nodes of a platform are unlike machines, with one
// job on each: whether it looks at scores and licenses.
func Unlike(name string) bool { return name == "convergent" }

// The fields of a NeedError.
const (
	NeedLicense = "license" // one that nobody has, or more copies than there are
	NeedWidth   = "width"   // more processors than a node has
	NeedNode    = "node"    // all together is more than any one node has
)

// NeedError is a need of a job that a site under a policy can never serve.
type NeedError struct {
	Field    string // one of the Need constants
	License  string // which
	Asked    string
	Accepted string
}

// Error says what was asked for, and what there is.
func (e *NeedError) Error() string { return e.Asked + ", accepted: " + e.Accepted }

// Check returns a *NeedError for a job that could never run. Whether its deadline can
// be kept is another question.
func (e *Edge) Check(spec *batch.Job) error {
	if e.farm == nil {
		if len(spec.Licenses) == 0 {
			return e.checkShared(spec)
		}
		return &NeedError{
			Field: NeedLicense, License: spec.Licenses[0].Name, Asked: "license " + spec.Licenses[0].Name,
			Accepted: "none, this site counts no licenses",
		}
	}
	err := e.farm.Validate(spec, 0)
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
		return &NeedError{Field: NeedWidth, Asked: fmt.Sprintf("width %d", need.Asked), Accepted: need.Accepted + ", the processors of the largest node"}
	}
	return &NeedError{Field: NeedNode, Asked: need.Need, Accepted: "less, " + need.Accepted}
}

// checkShared says whether the tasks of a job fit nodes on which many may share a
// processor, but not its memory.
func (e *Edge) checkShared(spec *batch.Job) error {
	if e.shared == nil {
		return nil
	}
	err := dfrs.Validate(*e.shared, spec)
	var job *dfrs.JobError
	if !errors.As(err, &job) {
		return err
	}
	field := NeedNode
	if job.Field == "tasks" {
		field = NeedWidth
	}
	return &NeedError{Field: field, Asked: fmt.Sprintf("%s %d", job.Field, job.Value), Accepted: job.Accepted}
}
