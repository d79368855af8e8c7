package catalogue

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Want is what a request itself says about its shape.
type Want struct {
	Width    int32          // processors; 0 leaves the choice to the site
	Walltime batch.Duration // 0 takes the model's
	Longest  batch.Duration // walltime that the site allows; 0 for MaxTime
}

func (w *Want) longest() batch.Duration { return cmp.Or(w.Longest, MaxTime) }

// ModelError says that a service's performance model gives no usable answer for
// a request's arguments.
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

// ShapeError says that a width or a walltime cannot be had.
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

// model is how long a service runs.
type model interface {
	// name returns the model's name in the catalogue file.
	name() string
	// evaluate computes what depends on the arguments only.
	evaluate(v Values) (menu, *ModelError)
	// widths returns the range that the model knows without arguments, and
	// whether the site has a choice.
	widths() (lo, hi int32, moldable bool)
}

// menu is a model for one request's arguments.
type menu interface {
	// candidates appends the widths worth offering on a machine of most
	// processors, ascending.
	candidates(dst []int32, most int32) []int32
	// seconds returns the runtime at speed 1.0 for any width that offers, and
	// false for others.
	seconds(width int32) (float64, bool)
	// accepted says in words which widths seconds knows.
	accepted() string
}

// margin turns a runtime estimate into a walltime.
type margin struct {
	factor float64
	extra  batch.Duration
}

// DefaultFactor is a walltime over the estimated runtime, unless the service
// says otherwise. Estimates err both ways. One that is a quarter too long costs
// a little of the plan's tightness until the job ends; one that is too short
// costs the whole job, which is killed.
const DefaultFactor = 1.25

// Shapes returns what a site offers for a request: the widths of the service's
// model up to maxWidth, ascending, with their walltimes at the site's speed.
//
// A walltime is the model's estimate at the site's speed, times the service's
// factor, plus its margin, rounded up to a whole second and at least 1 s. Where
// want has a width, only that is offered. Where want has a walltime, every shape
// gets exactly that, however fast the site is, and widths that would not end in
// it by the model's estimate are left out, unless want gives both: then it is
// taken at its word.
//
// A walltime of the model's that is longer than want allows is cut to that, as long as
// the estimate itself fits; other shapes that are too long are left out.
//
// Errors are a *ShapeError or a *ModelError.
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
			Accepted: fmt.Sprintf("at least the estimated %v, or a width beside it", fastest.CeilSeconds()),
		}
	}
	return nil, &ShapeError{
		Service: s.Name, Field: "walltime", Reason: ReasonTooLong, Value: fmt.Sprintf("estimated runtime %v", fastest),
		Accepted: fmt.Sprintf("a walltime of at most %v", want.longest()),
	}
}

// checkWant checks the form of what the request says.
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
			Service: s.Name, Field: "walltime", Reason: reason, Value: w.String(), Accepted: fmt.Sprintf("1s..%v", want.longest()),
		}
	}
	return nil
}

// widthsFor returns the widths to offer, at least one.
func (s *Service) widthsFor(m menu, want Want, maxWidth int32) ([]int32, error) {
	if want.Width > 0 {
		if _, ok := m.seconds(want.Width); !ok {
			return nil, &ShapeError{
				Service: s.Name, Field: "width", Reason: ReasonUnavailable, Value: fmt.Sprint(want.Width), Accepted: m.accepted(),
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

// Widths returns the smallest and the largest width that the service may have
// on some site, and whether the site chooses among them.
func (s *Service) Widths() (lo, hi int32, moldable bool) { return s.model.widths() }

// of returns the walltime of a runtime at speed 1.0.
func (m margin) of(seconds float64, speed Speed) batch.Duration {
	d := speed.Scale(fromSeconds(float64(seconds * m.factor)))
	if d >= batch.Forever-m.extra-batch.Second {
		return batch.Forever
	}
	return max((d + m.extra).CeilSeconds(), batch.Second)
}

// maxSeconds bounds what a model may say: it keeps every later step within an
// int64 of microseconds.
const maxSeconds = 1e12

// fromSeconds rounds to the nearest microsecond, not up: 100 × (0.1 + 0.9) is a
// hair above 100 in floating point, and is meant to be 100 s and not 101.
// What does not fit is batch.Forever.
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

// joinWidths lists widths for people.
func joinWidths(ws []int32) string {
	s := make([]string, len(ws))
	for i, w := range ws {
		s[i] = fmt.Sprint(w)
	}
	return strings.Join(s, ", ")
}
