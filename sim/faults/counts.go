package faults

import (
	"encoding/json"
	"strings"
)

// Kind is something that a run counts.
type Kind uint8

// What is counted: first what was injected, then what came of it.
const (
	Lost       Kind = iota // a message that never came
	Doubled                // a message that came twice
	Late                   // a message that took long, others overtook it
	Cut                    // a partition
	Crash                  // a server killed, at any time
	CrashTorn              // of those: during a sync
	CrashPoint             // of those: between two things that a write allows
	DiskFull               // a write that failed
	Supervisor             // a supervisor killed
	NeverRan               // a launch that died before its gate was opened
	SetBack                // a clock set back
	SiteLost               // a host lost for good
	GaveUp                 // a client that stopped during a submission
	Drained                // a site that took no jobs for a while
	Replayed               // messages sent again after the end
	Submitted              // requests
	Reruns                 // of those: new attempts of one that a client lost
	Accepted               // jobs
	Withdrawn              // answers that a job was withdrawn
	Started                // processes
	Unseen                 // ends that were not seen
	Failures               // failed processes after which there is another try
	Ordered                // moves begun
	Committed              // moves that reached the commit point
	Aborted                // moves that came to nothing
	Rounds                 // holds that held something
	Cancels                // answers to a cancel
	Forgotten              // jobs that a site has dropped
	Settled                // moves settled by an operator
	Done                   // ends
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

// String returns the kind in words.
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return "unspecified"
}

// Kinds returns all kinds, in the order in which they are to be shown.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// Counts is how often each kind has happened.
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
