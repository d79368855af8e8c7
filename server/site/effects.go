package site

import "github.com/seed-9b8f70bb/drover/batch"

// Effects is what calls of the core have led to. The driver makes the writes
// durable, all of them at once; only then it lets go of anything else: what the
// calls have returned, the commands, the claims and the messages. What was
// decided from a state that was lost with a crash must not be known to anybody.
//
// Plans are the exception. They put jobs into the plan of a batch system in which
// nothing runs before Starting has been answered, which is after the write, and
// may be carried out at once, so that the next estimate sees them. Elsewhere they
// come before the Commands.
type Effects struct {
	Writes   []Write
	Plans    []batch.Command // CmdSubmit and CmdReserve, with the CmdHold of what has no room in the plan, in order
	Commands []batch.Command // the others, in order
	Claims   []batch.Key     // to be made for the server; answer each with Claimed
	Messages []Message
	// Discard names jobs whose files are not needed any more.
	Discard []batch.JobID
	// Watch names jobs of other sites for which some here wait: Heard wants to know
	// how they end, as long as they are Awaited.
	Watch []batch.JobID
	// Reserved are reservations to be made durable with the records, Unreserved those
	// to be forgotten there.
	Reserved   []Reservation
	Unreserved []batch.JobID
}

// Write is a record to be made durable.
type Write struct {
	Record Record
	// Dossier is to be written with it; nil: there is one already, or none.
	Dossier *Dossier
	// Forget says that the dossier is to be dropped.
	Forget bool
	// Until is not 0 for a tombstone: the record leaves the site's memory and is to
	// be kept elsewhere until then, for Recall.
	Until batch.Time
}

// Ended says that the record is that of a job which has ended here, and is kept
// until Forget. It is written once.
func (w *Write) Ended() bool {
	state, _ := parseState(w.Record.State)
	return w.Record.Kept && state.Final() && state != Gone
}

// Left says that the record is that of a job which does nothing here any more: it has
// ended, or is at another site.
func (w *Write) Left() bool {
	state, _ := parseState(w.Record.State)
	return state.Final()
}

// Empty says whether there is nothing to be done.
func (e *Effects) Empty() bool {
	return len(e.Writes)+len(e.Plans)+len(e.Commands)+len(e.Claims)+len(e.Messages)+len(e.Discard)+len(e.Watch)+len(e.Reserved)+len(e.Unreserved) == 0
}

// Take moves what has gathered since the last call to out, whose memory it uses
// again.
func (s *Site) Take(now batch.Time, out *Effects) {
	out.Writes = out.Writes[:0]
	for _, j := range s.dirty {
		w := Write{Record: record(j)}
		if j.fresh {
			w.Dossier = j.Dossier
		}
		j.dirty, j.fresh = false, false
		if j.tombstone() {
			w.Until, w.Dossier, w.Forget = now.Add(Horizon), nil, true
			s.book.remove(j)
		}
		out.Writes = append(out.Writes, w)
	}
	for _, j := range s.recalled {
		if s.book.byID[j.ID] == j && j.tombstone() { // it was only asked about
			s.book.remove(j)
		}
	}
	s.dirty, s.recalled = s.dirty[:0], s.recalled[:0]
	s.reserved.take(out)
	out.Plans = append(out.Plans[:0], s.fx.Plans...)
	out.Commands = append(out.Commands[:0], s.fx.Commands...)
	out.Claims = append(out.Claims[:0], s.fx.Claims...)
	out.Messages = append(out.Messages[:0], s.fx.Messages...)
	out.Discard = append(out.Discard[:0], s.fx.Discard...)
	out.Watch = append(out.Watch[:0], s.fx.Watch...)
	clear(s.fx.Plans)
	clear(s.fx.Commands)
	clear(s.fx.Messages)
	s.fx = Effects{
		Plans: s.fx.Plans[:0], Commands: s.fx.Commands[:0], Claims: s.fx.Claims[:0],
		Messages: s.fx.Messages[:0], Discard: s.fx.Discard[:0], Watch: s.fx.Watch[:0],
	}
	if cap(s.fx.Plans) > mostKept { // those of a restart, which come once
		s.fx.Plans, s.dirty = nil, nil
	}
}

// mostKept bounds the plans whose memory is kept for the next ones.
const mostKept = 4096

// Plans moves the plans that have gathered to the end of dst: those of a batch
// system that takes them early.
func (s *Site) Plans(dst []batch.Command) []batch.Command {
	dst = append(dst, s.fx.Plans...)
	clear(s.fx.Plans)
	s.fx.Plans = s.fx.Plans[:0]
	return dst
}

// Shed lets go of a dossier that the driver has made durable.
func (s *Site) Shed(id batch.JobID) {
	if j := s.book.byID[id]; j != nil && !j.fresh {
		j.Dossier = nil
	}
}

// change edits a job: f sees it, may change it, and what it is counted as and
// written as follows.
func (s *Site) change(j *Job, f func()) {
	s.book.load.count(j, s.charge(j), -1)
	f()
	j.Revision++
	s.book.load.count(j, s.charge(j), +1)
	if !j.dirty {
		j.dirty = true
		s.dirty = append(s.dirty, j)
	}
}

func (s *Site) command(kind batch.CommandKind, key batch.Key) {
	s.fx.Commands = append(s.fx.Commands, batch.Command{Kind: kind, Key: key})
}

func (s *Site) plan(kind batch.CommandKind, j *Job) {
	s.fx.Plans = append(s.fx.Plans, batch.Command{Kind: kind, Key: j.Key(), Job: j.Spec(), Into: WindowKey(j.Needs.Into)})
}

func (s *Site) claim(j *Job) { s.fx.Claims = append(s.fx.Claims, j.Key()) }
