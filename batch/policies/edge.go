package policies

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/convergent"
	"github.com/seed-9b8f70bb/drover/batch/convergent/farm"
)

// Edge says which jobs could ever run under a policy on a platform, as far as that is a
// matter of the policy: one that cannot would wait for ever.
type Edge struct {
	farm *convergent.Edge // nil: jobs are on any processors, and have no licences
}

// NewEdge returns the edge of a policy on a platform, which New accepts. The name may be
// that of a batch system which is not in the table: it counts no licences.
func NewEdge(name string, p batch.Platform) (*Edge, error) {
	e := &Edge{}
	if !Unlike(name) {
		return e, nil
	}
	var err error
	e.farm, err = convergent.NewEdge(p)
	return e, err
}

// Unlike says whether to a policy the nodes of a platform are unlike machines, with one
// job on each: whether it looks at scores and licences.
func Unlike(name string) bool { return name == "convergent" }

// The fields of a NeedError.
const (
	NeedLicence = "licence" // one that nobody has, or more copies than there are
	NeedWidth   = "width"   // more processors than a node has
	NeedNode    = "node"    // all together is more than any one node has
)

// NeedError is a need of a job that a site under a policy can never serve.
type NeedError struct {
	Field    string // one of the Need constants
	Licence  string // which
	Asked    string
	Accepted string
}

// Error says what was asked for, and what there is.
func (e *NeedError) Error() string { return e.Asked + ", accepted: " + e.Accepted }

// Check returns a *NeedError for a job that could never run. Whether its deadline can
// be kept is another question.
func (e *Edge) Check(spec *batch.Job) error {
	if e.farm == nil {
		if len(spec.Licences) == 0 {
			return nil
		}
		return &NeedError{
			Field: NeedLicence, Licence: spec.Licences[0].Name, Asked: "licence " + spec.Licences[0].Name,
			Accepted: "none, this site counts no licences",
		}
	}
	err := e.farm.Validate(spec, 0)
	var need *farm.NeedError
	if !errors.As(err, &need) {
		return err
	}
	name, licence := strings.CutPrefix(need.Need, "licence ")
	switch {
	case licence:
		return &NeedError{
			Field: NeedLicence, Licence: name,
			Asked: fmt.Sprintf("%d of licence %s", need.Asked, name), Accepted: need.Accepted,
		}
	case need.Need == "cpus":
		return &NeedError{Field: NeedWidth, Asked: fmt.Sprintf("width %d", need.Asked), Accepted: need.Accepted + ", the processors of the largest node"}
	}
	return &NeedError{Field: NeedNode, Asked: need.Need, Accepted: "less, " + need.Accepted}
}
