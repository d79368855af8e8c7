package site

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// Request is a client's wish to have a service executed. The site keeps what
// it points to: it must not be changed after Submit.
type Request struct {
	Service   string
	Arguments map[string]catalogue.Value

	// Width and Walltime are the request's own; 0 leaves them to the service's
	// model. Walltime is meant as it stands, however fast the site is.
	Width    int32
	Walltime batch.Duration
	// Menu is a model of the client's own in place of the service's: shapes in
	// ascending width with their walltimes on a processor of speed 1.0. At a
	// site of another speed they are scaled and rounded up to whole seconds.
	Menu []batch.Shape

	Owner         string
	Origin        batch.Origin
	Deadline      batch.Time // completion wanted by then; 0 for none
	EarliestStart batch.Time // 0 for at once
	Memory        int64      // need of each task, bytes; 0 takes the service's
	CPU           batch.Share
	Licences      []batch.Licence
	Input         int64  // bytes; 0 takes the sum of the file arguments
	InputSite     string // where the input lies; "" at the client
	Idempotent    bool
	Labels        map[string]string
}

// Validate checks the form of a request that comes from outside, as far as no
// site is needed for it, and returns the first problem as a *Refusal. Quote and
// Submit trust a request to have been checked.
func (r *Request) Validate() error {
	switch {
	case r.Service == "":
		return refuse(ReasonBadValue, "request.service", "the name of a service", "no service given")
	case r.Width < 0:
		return refuse(ReasonOutOfRange, "request.width", "1 or more, 0 for the site's choice", "width %d", r.Width)
	case r.Walltime != 0 && (r.Walltime < batch.Second || r.Walltime > catalogue.MaxTime):
		return refuse(ReasonOutOfRange, "request.walltime", walltimeRange, "walltime %v", r.Walltime)
	case r.Memory < 0:
		return refuse(ReasonOutOfRange, "request.memory_bytes", "0 (the service's need) or more", "memory %d", r.Memory)
	case r.CPU < 0 || r.CPU > batch.One:
		return refuse(ReasonOutOfRange, "request.cpu", "above 0 and up to 1, 0 for 1", "cpu %g", float64(r.CPU)/float64(batch.One))
	case r.Input < 0:
		return refuse(ReasonOutOfRange, "request.input_bytes", "0 or more", "input of %d bytes", r.Input)
	case r.Deadline < 0 || r.EarliestStart < 0:
		return refuse(ReasonOutOfRange, "request.deadline", "instants after 1970", "deadline or earliest start before the epoch")
	case len(r.Menu) > 0 && (r.Width != 0 || r.Walltime != 0):
		return refuse(ReasonBadValue, "request.shapes", "shapes, or width and walltime", "both shapes and a width or walltime")
	}
	for i, l := range r.Licences {
		if l.Name == "" || l.Copies < 1 {
			return refuse(ReasonOutOfRange, fmt.Sprintf("request.licences[%d]", i), "a name and at least 1 copy", "licence %q, %d copies", l.Name, l.Copies)
		}
	}
	return validateMenu(r.Menu)
}

var walltimeRange = fmt.Sprintf("1s..%v", catalogue.MaxTime)

// maxMenu bounds a client's own menu.
const maxMenu = 100_000

func validateMenu(menu []batch.Shape) error {
	if len(menu) > maxMenu {
		return refuse(ReasonOutOfRange, "request.shapes", fmt.Sprintf("at most %d", maxMenu), "%d shapes", len(menu))
	}
	last := int32(0)
	for i, s := range menu {
		field := fmt.Sprintf("request.shapes[%d]", i)
		if s.Width <= last {
			return refuse(ReasonOutOfRange, field+".width", "at least 1, in ascending order", "width %d after %d", s.Width, last)
		}
		if s.Walltime < batch.Second || s.Walltime > catalogue.MaxTime {
			return refuse(ReasonOutOfRange, field+".walltime", walltimeRange, "walltime %v", s.Walltime)
		}
		last = s.Width
	}
	return nil
}

// equal says whether two requests ask for the same.
func (r *Request) equal(o *Request) bool {
	return r.Service == o.Service && r.Width == o.Width && r.Walltime == o.Walltime && r.Owner == o.Owner && r.Origin == o.Origin &&
		r.Deadline == o.Deadline && r.EarliestStart == o.EarliestStart && r.Memory == o.Memory && r.CPU == o.CPU &&
		r.Input == o.Input && r.InputSite == o.InputSite && r.Idempotent == o.Idempotent &&
		slices.Equal(r.Menu, o.Menu) && slices.Equal(r.Licences, o.Licences) &&
		maps.Equal(r.Arguments, o.Arguments) && maps.Equal(r.Labels, o.Labels)
}
