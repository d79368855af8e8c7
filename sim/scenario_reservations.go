package sim

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
	"github.com/seed-9b8f70bb/drover/batch/policy"
)

// MaxReservations bounds the reservations of a scenario.
const MaxReservations = 10_000

// Reservation keeps processors of a site free of the workload's jobs, for example for
// maintenance or a course. It is known from the first instant on.
//
//	reservations:
//	  - {site: kth, width: 64, start: 3d, end: 3.5d}
type Reservation struct {
	Site  string `yaml:"site"`
	Width int64  `yaml:"width"`
	Start string `yaml:"start"` // since instant 0
	End   string `yaml:"end"`
}

// window returns the reserved window.
func (r *Reservation) window() (*batch.Window, error) {
	start, err := ParseLength(r.Start)
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	end, err := ParseLength(r.End)
	if err != nil {
		return nil, fmt.Errorf("end: %w", err)
	}
	if end <= start {
		return nil, fmt.Errorf("end: %q, accepted: later than its start, %q", r.End, r.Start)
	}
	return &batch.Window{Start: batch.Time(start), End: batch.Time(end)}, nil
}

// validateReservations returns all problems of the reservations, each with its key.
func (s *Scenario) validateReservations() []error {
	var errs []error
	bad := func(key, format string, args ...any) { errs = append(errs, fmt.Errorf(key+": "+format, args...)) }
	if len(s.Reservations) > MaxReservations {
		bad("reservations", "%d, accepted: up to %d", len(s.Reservations), MaxReservations)
		return errs
	}
	left := map[string]*profile.Profile{}
	reserves := map[string]bool{}
	for i := range s.Sites {
		e := policy.Of(s.Sites[i].Policy)
		reserves[s.Sites[i].Name] = e.Reserves || e.New == nil // an unknown policy is reported elsewhere
		if p := s.Sites[i].Procs; 1 <= p && p <= batch.MaxProcessors {
			left[s.Sites[i].Name] = profile.New(0, int32(p))
		}
	}
	for i := range s.Reservations {
		r := &s.Reservations[i]
		key := fmt.Sprintf("reservations[%d].", i)
		w, err := r.window()
		if err != nil {
			errs = append(errs, fmt.Errorf("%s%w", key, err))
			continue
		}
		switch plan := left[r.Site]; {
		case plan == nil:
			bad(key+"site", "%q, accepted: the name of a site", r.Site)
		case !reserves[r.Site]:
			bad(key+"site", "%q, accepted: a site whose policy takes reservations: %s", r.Site,
				named(func(e *policy.Entry) bool { return e.Reserves }))
		case r.Width < 1 || r.Width > int64(plan.Lowest(w.Start, w.End)):
			bad(key+"width", "%d, accepted: 1..%d, which other reservations of %s leave", r.Width,
				plan.Lowest(w.Start, w.End),
				r.Site)
		default:
			plan.Reserve(w.Start, w.End, int32(r.Width))
		}
	}
	return errs
}

// reserve makes the reservations of a validated scenario.
func (g *Grid) reserve(all []Reservation) error {
	for i := range all {
		r := &all[i]
		w, err := r.window()
		if err != nil {
			return fmt.Errorf("reservations[%d].%w", i, err)
		}
		for _, s := range g.sites {
			if s.name == r.Site {
				spec := s.handles.take(-1) // never released, so no job gets the handle
				spec.Shape.Width, spec.Window = int32(r.Width), w
				s.engine.Apply(&batch.Event{Kind: batch.Reserve, Job: spec.Handle, Spec: spec})
				s.pending = true
			}
		}
	}
	return nil
}
