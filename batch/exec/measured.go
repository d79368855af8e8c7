package exec

import (
	"context"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Measurement is what each task of a group of a job needs, as far as that is known by
// now.
type Measurement struct {
	Key    batch.Key
	Group  int32       // index in Job.Groups; 0 without groups
	CPU    batch.Share // 1..One
	Memory int64       // bytes; 0 is not known and not counted
}

// Measurements is where measured needs come from.
type Measurements interface {
	// Next waits for some and returns them. It returns an error when ctx has ended, or
	// when there will be none any more. It is called by one goroutine.
	Next(ctx context.Context) ([]Measurement, error)
}

// measure is the goroutine that hands on what is measured.
func (s *System) measure(ctx context.Context, from Measurements) {
	defer close(s.measuring)
	for {
		all, err := from.Next(ctx)
		if err != nil {
			if ctx.Err() == nil {
				s.log.Info("needs are not measured any more", "reason", err)
			}
			return
		}
		select {
		case s.measured <- all:
		case <-ctx.Done():
			return
		}
	}
}

// takeMeasured tells the policy what was measured. What is about attempts that are over,
// or could not be true, is left out.
func (s *System) takeMeasured(now batch.Time) {
	for _, m := range s.ready.measured {
		a := s.attempts[m.Key]
		switch {
		case a == nil || !a.live() || a.pending:
			continue
		case m.CPU < 1 || m.CPU > batch.One || m.Memory < 0 || m.Group < 0 || int(m.Group) >= max(1, len(a.job.Groups)):
			s.log.Warn("a measurement is out of range", "job", m.Key.Job, "group", m.Group, "cpu", m.CPU, "memory", m.Memory)
			continue
		}
		s.apply(now, batch.Event{Kind: batch.Measured, Job: a.job.Handle, Group: m.Group, CPU: m.CPU, Memory: m.Memory})
	}
	clear(s.ready.measured)
	s.ready.measured = s.ready.measured[:0]
}
