package catalogue

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Catalogue is what one site offers. It is not changed after Load and may be
// used from several goroutines.
type Catalogue struct {
	services []*Service // by name
}

// Service is a named thing that a site can run. Its fields are to be read only.
type Service struct {
	Name      string
	Doc       string // one line
	Arguments []Argument
	Memory    int64 // need of each task, bytes; 0 is not known
	// Licenses are what each job holds while it runs.
	Licenses []batch.License
	// Score is the benchmark score of the machine that its model is about; 0: it says how
	// long a job runs on any.
	Score int32
	// Restartable says that executing it again from the beginning does no harm: a
	// job whose end nobody saw is launched again.
	Restartable bool
	// Checkpointable says that a job of it can be stopped and go on from where it was.
	Checkpointable bool
	// Launch says how often a job's program is started that has several nodes.
	Launch batch.Launch
	// Script is what it runs, nil for a program: its command is then the arguments of
	// the script.
	Script *Script

	model    model
	walltime margin
	command  []template
	env      []envTemplate // by name

	checkpoint *checkpoint // nil: a job is stopped where it is
	arrays     bool        // some arguments are vectors or matrices
}

// UnknownService says that a site has no service of this name.
type UnknownService struct {
	Name  string
	Known []string // by name
}

// Error names the service and those that exist.
func (e *UnknownService) Error() string {
	known := strings.Join(e.Known, ", ")
	if known == "" {
		known = "no services"
	}
	return fmt.Sprintf("unknown service %q, accepted: %s", e.Name, known)
}

// Service returns the service of this name, or an *UnknownService.
func (c *Catalogue) Service(name string) (*Service, error) {
	i := sort.Search(len(c.services), func(i int) bool { return c.services[i].Name >= name })
	if i < len(c.services) && c.services[i].Name == name {
		return c.services[i], nil
	}
	e := &UnknownService{Name: name}
	for _, s := range c.services {
		e.Known = append(e.Known, s.Name)
	}
	return nil, e
}

// Services returns all services by name.
func (c *Catalogue) Services() []*Service { return c.services }

// Values are a request's arguments, checked and complete. The zero Values
// belongs to no service.
type Values struct {
	service *Service
	list    []Value  // as service.Arguments; zero for what only comes out
	layouts []Layout // likewise; of arrays only, nil without any
}

// Service returns the service these are the arguments of.
func (v Values) Service() *Service { return v.service }

// Get returns the value of an argument; false when there is no such argument
// or it only comes out.
func (v Values) Get(name string) (Value, bool) {
	if i := v.index(name); i >= 0 {
		return v.list[i], v.list[i].kind != 0
	}
	return Value{}, false
}

// Layout returns how the block of an array is to be read that goes in, comes out or
// both; false when there is no such argument or it is no array.
func (v Values) Layout(name string) (Layout, bool) {
	if i := v.index(name); i >= 0 && v.layouts != nil {
		return v.layouts[i], v.layouts[i].Dims != nil
	}
	return Layout{}, false
}

// index returns which argument has the name, -1 for none.
func (v Values) index(name string) int {
	if v.service == nil {
		return -1
	}
	return slices.IndexFunc(v.service.Arguments, func(a Argument) bool { return a.Name == name })
}

// Input returns the sum of the sizes of all files and blocks that go in, bytes.
func (v Values) Input() int64 {
	var sum int64
	for i := range v.list {
		if next := sum + v.list[i].file.Size; next >= sum {
			sum = next
		}
	}
	return sum
}

// Bind checks what a request gives against the service's arguments and fills
// in the defaults. The error joins one *ArgumentError for each problem, in the
// order of the catalogue, unknown names last.
func (s *Service) Bind(given map[string]Value) (Values, error) {
	v := Values{service: s, list: make([]Value, len(s.Arguments))}
	var errs []error
	known := 0
	for i := range s.Arguments {
		a := &s.Arguments[i]
		raw, ok := given[a.Name]
		if !ok {
			if a.Required {
				errs = append(errs, &ArgumentError{Service: s.Name, Argument: a.Name, Reason: ReasonMissingArgument, Accepted: a.Accepted()})
			}
			v.list[i] = a.Default
			continue
		}
		known++
		bound, reason := a.bind(raw)
		if reason != "" {
			errs = append(errs, &ArgumentError{Service: s.Name, Argument: a.Name, Reason: reason, Value: raw.quote(), Accepted: a.Accepted()})
		}
		v.list[i] = bound
	}
	if known < len(given) {
		errs = append(errs, s.unknown(given)...)
	}
	if len(errs) == 0 && s.arrays {
		errs = v.fit()
	}
	if len(errs) > 0 {
		return Values{}, errors.Join(errs...)
	}
	return v, nil
}

// unknown reports the given names that the service does not have.
func (s *Service) unknown(given map[string]Value) []error {
	names := make([]string, 0, len(s.Arguments))
	has := make(map[string]bool, len(s.Arguments))
	for i := range s.Arguments {
		names = append(names, s.Arguments[i].Name)
		has[s.Arguments[i].Name] = true
	}
	accepted := strings.Join(names, ", ")
	if accepted == "" {
		accepted = "no arguments"
	}
	var strange []string
	for name := range given {
		if !has[name] {
			strange = append(strange, name)
		}
	}
	sort.Strings(strange)
	errs := make([]error, len(strange))
	for i, name := range strange {
		v := given[name]
		errs[i] = &ArgumentError{Service: s.Name, Argument: name, Reason: ReasonUnknownArgument, Value: v.quote(), Accepted: accepted}
	}
	return errs
}
