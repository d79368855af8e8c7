package site

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Transit is the state of a job's moves and rounds.
type Transit struct {
	Peer     string         `json:"peer,omitempty"`     // target in MOVING, YIELDING and GONE; source in INCOMING
	Round    string         `json:"round,omitempty"`    // round that holds the job out of the plan
	Lease    batch.Duration `json:"lease,omitempty"`    // of that round
	MinGain  batch.Duration `json:"min_gain,omitempty"` // of the present move
	Since    batch.Time     `json:"since,omitempty"`    // start of MOVING or INCOMING
	Stay     batch.Time     `json:"stay,omitempty"`     // in MOVING: the job's end here without the move; 0 if unknown
	Expected batch.Time     `json:"expected,omitempty"` // the job's end at its source, on this clock; 0 if unknown
	Idle     bool           `json:"idle,omitempty"`     // INCOMING for so long that it takes no capacity
	Quoted   batch.Time     `json:"quoted,omitempty"`   // time of the estimate here, for a moved job
	Placed   bool           `json:"placed,omitempty"`   // a round has changed its position in the plan since then
	Gone     uint32         `json:"gone,omitempty"`     // last epoch that was committed here; 0 for none
	GoneTo   string         `json:"gone_to,omitempty"`
	Acked    bool           `json:"acked,omitempty"` // the target of Gone has confirmed
	// Assigned holds the result of every epoch that this site assigned, in ascending order: one
	// element for each stay of the job here.
	Assigned []Verdict `json:"assigned,omitempty"`
	// Moves holds the moves that brought the job here and those tried from here, oldest first; at
	// most maxMoves.
	Moves []Move `json:"moves,omitempty"`
}

// Verdict is the result of consecutive epochs, assigned to moves that were tried one after the
// other. All but the last were aborted. The last one may be undecided, as the job's state tells.
type Verdict struct {
	First     uint32 `json:"first"`
	Epoch     uint32 `json:"epoch"` // the last epoch
	Committed bool   `json:"committed,omitempty"`
}

// assign records the epoch of a new move.
func (t *Transit) assign(epoch uint32) {
	v := Verdict{First: epoch, Epoch: epoch}
	t.Assigned = slices.Clone(t.Assigned)
	if n := len(t.Assigned); n > 0 && t.Assigned[n-1].Epoch == epoch-1 && !t.Assigned[n-1].Committed {
		v.First = t.Assigned[n-1].First
		t.Assigned = t.Assigned[:n-1]
	}
	t.Assigned = append(t.Assigned, v)
}

// decide records whether the last assigned epoch was committed.
func (t *Transit) decide(committed bool) {
	t.Assigned = slices.Clone(t.Assigned)
	t.Assigned[len(t.Assigned)-1].Committed = committed
}

// MoveState is the state of a move.
type MoveState uint8

// The states.
const (
	MovePending MoveState = iota + 1
	MoveCommitted
	MoveAborted
)

// Move is one attempt to move a job to another site. Times are on this site's clock.
type Move struct {
	From    string         `json:"from"`
	To      string         `json:"to"`
	Epoch   uint32         `json:"epoch"`
	State   MoveState      `json:"state"`
	Ordered batch.Time     `json:"ordered"`
	Settled batch.Time     `json:"settled,omitempty"`
	Reason  string         `json:"reason,omitempty"`
	Agent   string         `json:"agent,omitempty"`
	Why     string         `json:"why,omitempty"` // why it was aborted, or what the operator who settled it says
	MinGain batch.Duration `json:"min_gain,omitempty"`
	// Predicted and Realized are nil if they are unknown.
	Predicted *batch.Duration `json:"predicted,omitempty"`
	Realized  *batch.Duration `json:"realized,omitempty"`
}

// maxMoves limits the history that a job carries along. The oldest moves are dropped.
const maxMoves = 64

// transit replaces j.Transit by a copy, which can be changed until the job is handed out. Its
// slices must be replaced, not changed.
func (j *Job) transit() *Transit {
	t := &Transit{}
	if j.Transit != nil {
		*t = *j.Transit
	}
	j.Transit = t
	return t
}

// note changes the last move of the history.
func (t *Transit) note(f func(*Move)) {
	if len(t.Moves) == 0 {
		return
	}
	t.Moves = slices.Clone(t.Moves)
	f(&t.Moves[len(t.Moves)-1])
}

// begin adds a move to the history.
func (t *Transit) begin(m Move) {
	old := t.Moves
	if len(old) >= maxMoves {
		old = old[len(old)-maxMoves+1:]
	}
	t.Moves = append(slices.Clone(old), m)
}

// verdict returns a source's answer about an epoch. An epoch that was never assigned here is
// Pending, which proves nothing. j may be nil.
func (j *Job) verdict(epoch uint32) MessageKind {
	if j == nil || j.Transit == nil {
		return Pending
	}
	i, _ := slices.BinarySearchFunc(j.Transit.Assigned, epoch, func(v Verdict, e uint32) int {
		return cmp.Compare(v.Epoch, e)
	})
	if i == len(j.Transit.Assigned) || epoch < j.Transit.Assigned[i].First {
		return Pending
	}
	switch v := j.Transit.Assigned[i]; {
	case v.Committed && v.Epoch == epoch:
		return Committed
	case j.Epoch == epoch && (j.State == Moving || j.State == Yielding):
		return Pending
	}
	return Aborted
}

// MovedTo returns the target of a job that is Gone, "" for other jobs.
func (j *Job) MovedTo() string {
	if j.State != Gone {
		return ""
	}
	return j.Transit.GoneTo
}

// Moves returns the history of a job's moves, oldest first.
func (j *Job) Moves() []Move {
	if j.Transit == nil {
		return nil
	}
	return j.Transit.Moves
}
