package site

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Starting reports that the batch system is about to launch the attempt. It may do so only after
// the result, without an error, is durable: the job may have been cancelled or handed over. With
// places, the allocation is recorded, so that a server that is killed before Running can adopt the
// attempt. An attempt that is launched again because its node failed has new places.
func (s *Site) Starting(now batch.Time, key batch.Key, places ...batch.NodeAllocation) (Job, error) {
	j, err := s.attempt(key)
	if err != nil {
		return Job{}, err
	}
	if j.State == Cancelling && !j.busy || len(j.Awaits()) > 0 { // the claim is pending, or a dependency has not ended
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
	return s.apply(now, j, OnStarting, note)
}

// Unlaunched reports that nothing was sent for a launch after Starting, and never will be. The
// attempt waits in the batch system as before and can be moved again.
func (s *Site) Unlaunched(key batch.Key) error {
	j, err := s.attempt(key)
	if err == nil && j.State == Starting {
		s.change(j, func() { j.State, j.busy, j.Run = Waiting, false, nil })
	}
	return err
}

// namesOf returns the names of the nodes of an allocation, each once. Names stay valid if nodes are
// numbered differently after a restart.
func (s *Site) namesOf(places []batch.NodeAllocation) []string {
	var names []string
	for _, l := range places {
		if l.Node < 0 || int(l.Node) >= len(s.config.Platform.Nodes) {
			continue // a node that only the batch system knows
		}
		if name := s.config.Platform.Nodes[l.Node].Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// launchOf returns how many processes of a service are launched.
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

// Running reports that the attempt started at now.
func (s *Site) Running(now batch.Time, key batch.Key, nodes []string, places []batch.NodeAllocation) (Job, error) {
	j, err := s.attempt(key)
	if err != nil {
		return Job{}, err
	}
	s.offer.noteLaunch(j.Service)
	return s.apply(now, j, OnRunning, func() {
		r := j.run()
		r.Nodes, r.Places = slices.Clone(nodes), slices.Clone(places)
		j.Started = now
	})
}

// Ended reports that the attempt ended at now, and what it wrote. If the batch system refuses to
// queue it, the end is batch.EndStartFailed. Another attempt follows after batch.EndNeverRan, and
// after batch.EndLost if the job is restartable or has a checkpoint; Config.Attempts limits their
// number, without those that the host could not launch. After batch.EndStopped another attempt
// continues from the checkpoint. After batch.EndFailed another attempt starts from the beginning if
// the request has retries left. An attempt whose program could not be executed is repeated, and its
// service withdrawn.
func (s *Site) Ended(now batch.Time, key batch.Key, outcome batch.Outcome, outputs []Output) (Job, error) {
	j, err := s.attempt(key)
	if err != nil {
		return Job{}, err
	}
	e := eventOf(outcome)
	lives := j.State == Waiting || j.State == Held || j.State == Moving || j.State == Starting || j.State == Running
	if s.config.Catalogue != nil {
		s.offer.noteEnd(now, j, outcome)
	}
	again := (e == OnNeverRan || outcome.NotExecutable || e == OnLost && j.resumable()) &&
		(outcome.HostFault || j.FailedAttempts+1 < s.config.Attempts)
	switch {
	case e == OnStopped && (lives || j.State == Cancelling):
		return s.stopped(now, j, lives, outcome, outputs)
	case lives && again:
		if !outcome.HostFault {
			s.change(j, func() { j.FailedAttempts++ })
		}
		s.requeue(now, j)
		return *j, nil
	case e == OnFailed && j.mayRetry(outcome) && s.retriable(now, j, lives):
		s.retry(now, j)
		return *j, nil
	case lives && e == OnNeverRan:
		e = OnFailed
	case j.State == Cancelling && !j.busy && e == OnNeverRan: // the claim is pending
		return *j, nil
	}
	return s.end(now, j, e, outcome, outputs)
}

// end records how a job ended.
func (s *Site) end(now batch.Time, j *Job, e Event, outcome batch.Outcome, outputs []Output) (Job, error) {
	return s.apply(now, j, e, func() {
		r := j.run()
		r.Outcome, r.Outputs = outcome, outputs
		j.Ended = now
		if e == OnDone { // a failed job gained nothing by its moves
			s.recordGain(now, j)
		}
	})
}

// requeue makes a job wait for another attempt.
func (s *Site) requeue(now batch.Time, j *Job) {
	s.endRoundAndMove(now, j, "it has to be launched again")
	s.change(j, func() {
		j.State, j.busy = Waiting, false
		j.Attempt = s.attemptAfter(j.ID, j.Under, j.Attempt)
		j.Started, j.Run = batch.Never, nil
	})
	if len(j.Awaits()) > 0 {
		s.change(j, func() { j.State = Held })
		s.holdForDependencies(j)
		return
	}
	s.plan(batch.CmdSubmit, j)
	if at := s.notBefore(now, j); at > 0 {
		job := s.fx.Plans[len(s.fx.Plans)-1].Job
		job.EarliestStart = max(job.EarliestStart, at)
	}
}

// attempt returns the job of a key. The error is a *problem.Problem if the key is not the job's
// present attempt.
func (s *Site) attempt(key batch.Key) (*Job, error) {
	j := s.book.byID[key.Job]
	if j == nil || !j.Kept || j.Key() != key {
		return nil, unknownJob(key.Job)
	}
	return j, nil
}

// apply applies an event of the batch system. The error is a *TransitionError; the job is then
// unchanged.
func (s *Site) apply(now batch.Time, j *Job, e Event, note func()) (Job, error) {
	to := next(j.State, e)
	switch {
	case to == noState:
		return *j, &TransitionError{Job: j.ID, State: j.State, Event: e}
	case to == j.State && !(to == Cancelling && !j.reached(e)):
		return *j, nil
	}
	s.endRoundAndMove(now, j, "it has started")
	if len(j.Awaits()) > 0 { // it has started or ended in spite of its dependencies
		s.setAwaits(j, nil)
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
		s.addSample(j)
		s.settleAgreement(j)
		s.notifyDependents(now, JobStatus{j.ID, to})
	case to == Running && j.Cancel: // recorded while the job was being handed over
		s.kill(j)
	}
	return *j, nil
}

// endRoundAndMove releases a job from its round and aborts its move. The caller sets the new state.
func (s *Site) endRoundAndMove(now batch.Time, j *Job, why string) {
	if j.State == Moving || j.State == Yielding {
		s.abort(now, j, why)
	}
	if j.Transit != nil && j.Transit.Round != "" {
		s.change(j, func() { j.transit().Round = "" })
	}
	s.arm(j, batch.Never)
}

// reached reports whether a job that is being cancelled was already known to have started (or, for
// OnStarting, to be launched).
func (j *Job) reached(e Event) bool {
	if e == OnStarting {
		return j.busy
	}
	return j.Started != batch.Never
}

// Claimed reports the result of a claim. If it was won, the attempt was not launched and never will
// be. Otherwise it was launched, and the batch system reports what becomes of it.
func (s *Site) Claimed(now batch.Time, key batch.Key, won bool) {
	j, err := s.attempt(key)
	if err != nil {
		return // already reported
	}
	switch {
	case j.State == Yielding && won && !j.Cancel:
		s.commit(now, j)
	case j.State == Yielding && won:
		s.endRoundAndMove(now, j, "it was cancelled")
		s.cancelled(now, j, "")
	case j.State == Yielding:
		s.endRoundAndMove(now, j, "it has started")
		s.change(j, func() { j.State, j.busy = Starting, true })
		if j.Cancel {
			s.kill(j)
		}
	case j.State == Cancelling && won && !j.busy:
		s.cancelled(now, j, "")
	case j.State == Cancelling && !won:
		if !j.busy { // unless it was reported as running before
			s.change(j, func() { j.busy = true })
		}
		s.command(batch.CmdCancel, j.Key())
	}
}

// residence is the time of a job at a site between two moves. Attempts are counted within it.
type residence struct {
	job   batch.JobID
	under uint32 // epoch
}

// Void records an attempt that a batch system has seen but this core has not: the commit that
// created it failed, and the batch system outlived the core. Its number is not used again, because
// the batch system may still report it. Later attempts of the residence get higher numbers.
func (s *Site) Void(key batch.Key) {
	if s.voided == nil {
		s.voided = make(map[residence]uint32)
	}
	at := residence{key.Job, key.Epoch}
	s.voided[at] = max(s.voided[at], key.Attempt)
}

// attemptAfter returns the number of the attempt that follows one, which is 0 for none.
func (s *Site) attemptAfter(id batch.JobID, under, attempt uint32) uint32 {
	return max(attempt, s.voided[residence{id, under}]) + 1
}

// Measured is the measured resource use of a job's tasks.
type Measured struct {
	CPU    batch.Share `json:"cpu"`              // need of each task, 1..batch.One
	Memory int64       `json:"memory,omitempty"` // peak of one task, bytes
}

// Measured records measurements of the present attempt and ignores those of others. They stay valid
// for later attempts, which run the same program.
func (s *Site) Measured(key batch.Key, m Measured) {
	j, err := s.attempt(key)
	if err != nil || j.Measured != nil && *j.Measured == m || m.invalid() != "" {
		return
	}
	s.change(j, func() { j.Measured = &m })
}

// invalid returns what is wrong with a measurement, "" for nothing.
func (m Measured) invalid() string {
	if m.CPU < 1 || m.CPU > batch.One || m.Memory < 0 {
		return fmt.Sprintf("a measured need of %d/%d of a processor and %d bytes", m.CPU, batch.One, m.Memory)
	}
	return ""
}
