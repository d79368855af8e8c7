package site

import "fmt"

// Misfit is a job that waits and that the site, as it is configured now, could
// never run.
type Misfit struct {
	Job Job
	Why string // for people
}

// Misfits returns the first few of the jobs that wait, or are on their way here,
// and can never run here, in order, and how many there are: after Restore, with
// another machine or another catalogue than in the life before.
func (s *Site) Misfits(most int) (list []Misfit, n int) {
	for _, j := range s.book.order {
		if j == nil || j.Needs == nil || j.State.Final() || j.busy {
			continue
		}
		why := s.misfit(j)
		if why == "" {
			continue
		}
		if n++; len(list) < most {
			list = append(list, Misfit{Job: *j, Why: why})
		}
	}
	return list, n
}

// misfit returns why a job could never run here, or nothing.
func (s *Site) misfit(j *Job) string {
	if charge := s.charge(j); charge > s.processors {
		return fmt.Sprintf("it takes %d processors, and the machine has %d", charge, s.processors)
	}
	if s.config.Edge != nil {
		if err := s.config.Edge.Check(j.Spec()); err != nil {
			return err.Error()
		}
	}
	if s.config.Catalogue != nil {
		if _, err := s.config.Catalogue.Service(j.Service); err != nil {
			return err.Error()
		}
	}
	return ""
}
