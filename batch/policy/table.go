package policy

import (
	"cmp"
	"fmt"
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

// table holds the policies, sorted by name.
var table = []Entry{
	{Name: "cbf", Summary: "conservative backfilling", New: cbf.New, Reserves: true},
	{
		Name: "convergent", Summary: "deadlines and licenses on a farm of unlike machines", New: convergent.New,
		Machines: true, Check: checkFarm,
	},
	{
		Name: "dfrs", Summary: "jobs share processors by fractions", New: dfrs.New, Shares: true, Check: checkShared,
		Report: reportShares,
	},
	{
		Name: "dynp", Summary: "chooses among orders of the queue by itself", New: dynp.New, Reserves: true,
		Report: reportTuning,
	},
	{Name: "easy", Summary: "EASY backfilling", New: easy.New, Queue: true, Reserves: true},
	{
		Name: "fcfs", Summary: "first come, first served, without backfilling", New: fcfs.New, Queue: true,
		Reserves: true,
	},
	{
		Name: "overbook", Summary: "conservative backfilling that books jobs for less than their walltimes",
		New: overbook.New, Reserves: true, Report: reportOverbooking,
	},
}

// Entry is one policy of the table.
type Entry struct {
	Name    string        // what users write
	Summary string        // one line for help texts, without a period
	New     batch.Factory // makes the policy

	// Queue: each pass starts jobs from a queue, and nothing is kept from pass to pass
	// but the queue. The simulator can then make a pass after every single event.
	Queue bool
	// Reserves: the policy takes advance reservations (Job.Window).
	Reserves bool
	// Shares: jobs get parts of processors. A driver limits their programs to these
	// parts, and pauses and migrates running jobs. Each processor is a node.
	Shares bool
	// Machines: each node is a machine with a score and licenses, and runs one job at a
	// time. The policy chooses the nodes, and pauses jobs.
	Machines bool

	// Check returns a function that refuses jobs that can never run on a platform; nil if
	// every job that is not wider than the platform can run.
	Check func(batch.Platform) (func(*batch.Job) error, error)
	// Report returns what a policy that New made says about itself, with at most the
	// given number of switches; nil if it says nothing.
	Report func(p batch.Policy, switches int) Report
}

// Chooses reports whether the policy says itself where jobs run, because it shares
// processors or matches jobs with machines. Others only count processors.
func (e *Entry) Chooses() bool { return e.Shares || e.Machines }

// UnknownError is a policy name that is not in the table.
type UnknownError struct{ Name string }

// Error lists the known names.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown policy %q, accepted: %s", e.Name, strings.Join(Names(), ", "))
}

// All returns the policies in alphabetical order.
func All() []Entry { return slices.Clone(table) }

// Names returns the names of the policies for which all of the given conditions hold, in
// alphabetical order.
func Names(where ...func(*Entry) bool) []string {
	var names []string
	for i := range table {
		if !slices.ContainsFunc(where, func(holds func(*Entry) bool) bool { return !holds(&table[i]) }) {
			names = append(names, table[i].Name)
		}
	}
	return names
}

// Of returns the entry of a policy. For a name that is not in the table, such as that of an
// external batch system, it has no traits.
func Of(name string) Entry {
	if i, known := find(name); known {
		return table[i]
	}
	return Entry{Name: name}
}

// New makes the policy of a name. Errors are *UnknownError, *batch.SettingError
// or what is wrong with the platform.
func New(name string, p batch.Platform, s batch.Settings) (batch.Policy, error) {
	i, known := find(name)
	if !known {
		return nil, &UnknownError{Name: name}
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return table[i].New(p, s)
}

// Register adds a policy, as a line of the table would: for tests, and for programs with
// policies of their own. Call it before anything uses the table. It panics if the entry is
// not complete or the name is taken.
func Register(e Entry) {
	i, known := find(e.Name)
	if known || e.Name == "" || e.Summary == "" || e.New == nil {
		panic(fmt.Sprintf("policy: cannot register %+v: it needs a new name, a summary and a constructor", e))
	}
	table = slices.Insert(table, i, e)
}

func find(name string) (int, bool) {
	return slices.BinarySearchFunc(table, name, func(e Entry, name string) int { return cmp.Compare(e.Name, name) })
}
