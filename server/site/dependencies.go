package site

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Dependency is a job that has to end before another one may start.
type Dependency struct {
	Job batch.JobID `json:"job"`
	Any bool        `json:"any,omitempty"` // however it ends; otherwise it has to be Done
}

// met says whether a job that has ended so lets the other one start.
func (d Dependency) met(state State) bool { return d.Any || state == Done }

// Awaits returns what a job is Held for: those of its request's dependencies that have
// not ended; none of one that is not, or is held for something else.
func (j *Job) Awaits() []Dependency {
	if j.awaits == nil {
		return nil
	}
	return *j.awaits
}

// awaitsOf returns dependencies as a job has them.
func awaitsOf(list []Dependency) *[]Dependency {
	if len(list) == 0 {
		return nil
	}
	return &list
}

// Told is what another site has said of a job.
type Told struct {
	Job   batch.JobID
	State State
}

// mostAfter bounds the dependencies of a request.
const mostAfter = 1000

// validateAfter checks the form of what a request says of its dependencies. A place
// that is kept whatever comes cannot wait for somebody else's end.
func (r *Request) validateAfter() error {
	switch {
	case len(r.After) == 0:
		return nil
	case len(r.After) > mostAfter:
		return problem.Field(problem.OutOfRange, "request.after", fmt.Sprintf("at most %d jobs", mostAfter), "%d jobs", len(r.After))
	case r.Agreement != nil:
		return problem.Field(problem.BadValue, "request.after", "no jobs to come after in a request with an agreement", "%d jobs", len(r.After))
	case r.Into != "":
		return problem.Field(problem.BadValue, "request.after", "no jobs to come after in a request for a reservation", "%d jobs", len(r.After))
	}
	for i, d := range r.After {
		if _, err := CheckID(string(d.Job)); err != nil {
			return problem.Field(problem.BadValue, fmt.Sprintf("request.after[%d].job_id", i), "a lower-case UUIDv7", "%.70q", d.Job)
		}
	}
	return nil
}

// awaited returns those of a request's dependencies that have not ended. The error is
// a *problem.Problem: of a job that nobody has, and of one that has ended otherwise than it
// must. So a job depends only on such as were there before it, and never on itself.
func (s *Site) awaited(r *Request, told []Told) ([]Dependency, error) {
	var open []Dependency
	for i, d := range r.After {
		field := fmt.Sprintf("request.after[%d].job_id", i)
		switch state := s.stateOf(d.Job, told); {
		case state == Absent:
			return nil, &problem.Problem{
				Reason: problem.UnknownJob, Field: field, Accepted: "a job that was submitted before",
				Hint: "drover queue lists the jobs", Message: fmt.Sprintf("no site has a job %s to come after", d.Job),
			}
		case state.Over() && !d.met(state):
			return nil, &problem.Problem{
				Reason: problem.DependencyFailed, Field: field, Accepted: "a job that is DONE or may yet be, or the condition any",
				Hint: "drover job " + string(d.Job) + " says why", Message: failedDependency(d.Job, state),
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

// here says whether this site, and nobody else, says what becomes of a job.
func (s *Site) here(id batch.JobID) bool {
	j := s.book.byID[id]
	return j != nil && !j.receptive()
}

// stateOf returns what is known of a job: Absent if it is not there.
func (s *Site) stateOf(id batch.JobID, told []Told) State {
	j := s.book.byID[id]
	if s.here(id) {
		return j.State
	}
	if i := slices.IndexFunc(told, func(t Told) bool { return t.Job == id }); i >= 0 {
		return told[i].State
	}
	if j != nil {
		return j.State
	}
	return Absent
}

// hold lets a job that is new wait for others. The batch system gives it its place in
// the order, no room in the plan, and does not start it before it is confirmed: as it
// does with one that comes from elsewhere and is long on its way.
func (s *Site) hold(j *Job) {
	s.plan(batch.CmdReserve, j)
	s.fx.Plans = append(s.fx.Plans, batch.Command{Kind: batch.CmdHold, Key: j.Key()})
	for _, d := range j.Awaits() {
		s.watch(d.Job)
	}
}

// watch has a job watched elsewhere if somebody waits for it.
func (s *Site) watch(id batch.JobID) {
	if s.Awaited(id) {
		s.fx.Watch = append(s.fx.Watch, id)
	}
}

// Awaited says whether jobs here wait for one that is not here.
func (s *Site) Awaited(id batch.JobID) bool { return len(s.book.awaited[id]) > 0 && !s.here(id) }

// Heard says what another site has told of a job for which some here may wait. Only an
// end is news, and of a job that is here only this site knows better.
func (s *Site) Heard(now batch.Time, news Told) {
	if news.State.Over() && !s.here(news.Job) {
		s.tellAfter(now, news)
	}
}

// tellAfter lets those know who wait for a job that has ended, in the order of their
// submission. What ends by that is told as well, one after the other.
func (s *Site) tellAfter(now batch.Time, news Told) {
	if len(s.book.awaited[news.Job]) == 0 {
		return
	}
	s.news = append(s.news, news)
	if len(s.news) > 1 {
		return // who began with the first goes on with this one
	}
	for ; len(s.news) > 0; s.news = s.news[1:] {
		for _, j := range slices.SortedFunc(maps.Keys(s.book.awaited[s.news[0].Job]), byOrder) {
			s.learnEnd(now, j, s.news[0])
		}
	}
	s.news = nil
}

// learnEnd takes up that a job for which j waits has ended.
func (s *Site) learnEnd(now batch.Time, j *Job, news Told) {
	var left []Dependency
	for _, d := range j.Awaits() {
		switch {
		case d.Job != news.Job:
			left = append(left, d)
		case !d.met(news.State):
			s.await(j, nil)
			s.cancelled(now, j, "it was to come after another one: "+failedDependency(news.Job, news.State))
			return
		}
	}
	s.book.unexpect(j, news.Job) // and not all anew: each of many may wait for as many
	s.change(j, func() { j.awaits = awaitsOf(left) })
	if len(left) == 0 {
		s.change(j, func() { j.State = Waiting })
		s.command(batch.CmdConfirm, j.Key())
	}
}

// await sets for which jobs a job waits.
func (s *Site) await(j *Job, list []Dependency) {
	s.book.forgo(j)
	s.change(j, func() { j.awaits = awaitsOf(list) })
	s.book.expect(j)
}

// expect notes for whom a job waits, in the book.
func (b *book) expect(j *Job) {
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

// forgo is the inverse of expect.
func (b *book) forgo(j *Job) {
	for _, d := range j.Awaits() {
		b.unexpect(j, d.Job)
	}
}

// unexpect notes that a job does not wait for another one any more.
func (b *book) unexpect(j *Job, id batch.JobID) {
	if delete(b.awaited[id], j); len(b.awaited[id]) == 0 {
		delete(b.awaited, id)
	}
}

// resumeAfter takes up after a restart what a job waits for. What has ended here
// meanwhile is told.
func (s *Site) resumeAfter(now batch.Time, j *Job) {
	s.hold(j)
	for _, d := range j.Awaits() {
		if s.here(d.Job) && s.book.byID[d.Job].State.Over() {
			s.tellAfter(now, Told{d.Job, s.book.byID[d.Job].State})
		}
	}
}
