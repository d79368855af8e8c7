package site

import (
	"github.com/seed-9b8f70bb/drover/batch"
)

// Load is a site's queue in figures.
type Load struct {
	Running    int        // jobs that hold processors, those being launched too
	Waiting    int        // jobs that wait and have not left, held ones too
	Bound      int        // waiting jobs that stay whatever happens: see Job.Bound
	Incoming   int        // jobs that have a place here and may yet stay elsewhere
	Ended      int64      // jobs that have ended here
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

// count adds a job to the figures, or takes it out: sign is 1 or -1.
func (l *Load) count(j *Job, charge int32, sign int32) {
	switch {
	case j.busy:
		l.Running += int(sign)
		l.Busy += sign * charge
	case j.State == Waiting, j.State == Held, j.State == Moving, j.State == Yielding, j.State == Cancelling:
		l.Waiting += int(sign)
		if j.Bound() {
			l.Bound += int(sign)
		}
		area := batch.AreaOf(charge, j.Shape.Walltime)
		if sign > 0 {
			l.Backlog = l.Backlog.Add(area)
		} else {
			l.Backlog = l.Backlog.Sub(area)
		}
	case j.State == Incoming:
		l.Incoming += int(sign)
	}
}
