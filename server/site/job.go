package site

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// Job is what a site knows of a job. The site hands out copies; what they point
// to is not changed any more, by nobody.
type Job struct {
	ID      batch.JobID
	State   State
	Epoch   uint32 // the highest move that this site knows of
	Under   uint32 // the epoch under which this site got it
	Attempt uint32 // counts launches under that, from 1

	Cancel    bool // a cancel is recorded, and not yet answered
	Withdrawn bool // it is never accepted by Submit here
	Kept      bool // the dossier and the files are here: false of a tombstone

	// These stand here because there is room: it makes a job 16 bytes smaller.
	busy  bool  // holds processors
	dirty bool  // changed since the last Take
	fresh bool  // its dossier was not written yet
	tries uint8 // of the message that is repeated now

	// Vain is how many of its attempts in a row have come to nothing, see
	// Config.Attempts.
	Vain    uint32
	Retried uint8 // how often it was started once more after it had failed

	agreement AgreementState

	Service   string
	Owner     string
	Shape     batch.Shape // what it got
	Needs     *Needs      // nil of a tombstone
	Dossier   *Dossier    // nil where the driver has it, see Shed
	Order     uint64      // its place in the site's order: later ones have a higher one
	Submitted batch.Time  // on this site's clock; a job that was moved brings its age along
	Started   batch.Time  // Never before
	Ended     batch.Time  // Never before
	Estimate  Quote       // when it came to this site
	Run       *Run        // nil before it is launched
	Past      *Past       // nil of a job that was never stopped at a checkpoint
	Measured  *Measured   // nil of a job of whose tasks nothing was found out
	Transit   *Transit    // nil of a job that nobody has ever tried to move or hold
	Revision  uint64      // counts changes, from 1
	Serial    uint64      // its place in lists: as it came in, in this life of the site

	awaits      *[]Dependency // see Awaits
	fingerprint fingerprint   // of the request
	index       int32         // in the book
	slot        int32         // in the timers, from 1; 0: it has none
}

// Needs is what planners are told of a job beside its shape.
type Needs struct {
	Origin        batch.Origin    `json:"origin,omitempty"`
	Memory        int64           `json:"memory,omitempty"`
	CPU           batch.Share     `json:"cpu,omitempty"`
	Licenses      []batch.License `json:"licenses,omitempty"`
	EarliestStart batch.Time      `json:"earliest,omitempty"`
	Deadline      batch.Time      `json:"deadline,omitempty"`
	// Reference is the score of the machine on which the shape's walltime holds; 0: on all.
	Reference int32 `json:"reference,omitempty"`
	// Resident says that what is paused keeps its memory, and goes on where it was.
	Resident  bool   `json:"resident,omitempty"`
	InputSite string `json:"input_site,omitempty"`
	Input     int64  `json:"input,omitempty"`
	// Restartable says that an attempt whose end nobody saw may be followed by
	// another one.
	Restartable bool `json:"restartable,omitempty"`
	// Agreed is what was agreed on beside the deadline; nil for nothing.
	Agreed *Agreement `json:"agreed,omitempty"`
	// Into is the reservation in which it runs; "" for none.
	Into batch.JobID `json:"into,omitempty"`
	// Bound says that the job stays at this site for another reason.
	Bound bool `json:"bound,omitempty"`
	// After says that it has waited for other jobs here: its estimate was not about that.
	After   bool     `json:"after,omitempty"`
	Retries *Retries `json:"retries,omitempty"`
}

// Dossier is what a job brought along. It is written once and not needed for
// planning, so that a driver can keep it on disk alone.
type Dossier struct {
	Request  Request `json:"request"`
	Decision []byte  `json:"decision,omitempty"` // why it is here, as the client sent it; passed through
}

// Run is how a job was or is executed.
type Run struct {
	Nodes   []string               `json:"nodes,omitempty"`
	Places  []batch.NodeAllocation `json:"places,omitempty"`
	Launch  batch.Launch           `json:"launch,omitempty"` // how often it was started
	Outcome batch.Outcome          `json:"outcome,omitzero"`
	Outputs []Output               `json:"outputs,omitempty"`
}

// Output is a file that a job has written.
type Output struct {
	Argument string `json:"argument"`
	Size     int64  `json:"size"`
	SHA256   string `json:"sha256,omitempty"` // empty when it could not be computed
	// Of a vector or matrix what the block is, unless it has another size.
	Layout catalogue.Layout `json:"layout,omitzero"`
	Data   string           `json:"data,omitempty"` // the handle under which it stays; "" for none
}

// Outcome returns how the job ended; the zero Outcome before.
func (j *Job) Outcome() batch.Outcome {
	if j.Run == nil {
		return batch.Outcome{}
	}
	return j.Run.Outcome
}

// Key names the job's present attempt to the batch system.
func (j *Job) Key() batch.Key { return batch.Key{Job: j.ID, Epoch: j.Under, Attempt: j.Attempt} }

// tombstone says whether all that is left of a job is what later messages about
// it have to be answered from.
func (j *Job) tombstone() bool {
	return !j.Kept && (j.State == Absent || j.State.Final()) && (j.State != Gone || j.Transit.Acked)
}

// needsOf returns the needs that a new job has by its request and its service. Spec is
// its inverse.
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

// movable says whether a job may be held and moved while it waits: those of local
// users never are, nor those that are bound.
func (j *Job) movable() bool { return j.Needs != nil && j.Needs.Origin == batch.Grid && !j.Bound() }

// run returns a copy of j.Run that becomes the job's and may be changed until the
// job is handed out.
func (j *Job) run() *Run {
	r := &Run{}
	if j.Run != nil {
		*r = *j.Run
	}
	j.Run = r
	return r
}

func unknownJob(id batch.JobID) *problem.Problem {
	return &problem.Problem{Reason: problem.UnknownJob, Field: "job_id", Accepted: "a job of this site", Message: fmt.Sprintf("no job %q at this site", id)}
}

// book is all jobs that a site has in memory.
type book struct {
	byID   map[batch.JobID]*Job
	order  []*Job // as they came in; nil where one has left
	holes  int    // of order
	seq    uint64 // the last Order that was given
	serial uint64 // the last Serial that was given
	load   Load
	// awaited are those that wait for a job, by its ID.
	awaited map[batch.JobID]map[*Job]struct{}
	timers  timers
}

// add takes a job in, with an Order of its own or, if it has none, the next one.
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

func (b *book) next() uint64 {
	b.seq++
	return b.seq
}

// remove forgets a job. Closing the holes when they are more than half makes it
// cost a constant on average.
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
