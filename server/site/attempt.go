package site

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Starting says that the batch system is about to launch the attempt. Only when
// what it answers without an error is durable may the attempt be launched: the
// job may have been cancelled or handed over meanwhile. With the places that it
// has, a server that is killed before it hears of its running can adopt it: of an
// attempt that is launched once more, because its node was gone, they are the new ones.
func (s *Site) Starting(now batch.Time, key batch.Key, places ...batch.NodeAllocation) (Job, error) {
	j, err := s.attempt(key)
	if err != nil {
		return Job{}, err
	}
	if j.State == Cancelling && !j.busy || len(j.Awaits()) > 0 { // the claim is on its way; its time has not come
		return *j, &TransitionError{Job: j.ID, State: j.State, Event: OnStarting}
	}
	note := func() {
		if len(places) > 0 {
			r := j.run()
			r.Nodes, r.Places, r.Launch = s.namesOf(places), slices.Clone(places), s.launchOf(j.Service)
		}
	}
	if j.State == Starting && len(places) > 0 && (j.Run == nil || !slices.Equal(j.Run.Places, places)) {
		s.change(j, note)
	}
	return s.happen(now, j, OnStarting, note)
}

// Unlaunched says that nothing was sent of a launch that Starting has let begin, and
// never will be: the attempt waits in the batch system as it did before, and may be
// moved again.
func (s *Site) Unlaunched(key batch.Key) error {
	j, err := s.attempt(key)
	if err == nil && j.State == Starting {
		s.change(j, func() { j.State, j.busy, j.Run = Waiting, false, nil })
	}
	return err
}

// namesOf names the nodes of places, each once, so that they are known where another
// life of the server numbers them otherwise.
func (s *Site) namesOf(places []batch.NodeAllocation) []string {
	var names []string
	for _, l := range places {
		if l.Node < 0 || int(l.Node) >= len(s.config.Platform.Nodes) {
			continue // the batch system's own matter
		}
		if name := s.config.Platform.Nodes[l.Node].Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// launchOf says how often programs of a service are started.
func (s *Site) launchOf(name string) batch.Launch {
	if s.config.Catalogue == nil {
		return batch.LaunchOnce
	}
	service, err := s.config.Catalogue.Service(name)
	if err != nil {
		return batch.LaunchOnce
	}
	return service.Launch
}

// Running says that the attempt has begun to run at now.
func (s *Site) Running(now batch.Time, key batch.Key, nodes []string, places []batch.NodeAllocation) (Job, error) {
	j, err := s.attempt(key)
	if err != nil {
		return Job{}, err
	}
	return s.happen(now, j, OnRunning, func() {
		r := j.run()
		r.Nodes, r.Places = slices.Clone(nodes), slices.Clone(places)
		j.Started = now
	})
}

// Ended says that the attempt ended at now, and what it has written. A batch
// system's refusal to queue it is an end as well: batch.EndStartFailed. After
// batch.EndNeverRan the job waits again and gets another attempt, and so it does
// after batch.EndLost if it may be executed twice, or has a checkpoint to go on from;
// Config.Attempts bounds that. After
// batch.EndStopped another attempt goes on from where this one was, and after
// batch.EndFailed one is made anew if the request wants it.
func (s *Site) Ended(now batch.Time, key batch.Key, outcome batch.Outcome, outputs []Output) (Job, error) {
	j, err := s.attempt(key)
	if err != nil {
		return Job{}, err
	}
	e := eventOf(outcome)
	lives := j.State == Waiting || j.State == Held || j.State == Moving || j.State == Starting || j.State == Running
	again := (e == OnNeverRan || e == OnLost && j.resumable()) && j.Vain+1 < s.config.Attempts
	switch {
	case e == OnStopped && (lives || j.State == Cancelling):
		return s.stopped(now, j, lives, outcome, outputs)
	case lives && again:
		s.change(j, func() { j.Vain++ })
		s.requeue(now, j)
		return *j, nil
	case e == OnFailed && j.mayRetry(outcome) && s.retriable(now, j, lives):
		s.retry(now, j)
		return *j, nil
	case lives && e == OnNeverRan:
		e = OnFailed
	case j.State == Cancelling && !j.busy && e == OnNeverRan: // the claim is on its way
		return *j, nil
	}
	return s.end(now, j, e, outcome, outputs)
}

// end notes how a job has ended.
func (s *Site) end(now batch.Time, j *Job, e Event, outcome batch.Outcome, outputs []Output) (Job, error) {
	return s.happen(now, j, e, func() {
		r := j.run()
		r.Outcome, r.Outputs = outcome, outputs
		j.Ended = now
		if e == OnDone { // what failed has gained nothing
			s.realize(now, j)
		}
	})
}

// requeue lets a job whose attempt came to nothing wait for another one.
func (s *Site) requeue(now batch.Time, j *Job) {
	s.leave(now, j, "it has to be launched again")
	s.change(j, func() {
		j.State, j.busy = Waiting, false
		j.Attempt = s.attemptAfter(j.ID, j.Under, j.Attempt)
		j.Started, j.Run = batch.Never, nil
	})
	if len(j.Awaits()) > 0 {
		s.change(j, func() { j.State = Held })
		s.hold(j)
		return
	}
	s.plan(batch.CmdSubmit, j)
}

// attempt returns the job of a key, or a *problem.Problem unless it is the job's present
// attempt.
func (s *Site) attempt(key batch.Key) (*Job, error) {
	j := s.book.byID[key.Job]
	if j == nil || !j.Kept || j.Key() != key {
		return nil, unknownJob(key.Job)
	}
	return j, nil
}

// happen applies an event of the batch system. The error is a *TransitionError,
// and the job is then as it was.
func (s *Site) happen(now batch.Time, j *Job, e Event, note func()) (Job, error) {
	to := next(j.State, e)
	switch {
	case to == misfit:
		return *j, &TransitionError{Job: j.ID, State: j.State, Event: e}
	case to == j.State && !(to == Cancelling && !j.heard(e)):
		return *j, nil
	}
	s.leave(now, j, "it has started")
	if len(j.Awaits()) > 0 { // whatever has brought that about
		s.await(j, nil)
	}
	s.change(j, func() {
		if note != nil {
			note()
		}
		j.State = to
		j.busy = e == OnStarting || e == OnRunning
		j.Cancel = j.Cancel && !to.Final()
	})
	switch {
	case to.Final():
		s.book.load.Ended++
		s.learn(j)
		s.judge(j)
		s.tellAfter(now, Told{j.ID, to})
	case to == Running && j.Cancel: // recorded while it was being handed over
		s.kill(j)
	}
	return *j, nil
}

// leave ends what a round or a move wanted of a job. The caller sets its new
// state.
func (s *Site) leave(now batch.Time, j *Job, why string) {
	if j.State == Moving || j.State == Yielding {
		s.abort(now, j, why)
	}
	if j.Transit != nil && j.Transit.Round != "" {
		s.change(j, func() { j.transit().Round = "" })
	}
	s.arm(j, batch.Never)
}

// heard says whether a job that is being cancelled was already known to have
// come so far.
func (j *Job) heard(e Event) bool {
	if e == OnStarting {
		return j.busy
	}
	return j.Started != batch.Never
}

// Claimed answers a claim: won means that the attempt has not been launched and
// never will be; otherwise it has, and the batch system says what becomes of it.
func (s *Site) Claimed(now batch.Time, key batch.Key, won bool) {
	j, err := s.attempt(key)
	if err != nil {
		return // it was answered before
	}
	switch {
	case j.State == Yielding && won && !j.Cancel:
		s.commit(now, j)
	case j.State == Yielding && won:
		s.leave(now, j, "it was cancelled")
		s.cancelled(now, j, "")
	case j.State == Yielding:
		s.leave(now, j, "it has started")
		s.change(j, func() { j.State, j.busy = Starting, true })
		if j.Cancel {
			s.kill(j)
		}
	case j.State == Cancelling && won && !j.busy:
		s.cancelled(now, j, "")
	case j.State == Cancelling && !won:
		if !j.busy { // unless it was heard to run before
			s.change(j, func() { j.busy = true })
		}
		s.command(batch.CmdCancel, j.Key())
	}
}

// stay is one stay of a job at a site: attempts are counted within it.
type stay struct {
	job   batch.JobID
	under uint32 // epoch
}

// Void says that a batch system which has outlived its core has seen an attempt
// that this core knows nothing of: the commit that made it has failed. Its name is
// used up, as the batch system may still have something to tell of it: attempts of
// that stay take higher numbers.
func (s *Site) Void(key batch.Key) {
	if s.voided == nil {
		s.voided = make(map[stay]uint32)
	}
	at := stay{key.Job, key.Epoch}
	s.voided[at] = max(s.voided[at], key.Attempt)
}

// attemptAfter returns the number of the attempt that follows one, 0 for none.
func (s *Site) attemptAfter(id batch.JobID, under, attempt uint32) uint32 {
	return max(attempt, s.voided[stay{id, under}]) + 1
}

// Measured is what was found out of the tasks of a job while they ran.
type Measured struct {
	CPU    batch.Share `json:"cpu"`              // that each needs, 1..batch.One
	Memory int64       `json:"memory,omitempty"` // that one used at most, bytes
}

// Measured notes what was found out of the attempt's tasks. It stays when another attempt
// follows, which runs the same. What it is told of other attempts it does not note.
func (s *Site) Measured(key batch.Key, m Measured) {
	j, err := s.attempt(key)
	if err != nil || j.Measured != nil && *j.Measured == m || m.wrong() != "" {
		return
	}
	s.change(j, func() { j.Measured = &m })
}

// wrong says what about it cannot be.
func (m Measured) wrong() string {
	if m.CPU < 1 || m.CPU > batch.One || m.Memory < 0 {
		return fmt.Sprintf("a measured need of %d/%d of a processor and %d bytes", m.CPU, batch.One, m.Memory)
	}
	return ""
}
