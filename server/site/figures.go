package site

import (
	"math/bits"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Load is a site's queue in figures.
type Load struct {
	Running    int   // jobs that hold processors, those being launched too
	Waiting    int   // jobs that wait
	Ended      int64 // jobs that have ended
	Busy       int32 // processors held
	Processors int32 // processors of the site
	Backlog    Area  // of the waiting jobs, by walltime
}

// Area is processors times time, in processor-microseconds. It has 128 bits: a
// queue of wide, long jobs does not fit 64.
type Area struct{ hi, lo uint64 }

// area returns the area of a rectangle.
func area(processors int32, d batch.Duration) Area {
	hi, lo := bits.Mul64(uint64(processors), uint64(d))
	return Area{hi, lo}
}

func (a Area) add(b Area) Area {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return Area{hi, lo}
}

func (a Area) sub(b Area) Area {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return Area{hi, lo}
}

// Seconds returns the area in processor-seconds.
func (a Area) Seconds() float64 {
	return (float64(a.hi)*(1<<64) + float64(a.lo)) / float64(batch.Second)
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
	l.Backlog = l.Backlog.add(area(charge, j.Spec.Shape.Walltime))
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
		l.Backlog = l.Backlog.sub(area(charge, j.Spec.Shape.Walltime))
	}
	if j.busy && !held {
		l.Running++
		l.Busy += charge
	}
	if j.State.Final() {
		l.Ended++
	}
}
