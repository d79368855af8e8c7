package catalogue

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Want holds what a request asks for about its shape.
type Want struct {
	Width    int32          // processors; 0 leaves the choice to the site
	Walltime batch.Duration // 0 uses the model's estimate
	Longest  batch.Duration // the site's longest walltime; 0 for MaxTime
}

func (w *Want) longest() batch.Duration { return cmp.Or(w.Longest, MaxTime) }

// ModelError reports that a service's performance model gives no usable value for a
// request's arguments.
type ModelError struct {
	Service string
	Model   string // "amdahl", "table" or "fixed"
	Field   string // "work", "time", "width", or the width of a table's row
	Err     error
}

// Error names the service, the model and its field.
func (e *ModelError) Error() string {
	return fmt.Sprintf("service %s: model %s: %s: %v", e.Service, e.Model, e.Field, e.Err)
}

// Unwrap returns the cause.
func (e *ModelError) Unwrap() error { return e.Err }

// Reasons of a ShapeError.
const (
	ReasonTooWide     = "too-wide"
	ReasonTooLong     = "too-long"
	ReasonUnavailable = "out-of-range"
)

// ShapeError reports that the site cannot offer a width or a walltime.
type ShapeError struct {
	Service  string
	Field    string // "width" or "walltime"
	Reason   string
	Value    string
	Accepted string
}

// Error names the field, the value and the accepted range.
func (e *ShapeError) Error() string {
	return fmt.Sprintf("service %s: %s: %s, accepted: %s", e.Service, e.Field, e.Value, e.Accepted)
}

// margin turns a runtime estimate into a walltime.
type margin struct {
	factor float64
	extra  batch.Duration
}

// DefaultFactor is the default ratio of walltime to estimated runtime. Estimates err both
// ways. A walltime that is a quarter too long costs a little utilization until the job
// ends; one that is too short costs the whole job, which is killed.
const DefaultFactor = 1.25

// Shapes returns what a site offers for a request: the widths of the service's
// model up to maxWidth, ascending, with their walltimes at the site's speed.
//
// A walltime is the model's estimate at the site's speed, times the service's factor,
// plus its margin, rounded up to a whole second and at least 1 s. If want has a width,
// only that width is offered. If want has a walltime, every shape has exactly that
// walltime, and widths that take longer by the model's estimate are omitted. If want has
// both, the estimate is not checked.
//
// A model's walltime above want.Longest is cut to it if the estimate itself fits; other
// shapes above it are omitted.
//
// Errors are *ShapeError and *ModelError.
func (s *Service) Shapes(v Values, want Want, maxWidth int32, speed Speed) ([]batch.Shape, error) {
	maxWidth = s.within(maxWidth)
	if err := s.checkWant(want, maxWidth); err != nil {
		return nil, err
	}
	m, merr := s.model.evaluate(v)
	if merr != nil {
		merr.Service, merr.Model = s.Name, s.model.name()
		return nil, merr
	}
	widths, err := s.widthsFor(m, want, maxWidth)
	if err != nil {
		return nil, err
	}
	shapes := make([]batch.Shape, 0, len(widths))
	fastest := batch.Forever
	for _, w := range widths {
		seconds, _ := m.seconds(w)
		run := speed.Scale(fromSeconds(seconds))
		fastest = min(fastest, run)
		wall := want.Walltime
		switch {
		case wall == 0:
			wall = s.walltime.of(seconds, speed)
		case want.Width == 0 && run > wall:
			continue
		}
		longest := want.longest()
		if want.Walltime == 0 && run.CeilSeconds() <= longest {
			wall = min(wall, longest)
		}
		if wall <= longest {
			shapes = append(shapes, batch.Shape{Width: w, Walltime: wall})
		}
	}
	if len(shapes) > 0 {
		return shapes, nil
	}
	if want.Walltime > 0 {
		return nil, &ShapeError{
			Service: s.Name, Field: "walltime", Reason: ReasonUnavailable, Value: want.Walltime.String(),
			Accepted: fmt.Sprintf("at least the estimated %v, or a width as well", fastest.CeilSeconds()),
		}
	}
	return nil, &ShapeError{
		Service: s.Name, Field: "walltime", Reason: ReasonTooLong, Value: fmt.Sprintf("estimated runtime %v", fastest),
		Accepted: fmt.Sprintf("a walltime of at most %v", want.longest()),
	}
}

// checkWant checks the requested width and walltime against their ranges.
func (s *Service) checkWant(want Want, maxWidth int32) error {
	if want.Width < 0 || want.Width > maxWidth {
		reason := ReasonTooWide
		if want.Width < 0 {
			reason = ReasonUnavailable
		}
		return &ShapeError{
			Service: s.Name, Field: "width", Reason: reason, Value: fmt.Sprint(want.Width),
			Accepted: fmt.Sprintf("1..%d, or none for the site's choice", maxWidth),
		}
	}
	if w := want.Walltime; w != 0 && (w < batch.Second || w > want.longest()) {
		reason := ReasonUnavailable
		if w > want.longest() {
			reason = ReasonTooLong
		}
		return &ShapeError{
			Service: s.Name, Field: "walltime", Reason: reason, Value: w.String(),
			Accepted: fmt.Sprintf("1s..%v", want.longest()),
		}
	}
	return nil
}

// widthsFor returns the widths to offer, at least one.
func (s *Service) widthsFor(m menu, want Want, maxWidth int32) ([]int32, error) {
	if want.Width > 0 {
		if _, ok := m.seconds(want.Width); !ok {
			return nil, &ShapeError{
				Service: s.Name, Field: "width", Reason: ReasonUnavailable, Value: fmt.Sprint(want.Width),
				Accepted: m.accepted(),
			}
		}
		return []int32{want.Width}, nil
	}
	widths := m.candidates(nil, maxWidth)
	if len(widths) == 0 {
		return nil, &ShapeError{
			Service: s.Name, Field: "width", Reason: ReasonTooWide, Value: m.accepted(),
			Accepted: fmt.Sprintf("1..%d at this site", maxWidth),
		}
	}
	return widths, nil
}

// Widths returns the smallest and the largest width of the service on any site, and
// whether the site chooses among them.
func (s *Service) Widths() (lo, hi int32, moldable bool) { return s.model.widths() }

// of returns the walltime for a runtime in seconds at speed 1.0.
func (m margin) of(seconds float64, speed Speed) batch.Duration {
	d := speed.Scale(fromSeconds(float64(seconds * m.factor)))
	if d >= batch.Forever-m.extra-batch.Second {
		return batch.Forever
	}
	return max((d + m.extra).CeilSeconds(), batch.Second)
}

// maxSeconds is the largest runtime of a model. It keeps every later step within an int64
// of microseconds.
const maxSeconds = 1e12

// fromSeconds rounds to the nearest microsecond, not up: 100 × (0.1 + 0.9) is slightly
// above 100 in floating point but must be 100 s, not 101 s. A value that does not fit
// becomes batch.Forever.
func fromSeconds(s float64) batch.Duration {
	us := math.Round(float64(s * 1e6))
	if us >= 1<<62 {
		return batch.Forever
	}
	return batch.Duration(us)
}

// positive returns an error unless x is a usable number of seconds.
func positive(x float64) error {
	if !(x > 0 && x <= maxSeconds) {
		return fmt.Errorf("got %v seconds, accepted: above 0 and at most %g", x, float64(maxSeconds))
	}
	return nil
}

// joinWidths formats widths for messages.
func joinWidths(ws []int32) string {
	s := make([]string, len(ws))
	for i, w := range ws {
		s[i] = fmt.Sprint(w)
	}
	return strings.Join(s, ", ")
}
