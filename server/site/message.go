package site

import "github.com/seed-9b8f70bb/drover/batch"

// MessageKind is the kind of a message between two sites.
type MessageKind uint8

// The messages of a move from a source to a target, and their answers.
const (
	Reserve    MessageKind = iota + 1 // source to target: reserve a slot in which the job cannot start yet
	Reserved                          // the job has a slot
	Refused                           // the target does not accept the job
	Confirm                           // source to target: the job is yours
	Confirmed                         // the target has the job
	Drop                              // source to target: the move was aborted
	Dropped                           // acknowledges Drop
	Resolve                           // target to source: what is the result of this move?
	Pending                           // undecided, or unknown: ask again
	Aborted                           // the job stayed at the source
	Committed                         // the job belongs to the target
	Superseded                        // a higher epoch was seen: acknowledges a Confirm, refuses a Reserve
)

var messageNames = [...]string{
	Reserve: "reserve", Reserved: "reserved", Refused: "refused", Confirm: "confirm", Confirmed: "confirmed",
	Drop: "drop", Dropped: "dropped", Resolve: "resolve", Pending: "pending", Aborted: "aborted",
	Committed:  "committed",
	Superseded: "superseded",
}

// String returns the kind in lower case.
func (k MessageKind) String() string {
	if int(k) < len(messageNames) && messageNames[k] != "" {
		return messageNames[k]
	}
	return "unspecified"
}

// Message is about one attempt to move a job. It may be lost, duplicated, delayed or reordered.
type Message struct {
	Kind  MessageKind
	From  string // site
	To    string // site
	Job   batch.JobID
	Epoch uint32

	Parcel     *Parcel        // in Reserve
	Shape      batch.Shape    // in Reserved: the shape at the target
	Completion batch.Duration // in Reserved: from now to the end
	Why        string         // in Refused
}

// Parcel is a job that moves. It belongs to the receiver.
type Parcel struct {
	// Dossier is nil if the core has released it; the driver adds it when it sends the message.
	Dossier *Dossier
	Sent    batch.Time     // on the sender's clock, like the times of Moves
	Age     batch.Duration // since its first submission
	Present batch.Duration // from now to its end at the source; Forever if unknown
	Moves   []Move         // earlier moves, oldest first, and this one
	Retried uint8          // see Job.Retried
}

// Receive handles a message from another site. If reply is true, answer must be sent back; messages
// that are answers need no reply. plan estimates the slot for a Reserve, and for Reserved the slot
// of the job that waits here.
//
// A driver must not send the answer to a message with effects that it could not make durable.
func (s *Site) Receive(now batch.Time, m *Message, plan Plan) (answer Message, reply bool) {
	answer = Message{From: s.config.Name, To: m.From, Job: m.Job, Epoch: m.Epoch}
	j := s.book.byID[m.Job]
	switch m.Kind {
	case Reserve:
		s.reserve(now, j, m, &answer, plan)
	case Confirm:
		answer.Kind = s.confirmed(now, j, m)
	case Drop:
		answer.Kind = Dropped
		if j != nil && j.State == Incoming && j.Epoch == m.Epoch && j.Transit.Peer == m.From {
			s.drop(j)
		}
	case Resolve:
		answer.Kind = j.verdict(m.Epoch)
	default:
		s.receiveAnswer(now, j, m, plan)
		return Message{}, false
	}
	return answer, answer.Kind != 0
}

// receiveAnswer handles an answer. It ignores an old one, which has another epoch or does not fit
// the job's state.
func (s *Site) receiveAnswer(now batch.Time, j *Job, m *Message, plan Plan) {
	if j == nil || j.Transit == nil {
		return
	}
	t := j.Transit
	switch {
	case j.State == Moving && j.Epoch == m.Epoch && t.Peer == m.From:
		switch m.Kind {
		case Reserved:
			s.decideMove(now, j, m, plan)
		case Refused:
			s.abortAndWait(now, j, "refused: "+m.Why)
		case Superseded:
			s.abortAndWait(now, j, "the target has seen a later move")
		}
	case j.State == Gone && t.Gone == m.Epoch && t.Peer == m.From && !t.Acked:
		if m.Kind == Confirmed || m.Kind == Superseded {
			s.acknowledged(j)
		}
	case j.State == Incoming && j.Epoch == m.Epoch && t.Peer == m.From:
		switch m.Kind {
		case Aborted:
			s.drop(j)
		case Committed:
			s.takeOver(now, j)
		}
	}
}
