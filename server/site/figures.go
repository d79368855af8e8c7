package site

import (
	"github.com/seed-9b8f70bb/drover/batch"
)

// Load is a site's queue in figures.
type Load struct {
	Running    int        // jobs that hold processors, those being launched too
	Waiting    int        // jobs that wait
	Ended      int64      // jobs that have ended
	Busy       int32      // processors held
	Processors int32      // processors of the site
	Backlog    batch.Area // of the waiting jobs, by walltime
}

// Load returns the figures. It costs nothing: they are kept up to date.
func (s *Site) Load() Load {
	l := s.book.load
	l.Processors = s.processors
	return l
}

// enter counts a job that was accepted.
func (l *Load) enter(j *Job, charge int32) {
	l.Waiting++
	l.Backlog = l.Backlog.Add(batch.AreaOf(charge, j.Spec.Shape.Walltime))
}

// change counts a job that has been launched, has begun to run or has ended, and
// held processors before or waited.
func (l *Load) change(j *Job, charge int32, held bool) {
	switch {
	case held && !j.busy:
		l.Running--
		l.Busy -= charge
	case !held:
		l.Waiting--
		l.Backlog = l.Backlog.Sub(batch.AreaOf(charge, j.Spec.Shape.Walltime))
	}
	if j.busy && !held {
		l.Running++
		l.Busy += charge
	}
	if j.State.Final() {
		l.Ended++
	}
}
