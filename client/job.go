package client

import "time"

// State is where a job is in its life.
type State string

// The states of a job; see the design's "A job's life".
const (
	Waiting    State = "waiting"
	Starting   State = "starting"
	Running    State = "running"
	Done       State = "done"   // ended with exit code 0; final
	Failed     State = "failed" // ended otherwise, or could not be launched; final
	Killed     State = "killed" // killed at its walltime; final
	Cancelling State = "cancelling"
	Cancelled  State = "cancelled" // final
	Held       State = "held"
	Moving     State = "moving"
	Yielding   State = "yielding"
	Gone       State = "gone" // at another site
	Incoming   State = "incoming"
)

// Final says whether a job in this state never changes again, anywhere.
func (s State) Final() bool {
	return s == Done || s == Failed || s == Killed || s == Cancelled
}

// Job is a request that a server has accepted, as it was when it was asked for.
// Times are on that server's clock; the zero Time says that it has not happened.
type Job struct {
	ID      string
	State   State
	Site    string
	Service string
	Owner   string
	Labels  map[string]string
	// Arguments are the values that were given, as text; of a file its name.
	Arguments map[string]string
	Shape     Shape

	Submitted time.Time
	Started   time.Time
	Ended     time.Time
	// EstimatedWait and EstimatedCompletion count from Submitted, as estimated
	// when it was accepted.
	EstimatedWait       time.Duration
	EstimatedCompletion time.Duration
	EstimateKind        EstimateKind

	Outcome  Outcome
	Decision *Decision // why it is here; nil when the client chose by itself
	Outputs  []Output
	Nodes    []string
	// NodesAway are, of one that waits, nodes of its site that are not there now.
	NodesAway []string
	Epoch     uint32
	Peer      string // of Moving and Yielding: where it is to go; of Incoming: where it comes from
	MovedTo   string // of Gone
	Moves     []Move // that brought it here, oldest first
	Revision  uint64

	Deadline  time.Time      // wanted, or agreed on; zero for none
	Agreement AgreementState // empty: there is none
	Terms     *Terms         // of the agreement
	// Kept are the data that stay at the site, by the names of arguments; what comes
	// out once the job is done, and then in Outputs, too.
	Kept     map[string]Kept
	Into     string // ID of the reservation in which it runs; may be empty
	OnlySite string // the only one that it may be at; empty for any

	After   []Dependency // that its request names
	Awaits  []string     // IDs of those that have not ended: it is Held for them
	Retries int          // how often it may be started once more after it has failed
	RetryOn []int        // the exit codes after which; empty for all
	Retried int          // how often it was

	CancelRecorded bool // somebody wants it cancelled, and this is not yet the answer
	Attempt        int  // launches at this site
	Checkpoints    int  // how often it was stopped at a checkpoint, to go on later
	// CheckpointedAfter is for how long it had run in all at the last of them.
	CheckpointedAfter time.Duration

	Needs *TaskNeeds // nil of a job that is no more than remembered

	RetryOf string // ID of the job that this one was started in place of
	// UnknownFor is how long its site has not been heard of; 0 when it answers.
	// All else is then as old, and what it does now is unknown.
	UnknownFor time.Duration

	sent *sentRequest // nil where it was not asked for
}

// TaskNeeds is what each task of a job was said to need, and what was found out while they
// ran, where that is measured.
type TaskNeeds struct {
	DeclaredCPU    float64 // of a processor
	DeclaredMemory int64   // bytes; 0 where nothing was said
	MeasuredCPU    float64 // that it was found to need; 0 where nothing was measured
	MeasuredMemory int64   // that one of them used at most, bytes; 0 likewise
}

// Shape is a width and its walltime.
type Shape struct {
	Width    int // processors
	Walltime time.Duration
}

// Outcome says how a job ended. It means nothing before.
type Outcome struct {
	ExitCode int    // when it ended by itself
	Signal   string // that ended it, "SIGKILL"; may be empty
	Reason   string // for people
}

// Output is a file, vector or matrix that a job has written.
type Output struct {
	Argument string
	Size     int64  // bytes
	SHA256   string // hexadecimal; empty while the job runs

	Element    ElementType // of a vector or matrix; empty of a file
	Dimensions []int64     // of a vector its length, of a matrix its rows and columns

	Data string // handle under which it stays at the site; empty for none
}

// EstimateKind says what an estimate is worth.
type EstimateKind string

// The kinds of estimate.
const (
	Promised EstimateKind = "promised" // never later
	Planned  EstimateKind = "planned"  // by a plan that may be made anew
	Probable EstimateKind = "probable" // kept with a probability
	Forecast EstimateKind = "forecast" // what a model of the batch system says
)

// Decision is why a job is where it is.
type Decision struct {
	MadeAt time.Time // on the agent's clock
	Agent  string
	Chosen string // site
	// Candidates are the best first, then those that are missing, by name.
	Candidates []Candidate
}

// Candidate is one site as the agent saw it. Durations count from the decision.
type Candidate struct {
	Site        string
	Wait        time.Duration // until the start, which is not before the end of the transfer
	Transfer    time.Duration // of the input
	Run         time.Duration
	Completion  time.Duration // Wait + Run
	Margin      time.Duration // how much later than at the chosen site
	StateAge    time.Duration // how old the site's state was
	Shape       Shape
	Kind        EstimateKind
	Probability float64       // of Probable
	Correction  time.Duration // of Completion by how the site's estimates were kept before
	Missing     *Missing      // set when there was no estimate
}

// Missing says why a site did not give what was asked.
type Missing struct {
	Site   string
	Reason string // "timeout", "unreachable" or "refused"
	Detail *Error // what the site, or the failed call, said; may be nil
}
