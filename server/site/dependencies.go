package site

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Dependency is a job that must end before another one can start.
type Dependency struct {
	Job batch.JobID `json:"job"`
	Any bool        `json:"any,omitempty"` // any end counts; otherwise only Done
}

// met reports whether a final state satisfies the dependency.
func (d Dependency) met(state State) bool { return d.Any || state == Done }

// Awaits returns the dependencies that a Held job still waits for; none if the job is not held or
// is held for a round.
func (j *Job) Awaits() []Dependency {
	if j.awaits == nil {
		return nil
	}
	return *j.awaits
}

// awaitsOf returns dependencies in the form of Job.awaits, nil for none.
func awaitsOf(list []Dependency) *[]Dependency {
	if len(list) == 0 {
		return nil
	}
	return &list
}

// JobStatus is the last known state of a job, usually one at another site.
type JobStatus struct {
	Job   batch.JobID
	State State
}

// maxDependencies limits the dependencies of a request.
const maxDependencies = 1000

// validateAfter checks the dependencies of a request. A booked slot cannot wait for another job to
// end.
func (r *Request) validateAfter() error {
	switch {
	case len(r.After) == 0:
		return nil
	case len(r.After) > maxDependencies:
		return problem.Field(problem.OutOfRange, "request.after", fmt.Sprintf("at most %d jobs", maxDependencies),
			"%d jobs", len(r.After))
	case r.Agreement != nil:
		return problem.Field(problem.BadValue, "request.after", "no jobs to come after in a request with an agreement",
			"%d jobs", len(r.After))
	case r.Into != "":
		return problem.Field(problem.BadValue, "request.after", "no jobs to come after in a request for a reservation",
			"%d jobs", len(r.After))
	}
	for i, d := range r.After {
		if _, err := CheckID(string(d.Job)); err != nil {
			return problem.Field(problem.BadValue, fmt.Sprintf("request.after[%d].job_id", i), "a lower-case UUIDv7",
				"%.70q", d.Job)
		}
	}
	return nil
}

// openDependencies returns the dependencies of a request that have not ended. The error is a
// *problem.Problem if a job does not exist, or ended without satisfying the dependency. So a job
// depends only on jobs that existed before it, never on itself.
func (s *Site) openDependencies(r *Request, remote []JobStatus) ([]Dependency, error) {
	var open []Dependency
	for i, d := range r.After {
		field := fmt.Sprintf("request.after[%d].job_id", i)
		switch state := s.stateOf(d.Job, remote); {
		case state == Absent:
			return nil, &problem.Problem{
				Reason: problem.UnknownJob, Field: field, Accepted: "a job that was submitted before",
				Hint: "drover queue lists the jobs", Message: fmt.Sprintf("no site has a job %s to come after", d.Job),
			}
		case state.Over() && !d.met(state):
			return nil, &problem.Problem{
				Reason: problem.DependencyFailed, Field: field,
				Accepted: "a job that is DONE or may yet be, or the condition any",
				Hint:     "drover job " + string(d.Job) + " says why", Message: failedDependency(d.Job, state),
			}
		case !state.Over() && !slices.Contains(open, d):
			open = append(open, d)
		}
	}
	return open, nil
}

func failedDependency(id batch.JobID, state State) string {
	return fmt.Sprintf("job %s ended %s", id, strings.ToUpper(state.String()))
}

// isLocal reports whether this site has authority over a job.
func (s *Site) isLocal(id batch.JobID) bool {
	j := s.book.byID[id]
	return j != nil && !j.ownedElsewhere()
}

// stateOf returns the last known state of a job, Absent if it does not exist.
func (s *Site) stateOf(id batch.JobID, remote []JobStatus) State {
	j := s.book.byID[id]
	if s.isLocal(id) {
		return j.State
	}
	if i := slices.IndexFunc(remote, func(t JobStatus) bool { return t.Job == id }); i >= 0 {
		return remote[i].State
	}
	if j != nil {
		return j.State
	}
	return Absent
}

// holdForDependencies lets a new job wait for others. The batch system gives it a position in the
// queue but no slot, and does not start it before CmdConfirm, as for an incoming job that is late.
func (s *Site) holdForDependencies(j *Job) {
	s.plan(batch.CmdReserve, j)
	s.fx.Plans = append(s.fx.Plans, batch.Command{Kind: batch.CmdHold, Key: j.Key()})
	for _, d := range j.Awaits() {
		s.watch(d.Job)
	}
}

// watch makes the driver watch a job of another site if jobs here wait for it.
func (s *Site) watch(id batch.JobID) {
	if s.Awaited(id) {
		s.fx.Watch = append(s.fx.Watch, id)
	}
}

// Awaited reports whether jobs here wait for a job of another site.
func (s *Site) Awaited(id batch.JobID) bool { return len(s.book.awaited[id]) > 0 && !s.isLocal(id) }

// UpdateRemote reports the state of a job at another site. Only an end matters, and this site knows
// its own jobs better.
func (s *Site) UpdateRemote(now batch.Time, news JobStatus) {
	if news.State.Over() && !s.isLocal(news.Job) {
		s.notifyDependents(now, news)
	}
}

// notifyDependents updates the jobs that wait for a job that has ended, in queue order, then the
// dependents of those that end because of it.
func (s *Site) notifyDependents(now batch.Time, news JobStatus) {
	if len(s.book.awaited[news.Job]) == 0 {
		return
	}
	s.endings = append(s.endings, news)
	if len(s.endings) > 1 {
		return // the first call processes the list
	}
	for ; len(s.endings) > 0; s.endings = s.endings[1:] {
		for _, j := range slices.SortedFunc(maps.Keys(s.book.awaited[s.endings[0].Job]), byOrder) {
			s.dependencyEnded(now, j, s.endings[0])
		}
	}
	s.endings = nil
}

// dependencyEnded updates j after one of its dependencies has ended.
func (s *Site) dependencyEnded(now batch.Time, j *Job, news JobStatus) {
	var left []Dependency
	for _, d := range j.Awaits() {
		switch {
		case d.Job != news.Job:
			left = append(left, d)
		case !d.met(news.State):
			s.setAwaits(j, nil)
			s.cancelled(now, j, "it was to come after another one: "+failedDependency(news.Job, news.State))
			return
		}
	}
	s.book.removeAwait(j, news.Job) // not all: many jobs may each wait for many
	s.change(j, func() { j.awaits = awaitsOf(left) })
	if len(left) == 0 {
		s.change(j, func() { j.State = Waiting })
		s.command(batch.CmdConfirm, j.Key())
	}
}

// setAwaits sets the dependencies that a job waits for.
func (s *Site) setAwaits(j *Job, list []Dependency) {
	s.book.removeAwaits(j)
	s.change(j, func() { j.awaits = awaitsOf(list) })
	s.book.addAwaits(j)
}

// addAwaits indexes the dependencies of a job.
func (b *book) addAwaits(j *Job) {
	for _, d := range j.Awaits() {
		if b.awaited == nil {
			b.awaited = make(map[batch.JobID]map[*Job]struct{})
		}
		if b.awaited[d.Job] == nil {
			b.awaited[d.Job] = make(map[*Job]struct{})
		}
		b.awaited[d.Job][j] = struct{}{}
	}
}

// removeAwaits is the inverse of addAwaits.
func (b *book) removeAwaits(j *Job) {
	for _, d := range j.Awaits() {
		b.removeAwait(j, d.Job)
	}
}

// removeAwait removes one dependency of a job from the index.
func (b *book) removeAwait(j *Job, id batch.JobID) {
	if delete(b.awaited[id], j); len(b.awaited[id]) == 0 {
		delete(b.awaited, id)
	}
}

// resumeDependencies holds a job again after a restart and applies the ends of dependencies in the
// meantime.
func (s *Site) resumeDependencies(now batch.Time, j *Job) {
	s.holdForDependencies(j)
	for _, d := range j.Awaits() {
		if s.isLocal(d.Job) && s.book.byID[d.Job].State.Over() {
			s.notifyDependents(now, JobStatus{d.Job, s.book.byID[d.Job].State})
		}
	}
}
