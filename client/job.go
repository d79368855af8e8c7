package client

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// State is the state of a job.
type State string

// The states of a job; docs/architecture.md draws them.
const (
	Waiting    State = "waiting"
	Starting   State = "starting"
	Running    State = "running"
	Done       State = "done"   // ended with exit code 0; final
	Failed     State = "failed" // ended otherwise, or could not be started; final
	Killed     State = "killed" // killed at its walltime; final
	Cancelling State = "cancelling"
	Cancelled  State = "cancelled" // final
	Held       State = "held"
	Moving     State = "moving"
	Yielding   State = "yielding"
	Gone       State = "gone" // at another site
	Incoming   State = "incoming"
)

// Final reports whether a job in this state never changes again, at any site.
func (s State) Final() bool {
	return s == Done || s == Failed || s == Killed || s == Cancelled
}

// Job is a request that a server has accepted, as it was when the server
// answered. Times are on that server's clock; a zero Time has not happened.
type Job struct {
	Message rpc.Message // that it was decoded from
	ID      string      `proto:"id"`
	State   State       `proto:"state"`
	Site    string      `proto:"site"`
	Service string      `proto:"request.service"`
	Owner   string      `proto:"request.owner"`

	Labels map[string]string `proto:"request.labels"`
	// Arguments are the values of the request as text; a file has its name.
	Arguments map[string]string `proto:"request.arguments"`
	Shape     Shape             `proto:"shape"`

	Submitted time.Time `proto:"submitted_at"`
	Started   time.Time `proto:"started_at"`
	Ended     time.Time `proto:"ended_at"`
	// EstimatedWait and EstimatedCompletion count from Submitted, as estimated
	// when the job was accepted.
	EstimatedWait       time.Duration `proto:"estimated_wait"`
	EstimatedCompletion time.Duration `proto:"estimated_completion"`
	EstimateKind        EstimateKind  `proto:"estimate_kind"`

	Outcome  Outcome   `proto:"outcome"`
	Decision *Decision `proto:"decision"` // why it is at this site; nil if the client chose the site
	Outputs  []Output  `proto:"outputs"`
	Nodes    []string  `proto:"nodes"`
	// NodesAway are the nodes of its site that are away while the job waits.
	NodesAway []string `proto:"nodes_away"`
	Epoch     uint32   `proto:"epoch"`
	Peer      string   `proto:"peer"`     // Moving, Yielding: the target; Incoming: the source
	MovedTo   string   `proto:"moved_to"` // Gone: the site that it went to
	Moves     []Move   `proto:"moves"`    // that brought it here, oldest first
	Revision  uint64   `proto:"revision"`

	Deadline  time.Time      `proto:"request.deadline"`  // zero for none
	Agreement AgreementState `proto:"agreement"`         // empty for none
	Terms     *Terms         `proto:"request.agreement"` // of the agreement
	// Kept is the data that stays at the site, by argument; an output exists once
	// the job is done, and is then in Outputs too.
	Kept     map[string]Kept `proto:"request.keep"`
	Into     string          `proto:"request.into"` // ID of the reservation in which it runs; may be empty
	OnlySite string          `proto:"request.site"` // where its request must run; empty for any site

	After   []Dependency `proto:"request.after"`
	Awaits  []string     `proto:"awaits"`           // IDs of the jobs in After that have not ended: it is Held for them
	Retries int          `proto:"request.retries"`  // how often it is restarted after it has failed
	RetryOn []int        `proto:"request.retry_on"` // the exit codes after which; empty for all
	Retried int          `proto:"retried"`          // how often it was restarted

	CancelRecorded bool `proto:"cancel_recorded"` // a cancel is recorded and not decided yet
	Attempt        int  `proto:"attempt"`         // launches at this site
	Checkpoints    int  `proto:"checkpoints"`     // how often it was stopped at a checkpoint, to continue later
	// CheckpointedAfter is its run time at the last checkpoint.
	CheckpointedAfter time.Duration `proto:"checkpointed_after"`

	Needs *TaskNeeds `proto:"needs"` // nil if an agent only remembers the job

	RetryOf string `proto:"retry_of"` // ID of the job that this one replaces
	// UnknownFor is how long its site has been silent; 0 when the site answers. All
	// other fields are then as old, and the present state is unknown.
	UnknownFor time.Duration `proto:"unknown_for"`
}

// MarshalJSON returns the JSON of a drover.v1.Job.
func (j Job) MarshalJSON() ([]byte, error) { return rpc.JSON("Job", j) }

// TaskNeeds is what each task of a job declared, and what its site has measured.
type TaskNeeds struct {
	DeclaredCPU    float64 `proto:"declared_cpu"`          // of a processor
	DeclaredMemory int64   `proto:"declared_memory_bytes"` // 0 if not declared
	MeasuredCPU    float64 `proto:"measured_cpu"`          // 0 if not measured
	MeasuredMemory int64   `proto:"measured_memory_bytes"` // the most that one task used; 0 if not measured
}

// MarshalJSON returns the JSON of a drover.v1.TaskNeeds.
func (n TaskNeeds) MarshalJSON() ([]byte, error) { return rpc.JSON("TaskNeeds", n) }

// Shape is a width and its walltime.
type Shape struct {
	Width    int           `proto:"width"` // processors
	Walltime time.Duration `proto:"walltime"`
}

// MarshalJSON returns the JSON of a drover.v1.Shape.
func (s Shape) MarshalJSON() ([]byte, error) { return rpc.JSON("Shape", s) }

// Outcome is how a job ended. It means nothing before the end.
type Outcome struct {
	ExitCode int    `proto:"exit_code"` // if the program exited
	Signal   string `proto:"signal"`    // that ended the program, "SIGKILL"; may be empty
	Reason   string `proto:"reason"`    // for people
}

// MarshalJSON returns the JSON of a drover.v1.Outcome.
func (o Outcome) MarshalJSON() ([]byte, error) { return rpc.JSON("Outcome", o) }

// Output is a file, vector or matrix that a job has written.
type Output struct {
	Argument string `proto:"argument"`
	Size     int64  `proto:"size_bytes"`
	SHA256   string `proto:"sha256"` // hexadecimal; empty while the job runs

	Element    ElementType `proto:"element"`    // of a vector or matrix; empty for a file
	Dimensions []int64     `proto:"dimensions"` // the length of a vector; the rows and columns of a matrix

	Data string `proto:"data_id"` // handle under which it stays at the site; may be empty
}

// MarshalJSON returns the JSON of a drover.v1.Output.
func (o Output) MarshalJSON() ([]byte, error) { return rpc.JSON("Output", o) }

// Kept is data of a job that stays at its site.
type Kept struct {
	ID   string   `proto:"data_id"` // the handle
	Mode DataMode `proto:"mode"`
}

// MarshalJSON returns the JSON of a drover.v1.Keep.
func (k Kept) MarshalJSON() ([]byte, error) { return rpc.JSON("Keep", k) }

// Dependency is a job that has to end before another one may start.
type Dependency struct {
	Job string `proto:"job_id"`
	Any bool   `proto:"condition,any"` // whatever its end; otherwise it has to be Done
}

// MarshalJSON returns the JSON of a drover.v1.Dependency.
func (d Dependency) MarshalJSON() ([]byte, error) { return rpc.JSON("Dependency", d) }

// EstimateKind is the reliability of an estimate.
type EstimateKind string

// The kinds of estimate.
const (
	Promised EstimateKind = "promised" // never later
	Planned  EstimateKind = "planned"  // by a plan that the policy may change
	Probable EstimateKind = "probable" // kept with a probability
	Forecast EstimateKind = "forecast" // by a model of the batch system
)

// Decision is why a job is where it is.
type Decision struct {
	Message rpc.Message // that it was decoded from
	MadeAt  time.Time   `proto:"made_at"` // on the agent's clock
	Agent   string      `proto:"agent"`
	Chosen  string      `proto:"chosen"` // site
	// Candidates are the best first, then the missing ones, by name.
	Candidates []Candidate `proto:"candidates"`
}

// MarshalJSON returns the JSON of a drover.v1.DecisionRecord.
func (d Decision) MarshalJSON() ([]byte, error) { return rpc.JSON("DecisionRecord", d) }

// Candidate is one site as the agent saw it. Durations count from the decision.
type Candidate struct {
	Message     rpc.Message   // that it was decoded from
	Site        string        `proto:"site"`
	Wait        time.Duration `proto:"wait"`     // until the start, which is not before the end of the transfer
	Transfer    time.Duration `proto:"transfer"` // of the input
	Run         time.Duration `proto:"run"`
	Completion  time.Duration `proto:"completion"` // Wait + Run
	Margin      time.Duration `proto:"margin"`     // how much later than at the chosen site
	StateAge    time.Duration `proto:"state_age"`  // age of the site's state
	Shape       Shape         `proto:"."`
	Kind        EstimateKind  `proto:"kind"`
	Probability float64       `proto:"probability"` // of a Probable estimate
	Correction  time.Duration `proto:"correction"`  // of Completion, by the accuracy of the site's estimates
	Missing     *Missing      `proto:"missing"`     // set if there is no estimate
}

// MarshalJSON returns the JSON of a drover.v1.Candidate.
func (c Candidate) MarshalJSON() ([]byte, error) { return rpc.JSON("Candidate", c) }

// Missing is why a site did not give what was asked for.
type Missing struct {
	Reason string           `proto:"reason"` // "timeout", "unreachable" or "refused"
	Detail *problem.Problem `proto:"detail"` // what the site, or the failed call, said; may be nil
}

// MarshalJSON returns the JSON of a drover.v1.Missing.
func (m Missing) MarshalJSON() ([]byte, error) { return rpc.JSON("Missing", m) }

// MissingSite is a site without an answer, in a list.
type MissingSite struct {
	Site    string `proto:"site"`
	Missing `proto:"missing"`
}

// MarshalJSON returns the JSON of a drover.v1.Candidate.
func (m MissingSite) MarshalJSON() ([]byte, error) { return rpc.JSON("Candidate", m) }

// JobFilter selects jobs. The zero JobFilter selects all.
type JobFilter struct {
	State   string // a state's name, or "active" for all that are not final
	Service string
	Owner   string
	Site    string
	ID      string // the beginning of the ID
	// Brief asks for jobs without arguments, decision, needs and outputs, which is faster.
	Brief bool
}

// JobList is a list of jobs.
type JobList struct {
	Jobs    []*Job        `proto:"jobs"`    // by site, then in the order of submission
	Missing []MissingSite `proto:"missing"` // the sites that did not answer
}

// MarshalJSON returns the JSON of a drover.v1.AgentServiceListJobsResponse.
func (l JobList) MarshalJSON() ([]byte, error) { return rpc.JSON("AgentServiceListJobsResponse", l) }

// Jobs lists jobs.
func (c *Client) Jobs(ctx context.Context, f JobFilter) (*JobList, error) {
	page, err := c.jobsPage(f)
	if err != nil {
		return nil, err
	}
	return pages(ctx, c, page, func(all, page *JobList) {
		all.Jobs = append(all.Jobs, page.Jobs...)
		all.Missing = merged(all.Missing, page.Missing)
	})
}

// JobPages lists jobs page by page: it calls see for each page as it arrives, and fetches the next one
// meanwhile. An error of see ends it. If an agent fails after the first page, the list ends with its
// error.
func (c *Client) JobPages(ctx context.Context, f JobFilter, see func(*JobList) error) error {
	page, err := c.jobsPage(f)
	if err != nil {
		return err
	}
	var broken error // of a list that has begun
	_, err = ask(ctx, c, func(ctx context.Context, agent string) (struct{}, error) {
		if broken != nil {
			return struct{}{}, broken
		}
		begun := false
		err := eachPage(ctx, c, agent, page, func(page *JobList) error {
			begun = true
			return see(page)
		})
		if begun {
			broken = err
		}
		return struct{}{}, err
	})
	return err
}

func (c *Client) jobsPage(f JobFilter) (pageCall, error) {
	filter, err := terms("state", f.State, "service", f.Service, "owner", f.Owner, "site", f.Site, "id", f.ID)
	return func(ctx context.Context, agent, token string) (rpc.Message, error) {
		return c.conn.ListJobs(ctx, agent, filter, token, f.Brief)
	}, err
}

// EndError is a job that has ended, but not well.
type EndError struct {
	Job *Job
}

// Error names the job, its state and the reason.
func (e *EndError) Error() string {
	text := fmt.Sprintf("job %s at site %s: %s", e.Job.ID, e.Job.Site, e.Job.State)
	if r := e.Job.Outcome.Reason; r != "" && r != string(e.Job.State) {
		text += " (" + e.Job.Outcome.Reason + ")"
	}
	return text
}
