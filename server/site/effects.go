package site

import "github.com/seed-9b8f70bb/drover/batch"

// Effects collects the results of calls of the core. The driver makes all writes durable at once.
// Only then does it release the rest: the return values of the calls, commands, claims and
// messages. So nothing that a crash loses has been visible outside.
//
// Plans are an exception. They put jobs into the plan of a batch system that starts nothing before
// Starting is answered, which is after the write. They may be carried out at once, so that the next
// estimate counts these jobs. Other batch systems get them before the Commands.
type Effects struct {
	Writes   []Write
	Plans    []batch.Command // CmdSubmit, CmdReserve, and CmdHold for jobs without a slot; in order
	Commands []batch.Command // all others, in order
	Claims   []batch.Key     // claims that the server must try to win; report each with Claimed
	Messages []Message
	// Discard holds jobs with files that are no longer needed.
	Discard []batch.JobID
	// Watch holds jobs of other sites that jobs here wait for. The driver reports their ends to
	// UpdateRemote as long as they are Awaited.
	Watch []batch.JobID
	// Reserved holds reservations that become durable together with the records, Unreserved those
	// that are deleted.
	Reserved   []Reservation
	Unreserved []batch.JobID
}

// Write is a record to be made durable.
type Write struct {
	Record Record
	// Dossier is written with the record; nil if it exists already or there is none.
	Dossier *Dossier
	// Forget means that the dossier is deleted.
	Forget bool
	// Until is set for a tombstone. The site drops the record, and the driver keeps it until then
	// for Recall.
	Until batch.Time
}

// Ended reports whether the record is of a job that ended here and is kept until Forget. It is
// written once.
func (w *Write) Ended() bool {
	state, _ := parseState(w.Record.State)
	return w.Record.Kept && state.Final() && state != Gone
}

// Left reports whether the job does nothing more here: it has ended or is at another site.
func (w *Write) Left() bool {
	state, _ := parseState(w.Record.State)
	return state.Final()
}

// Empty reports whether there are no effects.
func (e *Effects) Empty() bool {
	return len(e.Writes)+len(e.Plans)+len(e.Commands)+len(e.Claims)+len(e.Messages)+len(e.Discard)+len(e.Watch)+len(
		e.Reserved,
	)+len(e.Unreserved) == 0
}

// Take moves the effects since the last call to out and reuses the memory of out.
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
		if s.book.byID[j.ID] == j && j.tombstone() { // nothing but a query
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
	if cap(s.fx.Plans) > maxReusedPlans { // those of a restart
		s.fx.Plans, s.dirty = nil, nil
	}
}

// maxReusedPlans is the largest buffer of plans that is reused.
const maxReusedPlans = 4096

// Plans appends the plans since the last call to dst, for a batch system that gets them before the
// write.
func (s *Site) Plans(dst []batch.Command) []batch.Command {
	dst = append(dst, s.fx.Plans...)
	clear(s.fx.Plans)
	s.fx.Plans = s.fx.Plans[:0]
	return dst
}

// ReleaseDossier drops a dossier from memory after the driver made it durable.
func (s *Site) ReleaseDossier(id batch.JobID) {
	if j := s.book.byID[id]; j != nil && !j.fresh {
		j.Dossier = nil
	}
}

// change applies f to a job and updates the load, the revision and the list of changed jobs.
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
	s.fx.Plans = append(s.fx.Plans, batch.Command{
		Kind: kind, Key: j.Key(), Job: j.Spec(), Into: WindowKey(j.Needs.Into),
	})
}

func (s *Site) claim(j *Job) { s.fx.Claims = append(s.fx.Claims, j.Key()) }
