package submission

import "github.com/seed-9b8f70bb/drover/batch"

// The words of time, for drivers that have no other use for package batch.
type (
	// Time is an instant in microseconds since the driver's epoch.
	Time = batch.Time
	// Duration is a length of time in microseconds.
	Duration = batch.Duration
)

// Target is a site and where its server is reached.
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
	Ask                      // ask the agent what the inquiry is about; answer with Answered or Failed
	Visit                    // do at the target what the pursuit is for; answer with Finished, Moved or Failed
	Pause                    // wait; answer with Awake
	Done                     // it is done, at the target
	Rerun                    // what became of the job is unknown for too long: start a new attempt, under a new ID, not at the target
	Fail                     // it cannot be done: Err says why
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

// Action is what a driver should do next. After Done, Rerun and Fail there is nothing.
type Action struct {
	Do     Verb
	Agent  int    // of Map, Find and Ask: which of the agents, from 0
	Target Target // of Submit, Withdraw, Visit, Done and Rerun
	Until  Time   // of Pause
	Err    error  // of Fail and Rerun: why; of Pause: what has failed
}

// Config is how long and among how many agents a client tries.
type Config struct {
	// Agents is the number of agents, at least 1. They are asked in turn,
	// beginning with the first.
	Agents int
	// Patience is how long failures in a row are put up with; 0 means that none
	// is answered by waiting. An answer in between starts it anew.
	Patience Duration
	// Rerun is how long it may be unknown what became of a job before a new
	// attempt is started; 0 for never. It needs an idempotent request.
	Rerun Duration
}
