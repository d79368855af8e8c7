package faults

import (
	"encoding/json"
	"strings"
)

// Kind is something that a run counts.
type Kind uint8

// Counted events: first the injected faults, then their effects.
const (
	Lost       Kind = iota // messages lost
	Doubled                // messages delivered twice
	Late                   // messages delayed, and overtaken by others
	Cut                    // partitions
	Crash                  // servers killed
	CrashTorn              // of those: during a sync
	CrashPoint             // of those: between two effects of one write
	DiskFull               // failed writes
	Supervisor             // supervisors killed
	NeverRan               // launches that died before their gate opened
	SetBack                // clocks set back
	SiteLost               // hosts lost for good
	GaveUp                 // clients that stopped during a submission
	Drained                // sites drained
	Replayed               // old messages sent again after the end
	Submitted              // requests
	Reruns                 // of those: new attempts for a job that a client lost
	Accepted               // accepted jobs
	Withdrawn              // answers that a job is withdrawn
	Started                // processes started
	Unseen                 // ends that nothing observed
	Failures               // failed processes with a retry left
	Ordered                // moves begun
	Committed              // moves that reached the commit point
	Aborted                // aborted moves
	Rounds                 // holds that held at least one job
	Cancels                // answers to a cancel
	Forgotten              // jobs that a site has dropped
	Settled                // moves settled by an operator
	Done                   // jobs that ended
	Failed
	Killed
	Cancelled
	kinds
)

var kindNames = [kinds]string{
	Lost: "messages lost", Doubled: "messages doubled", Late: "messages late", Cut: "partitions",
	Crash: "servers killed", CrashTorn: "servers killed while they write", CrashPoint: "servers killed while they act",
	DiskFull: "disk full", Supervisor: "supervisors killed", NeverRan: "launches that died", SetBack: "clocks set back",
	SiteLost: "sites lost", GaveUp: "clients gone", Drained: "drains", Replayed: "messages replayed",
	Submitted: "requests", Reruns: "requests rerun", Accepted: "jobs accepted", Withdrawn: "jobs withdrawn",
	Started: "processes", Unseen: "ends unseen", Failures: "failures tried again", Ordered: "moves begun",
	Committed: "moves committed", Aborted: "moves aborted",
	Rounds: "rounds", Cancels: "cancels answered", Forgotten: "jobs forgotten", Settled: "moves settled by hand",
	Done: "jobs done", Failed: "jobs failed", Killed: "jobs killed", Cancelled: "jobs cancelled",
}

// String returns a description of the kind.
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return "unspecified"
}

// Kinds returns all kinds in display order.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// Counts is the number of events of each kind.
type Counts [kinds]int64

// Add adds the counts of another run.
func (c *Counts) Add(o *Counts) {
	for i := range c {
		c[i] += o[i]
	}
}

// MarshalJSON writes an object with a key for each kind, in order of the keys.
func (c Counts) MarshalJSON() ([]byte, error) {
	m := make(map[string]int64, kinds)
	for k, n := range c {
		m[strings.ReplaceAll(Kind(k).String(), " ", "_")] = n
	}
	return json.Marshal(m)
}
