// Package policies is the table of the embedded policies: adding one is a folder
// and a line here.
package policies

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/cbf"
	"github.com/seed-9b8f70bb/drover/batch/convergent"
	"github.com/seed-9b8f70bb/drover/batch/dfrs"
	"github.com/seed-9b8f70bb/drover/batch/dynp"
	"github.com/seed-9b8f70bb/drover/batch/easy"
	"github.com/seed-9b8f70bb/drover/batch/fcfs"
	"github.com/seed-9b8f70bb/drover/batch/overbook"
)

var table = map[string]batch.Factory{
	"cbf":  cbf.New,
	"dfrs": dfrs.New,

	"convergent": convergent.New,

	"dynp": dynp.New,
	"easy": easy.New,
	"fcfs": fcfs.New,

	"overbook": overbook.New,
}

// UnknownError is a policy name that is not in the table.
type UnknownError struct{ Name string }

// Error lists the known names.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown policy %q, accepted: %s", e.Name, strings.Join(Names(), ", "))
}

// Names returns the known policies in alphabetical order.
func Names() []string { return slices.Sorted(maps.Keys(table)) }

// New makes the policy of a name. Errors are *UnknownError, *batch.SettingError
// or what is wrong with the platform.
func New(name string, p batch.Platform, s batch.Settings) (batch.Policy, error) {
	factory, ok := table[name]
	if !ok {
		return nil, &UnknownError{Name: name}
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return factory(p, s)
}

// simulated says of policies that no live site can follow yet what it cannot do.
var simulated = map[string]string{"dfrs": "live node pools cannot migrate or enforce shares yet"}

// SimulatedError is a policy that a live site cannot follow.
type SimulatedError struct{ Name, Why string }

// Error says why.
func (e *SimulatedError) Error() string {
	return fmt.Sprintf("policy %s: simulated only so far: %s", e.Name, e.Why)
}

// Live returns a *SimulatedError for a policy that a live site cannot follow.
func Live(name string) error {
	if why, is := simulated[name]; is {
		return &SimulatedError{Name: name, Why: why}
	}
	return nil
}

// LiveNames returns the policies that a live site can follow, in alphabetical order.
func LiveNames() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return Live(name) != nil })
}
