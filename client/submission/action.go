package submission

import "github.com/seed-9b8f70bb/drover/batch"

// Times for drivers that do not import package batch.
type (
	// Time is an instant in microseconds since the driver's epoch.
	Time = batch.Time
	// Duration is a length of time in microseconds.
	Duration = batch.Duration
)

// Target is a site and the URL of its server.
type Target struct {
	Site    string
	Address string // URL
}

// Verb is what a driver should do.
type Verb uint8

// The verbs of an Action.
const (
	Map      Verb = iota + 1 // ask the agent where to submit; answer with Mapped or Failed
	Submit                   // submit to the target; answer with Accepted, Withdrawn or Failed
	Withdraw                 // ask the target to withdraw the job; answer with Withdrawn, Accepted or Failed
	Find                     // ask the agent where the job is; answer with Found or Failed
	Ask                      // ask the agent the question of the inquiry; answer with Answered or Failed
	Visit                    // make the pursuit's calls at the target; answer with Finished, Moved or Failed
	Pause                    // wait; answer with Awake
	Done                     // finished, at the target
	// the state of the job has been unknown for too long: start a new attempt under a new ID, avoiding the target
	Rerun
	Fail // it failed, with Err
)

var verbNames = [...]string{
	Map: "map", Submit: "submit", Withdraw: "withdraw", Find: "find", Ask: "ask", Visit: "visit", Pause: "pause",
	Done: "done", Rerun: "rerun", Fail: "fail",
}

// String returns the verb in lower case.
func (v Verb) String() string {
	if int(v) < len(verbNames) && verbNames[v] != "" {
		return verbNames[v]
	}
	return "unspecified"
}

// Action is what a driver should do next. Nothing follows Done, Rerun and Fail.
type Action struct {
	Do     Verb
	Agent  int    // of Map, Find and Ask: index of the agent
	Target Target // of Submit, Withdraw, Visit, Done and Rerun
	Until  Time   // of Pause
	Err    error  // of Fail and Rerun: the cause; of Pause: what failed
}

// Config is how long and with how many agents a client tries.
type Config struct {
	// Agents is the number of agents, at least 1. They are asked in turn,
	// beginning with the first.
	Agents int
	// Patience bounds how long consecutive failures are retried; 0 for no retries. A
	// success resets it.
	Patience Duration
	// Rerun is how long the state of a job can be unknown before a new attempt; 0 for
	// ever. It requires an idempotent request.
	Rerun Duration
}
