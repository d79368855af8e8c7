// Package policy is the table of the embedded policies: adding one is a folder
// and a line here.
package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
	"github.com/seed-9b8f70bb/drover/batch/policy/dynp"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
	"github.com/seed-9b8f70bb/drover/batch/policy/fcfs"
	"github.com/seed-9b8f70bb/drover/batch/policy/overbook"
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

// Shares says whether a policy gives jobs parts of processors, which something has to
// hold them to, and pauses and moves them as they run.
func Shares(name string) bool { return name == "dfrs" }
