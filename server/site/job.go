package site

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// Job is the state of one job at a site. The site returns copies; what they point to is never
// changed.
type Job struct {
	ID      batch.JobID
	State   State
	Epoch   uint32 // the latest move that this site knows of
	Under   uint32 // the epoch under which the job came to this site
	Attempt uint32 // number of the launch under that epoch, from 1

	Cancel    bool // a cancel is recorded but not carried out
	Withdrawn bool // Submit never accepts it here
	Kept      bool // dossier and files are here; false for a tombstone

	// These fields fill a gap, which makes a job 16 bytes smaller.
	busy  bool  // holds processors
	dirty bool  // changed since the last Take
	fresh bool  // the dossier was not written yet
	tries uint8 // how often the present message was sent

	// FailedAttempts counts consecutive attempts that did not run, see Config.Attempts.
	FailedAttempts uint32
	Retried        uint8 // how often the job was restarted after a failure

	agreement AgreementState

	Service   string
	Owner     string
	Shape     batch.Shape // the chosen shape
	Needs     *Needs      // nil for a tombstone
	Dossier   *Dossier    // nil if only the driver has it, see ReleaseDossier
	Order     uint64      // position in the queue: later jobs have higher numbers
	Submitted batch.Time  // on this site's clock; a moved job keeps its age
	Started   batch.Time  // Never before the start
	Ended     batch.Time  // Never before the end
	Estimate  Quote       // made when the job came to this site
	Run       *Run        // nil before the launch
	Past      *Past       // nil if the job was never stopped at a checkpoint
	Measured  *Measured   // nil if nothing was measured
	Transit   *Transit    // nil if the job was never moved or held
	Revision  uint64      // counts changes, from 1
	Serial    uint64      // position in lists: the order of arrival since the last restart

	awaits      *[]Dependency // see Awaits
	fingerprint fingerprint   // of the request
	index       int32         // in book.order
	slot        int32         // in the timers, from 1; 0 for none
}

// Needs is what planners get to know about a job besides its shape.
type Needs struct {
	Origin        batch.Origin    `json:"origin,omitempty"`
	Memory        int64           `json:"memory,omitempty"`
	CPU           batch.Share     `json:"cpu,omitempty"`
	Licenses      []batch.License `json:"licenses,omitempty"`
	EarliestStart batch.Time      `json:"earliest,omitempty"`
	Deadline      batch.Time      `json:"deadline,omitempty"`
	// Reference is the score of the machine for which the walltime of the shape holds; 0 for all
	// machines.
	Reference int32 `json:"reference,omitempty"`
	// Resident is true if the job keeps its memory while it is paused and continues from the same
	// point.
	Resident  bool   `json:"resident,omitempty"`
	InputSite string `json:"input_site,omitempty"`
	Input     int64  `json:"input,omitempty"`
	// Restartable is true if another attempt can follow one with an unobserved end.
	Restartable bool `json:"restartable,omitempty"`
	// Agreed is the agreement about the deadline; nil for none.
	Agreed *Agreement `json:"agreed,omitempty"`
	// Into is the reservation in which the job runs; "" for none.
	Into batch.JobID `json:"into,omitempty"`
	// Bound is true if the job stays at this site for a reason other than Agreed and Into.
	Bound bool `json:"bound,omitempty"`
	// After is true if the job waited for dependencies here, which its estimate did not include.
	After   bool     `json:"after,omitempty"`
	Retries *Retries `json:"retries,omitempty"`
}

// Dossier is what a job brings along. It is written once and planning does not need it, so that a
// driver can keep it on disk only.
type Dossier struct {
	Request  Request `json:"request"`
	Decision []byte  `json:"decision,omitempty"` // why the job is here, as the client sent it; opaque
}

// Run describes the execution of a job.
type Run struct {
	Nodes   []string               `json:"nodes,omitempty"`
	Places  []batch.NodeAllocation `json:"places,omitempty"`
	Launch  batch.Launch           `json:"launch,omitempty"` // how many processes are launched
	Outcome batch.Outcome          `json:"outcome,omitzero"`
	Outputs []Output               `json:"outputs,omitempty"`
}

// Output is a file that a job wrote.
type Output struct {
	Argument string `json:"argument"`
	Size     int64  `json:"size"`
	SHA256   string `json:"sha256,omitempty"` // empty if it could not be computed
	// Layout describes the block of a vector or matrix; zero if the file has another size.
	Layout catalogue.Layout `json:"layout,omitzero"`
	Data   string           `json:"data,omitempty"` // the handle under which it stays; "" for none
}

// Outcome returns how the job ended, the zero Outcome before its end.
func (j *Job) Outcome() batch.Outcome {
	if j.Run == nil {
		return batch.Outcome{}
	}
	return j.Run.Outcome
}

// Key names the present attempt of the job to the batch system.
func (j *Job) Key() batch.Key { return batch.Key{Job: j.ID, Epoch: j.Under, Attempt: j.Attempt} }

// tombstone reports whether only what later messages need is left of a job.
func (j *Job) tombstone() bool {
	return !j.Kept && (j.State == Absent || j.State.Final()) && (j.State != Gone || j.Transit.Acked)
}

// needsOf returns the needs of a new job. Spec is its inverse.
func needsOf(spec *batch.Job) *Needs {
	return &Needs{
		Origin: spec.Origin, Memory: spec.Memory, CPU: spec.CPU, Licenses: spec.Licenses,
		EarliestStart: spec.EarliestStart, Deadline: spec.Deadline, InputSite: spec.Site, Input: spec.Input,
		Reference: spec.Reference, Resident: spec.Resident,
	}
}

// Spec returns the job for the batch system, which owns it from then on.
func (j *Job) Spec() *batch.Job {
	n := j.Needs
	return &batch.Job{
		Shape: batch.Shape{Width: j.Shape.Width, Walltime: j.left()}, Done: j.past().Done,
		Origin: n.Origin, Memory: n.Memory, CPU: n.CPU, Licenses: n.Licenses,
		EarliestStart: n.EarliestStart, Deadline: n.Deadline,
		Agreed: n.Agreed != nil, Checkpoint: n.Agreed != nil && n.Agreed.Checkpoint,
		Owner: j.Owner, Name: j.Service, Site: n.InputSite, Input: n.Input,
		Reference: n.Reference, Resident: n.Resident,
	}
}

// movable reports whether a waiting job can be held and moved. Jobs of local users and bound jobs
// cannot.
func (j *Job) movable() bool { return j.Needs != nil && j.Needs.Origin == batch.Grid && !j.Bound() }

// run replaces j.Run by a copy, which can be changed until the job is handed out.
func (j *Job) run() *Run {
	r := &Run{}
	if j.Run != nil {
		*r = *j.Run
	}
	j.Run = r
	return r
}

func unknownJob(id batch.JobID) *problem.Problem {
	return &problem.Problem{
		Reason: problem.UnknownJob, Field: "job_id", Accepted: "a job of this site",
		Message: fmt.Sprintf("no job %q at this site", id),
	}
}

// book holds all jobs that are in memory.
type book struct {
	byID   map[batch.JobID]*Job
	order  []*Job // in order of arrival; nil where a job was removed
	holes  int    // nil entries of order
	seq    uint64 // last Order that was assigned
	serial uint64 // last Serial that was assigned
	load   Load
	// awaited holds the jobs that wait for a job, by the ID of that job.
	awaited map[batch.JobID]map[*Job]struct{}
	timers  timers
}

// add adds a job. A job without an Order gets the next one.
func (b *book) add(j *Job) {
	b.serial++
	j.index, j.Serial = int32(len(b.order)), b.serial
	b.byID[j.ID] = j
	b.order = append(b.order, j)
	if j.Order == 0 {
		j.Order = b.next()
	}
	b.seq = max(b.seq, j.Order)
}

// after returns the jobs that arrived after the one with a Serial, with holes.
func (b *book) after(serial uint64) []*Job {
	low, high := 0, len(b.order)
	for low < high {
		mid := (low + high) / 2
		at := mid
		for at < high && b.order[at] == nil {
			at++
		}
		if at < high && b.order[at].Serial <= serial {
			low = at + 1
		} else {
			high = mid
		}
	}
	return b.order[low:]
}

func (b *book) next() uint64 {
	b.seq++
	return b.seq
}

// remove removes a job. It compacts order when more than half of it is empty, which costs constant
// time on average.
func (b *book) remove(j *Job) {
	delete(b.byID, j.ID)
	b.order[j.index] = nil
	b.holes++
	if 2*b.holes <= len(b.order) {
		return
	}
	kept := b.order[:0]
	for _, j := range b.order {
		if j != nil {
			j.index = int32(len(kept))
			kept = append(kept, j)
		}
	}
	clear(b.order[len(kept):])
	b.order, b.holes = kept, 0
}
