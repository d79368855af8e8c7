package site

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Transit is what is known of a job's moves.
type Transit struct {
	Peer     string         `json:"peer,omitempty"`     // MOVING, YIELDING, GONE: the target; INCOMING: the source
	Round    string         `json:"round,omitempty"`    // of the Hold that keeps it out of the plan
	Lease    batch.Duration `json:"lease,omitempty"`    // of that round
	MinGain  batch.Duration `json:"min_gain,omitempty"` // of the move under way
	Since    batch.Time     `json:"since,omitempty"`    // of MOVING, INCOMING
	Stay     batch.Time     `json:"stay,omitempty"`     // MOVING: its end here if it stays; 0: not known
	Expected batch.Time     `json:"expected,omitempty"` // its end at the site that it came from, on this clock; 0: not known
	Idle     bool           `json:"idle,omitempty"`     // INCOMING for so long that it takes no capacity
	Quoted   batch.Time     `json:"quoted,omitempty"`   // when it was estimated here, of a job that came by a move
	Placed   bool           `json:"placed,omitempty"`   // a round has put it elsewhere in the plan since
	Gone     uint32         `json:"gone,omitempty"`     // the last epoch that was committed here; 0: none
	GoneTo   string         `json:"gone_to,omitempty"`
	Acked    bool           `json:"acked,omitempty"` // the target of that has confirmed
	// Assigned is what became of every epoch that was ever assigned here, ascending:
	// one element for each time that the job was here.
	Assigned []Verdict `json:"assigned,omitempty"`
	// Moves are those that brought the job here and those tried from here, oldest
	// first; at most mostMoves.
	Moves []Move `json:"moves,omitempty"`
}

// Verdict is what became of epochs that were assigned here in a row, for moves
// tried one after the other: all but the last came to nothing. The last one may
// not be decided yet: that is told by the job's state.
type Verdict struct {
	First     uint32 `json:"first"`
	Epoch     uint32 `json:"epoch"` // the last one
	Committed bool   `json:"committed,omitempty"`
}

// assign notes that an epoch was given to a move from here.
func (t *Transit) assign(epoch uint32) {
	v := Verdict{First: epoch, Epoch: epoch}
	t.Assigned = slices.Clone(t.Assigned)
	if n := len(t.Assigned); n > 0 && t.Assigned[n-1].Epoch == epoch-1 && !t.Assigned[n-1].Committed {
		v.First = t.Assigned[n-1].First
		t.Assigned = t.Assigned[:n-1]
	}
	t.Assigned = append(t.Assigned, v)
}

// decide notes whether the last epoch that was assigned was committed.
func (t *Transit) decide(committed bool) {
	t.Assigned = slices.Clone(t.Assigned)
	t.Assigned[len(t.Assigned)-1].Committed = committed
}

// MoveState is how far a move has come.
type MoveState uint8

// The states of a move.
const (
	MovePending MoveState = iota + 1
	MoveCommitted
	MoveAborted
)

// Move is one attempt to bring a job to another site. Times are on this site's
// clock.
type Move struct {
	From    string         `json:"from"`
	To      string         `json:"to"`
	Epoch   uint32         `json:"epoch"`
	State   MoveState      `json:"state"`
	Ordered batch.Time     `json:"ordered"`
	Settled batch.Time     `json:"settled,omitempty"`
	Reason  string         `json:"reason,omitempty"`
	Agent   string         `json:"agent,omitempty"`
	Why     string         `json:"why,omitempty"` // it was aborted; or an operator's word
	MinGain batch.Duration `json:"min_gain,omitempty"`
	// Predicted and Realized are nil where nobody can say.
	Predicted *batch.Duration `json:"predicted,omitempty"`
	Realized  *batch.Duration `json:"realized,omitempty"`
}

// mostMoves bounds the history that a job carries along; the oldest go.
const mostMoves = 64

// transit returns a copy of j.Transit that becomes the job's and may be changed
// until the job is handed out. Slices in it are to be replaced, not changed.
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
	if len(old) >= mostMoves {
		old = old[len(old)-mostMoves+1:]
	}
	t.Moves = append(slices.Clone(old), m)
}

// verdict returns what a source answers about an epoch. Of one that it never
// assigned it knows nothing, which proves nothing. j may be nil.
func (j *Job) verdict(epoch uint32) MessageKind {
	if j == nil || j.Transit == nil {
		return Pending
	}
	i, _ := slices.BinarySearchFunc(j.Transit.Assigned, epoch, func(v Verdict, e uint32) int { return cmp.Compare(v.Epoch, e) })
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

// MovedTo returns the site to which a job that is Gone went.
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
