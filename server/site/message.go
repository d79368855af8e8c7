package site

import "github.com/seed-9b8f70bb/drover/batch"

// MessageKind says what a Message between two sites is.
type MessageKind uint8

// The messages of a move from a source to a target, and their answers.
const (
	Reserve    MessageKind = iota + 1 // source to target: give the job a place where it cannot start
	Reserved                          // it has one
	Refused                           // the target will not have it
	Confirm                           // source to target: the job is yours
	Confirmed                         // it is
	Drop                              // source to target: the job has stayed
	Dropped                           // noted
	Resolve                           // target to source: what became of this move?
	Pending                           // nothing yet, or nothing is known here: ask again
	Aborted                           // the job has stayed
	Committed                         // the job is yours
	Superseded                        // a higher epoch was seen: acknowledges a Confirm, refuses a Reserve
)

var messageNames = [...]string{
	Reserve: "reserve", Reserved: "reserved", Refused: "refused", Confirm: "confirm", Confirmed: "confirmed",
	Drop: "drop", Dropped: "dropped", Resolve: "resolve", Pending: "pending", Aborted: "aborted", Committed: "committed",
	Superseded: "superseded",
}

// String returns the kind in lower case.
func (k MessageKind) String() string {
	if int(k) < len(messageNames) && messageNames[k] != "" {
		return messageNames[k]
	}
	return "unspecified"
}

// Message is what one site tells another about one attempt to move a job. It may
// be lost, doubled, late and out of order.
type Message struct {
	Kind  MessageKind
	From  string // site
	To    string // site
	Job   batch.JobID
	Epoch uint32

	Parcel     *Parcel        // of Reserve
	Shape      batch.Shape    // of Reserved: what it would get
	Completion batch.Duration // of Reserved: from now to its end
	Why        string         // of Refused
}

// Parcel is a job on its way. It belongs to the receiver.
type Parcel struct {
	// Dossier is nil in a message of the core's that has shed it: the driver
	// attaches it when it sends the message.
	Dossier *Dossier
	Sent    batch.Time     // on the sender's clock, like the times of the moves
	Age     batch.Duration // since its first submission
	Present batch.Duration // from now to its end, if it stayed; Forever: not known
	Moves   []Move         // those before, oldest first, and this one
	Retried uint8          // see Job
}

// Receive takes a message from another site. A question gets its answer back;
// for an answer, reply is false. Plan is asked on behalf of a Reserve, and of
// Reserved, about the job that waits.
//
// A message whose effects cannot be made durable must not be answered.
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
		s.hear(now, j, m, plan)
		return Message{}, false
	}
	return answer, answer.Kind != 0
}

// hear takes an answer. One that belongs to another epoch or another state than
// the job's is old, and ignored.
func (s *Site) hear(now batch.Time, j *Job, m *Message, plan Plan) {
	if j == nil || j.Transit == nil {
		return
	}
	t := j.Transit
	switch {
	case j.State == Moving && j.Epoch == m.Epoch && t.Peer == m.From:
		switch m.Kind {
		case Reserved:
			s.weigh(now, j, m, plan)
		case Refused:
			s.giveUp(now, j, "refused: "+m.Why)
		case Superseded:
			s.giveUp(now, j, "the target has seen a later move")
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
			s.arrive(now, j)
		}
	}
}
