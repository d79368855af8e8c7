package catalogue

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Catalogue holds the services of one site. It does not change after Load and is safe for
// concurrent use.
type Catalogue struct {
	services []*Service // by name
}

// Service is a named program that a site can run. Its fields are read-only.
type Service struct {
	Name      string
	Doc       string // one line
	Arguments []Argument
	Memory    int64 // of each task, in bytes; 0: unknown
	// Licenses are the licenses that each job holds while it runs.
	Licenses []batch.License
	// Score is the benchmark score of the machine that its model describes; 0: the model
	// holds for any machine.
	Score int32
	// Restartable reports whether running it again from the beginning is safe: a job
	// that was lost is then started again.
	Restartable bool
	// Checkpointable reports whether a job of it can be stopped and resumed later.
	Checkpointable bool
	// Launch is the number of times that the program of a job on several nodes is started.
	Launch batch.Launch
	// Script is its batch script, whose arguments are then the command; nil if the
	// command is a program with its arguments.
	Script *Script

	model    model
	walltime margin
	command  []template
	env      []envTemplate // by name

	checkpoint *checkpoint // nil: a job is suspended in place
	arrays     bool        // an argument is a vector or matrix
}

// UnknownService reports that a site has no service of this name.
type UnknownService struct {
	Name  string
	Known []string // by name
}

// Error names the service and the existing ones.
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

// Values holds a request's arguments, checked and complete. The zero Values belongs to no
// service.
type Values struct {
	service *Service
	list    []Value  // in the order of service.Arguments; zero for outputs
	layouts []Layout // in the same order, set for arrays; nil without arrays
}

// Service returns the service of these arguments.
func (v Values) Service() *Service { return v.service }

// Get returns the value of an argument; false if there is no such argument or it is
// output only.
func (v Values) Get(name string) (Value, bool) {
	if i := v.index(name); i >= 0 {
		return v.list[i], v.list[i].kind != 0
	}
	return Value{}, false
}

// Layout returns the layout of an input or output array; false if there is no such
// argument or it is not an array.
func (v Values) Layout(name string) (Layout, bool) {
	if i := v.index(name); i >= 0 && v.layouts != nil {
		return v.layouts[i], v.layouts[i].Dims != nil
	}
	return Layout{}, false
}

// index returns the index of the argument with the name; -1 if there is none.
func (v Values) index(name string) int {
	if v.service == nil {
		return -1
	}
	return slices.IndexFunc(v.service.Arguments, func(a Argument) bool { return a.Name == name })
}

// Input returns the total size of all input files and blocks in bytes. A size that would
// overflow the sum is not added.
func (v Values) Input() int64 {
	var sum int64
	for i := range v.list {
		if next := sum + v.list[i].file.Size; next >= sum {
			sum = next
		}
	}
	return sum
}

// Bind checks a request's values against the service's arguments and fills in the
// defaults. The error joins one *ArgumentError for each problem, in the order of the
// catalogue, with unknown names last.
func (s *Service) Bind(given map[string]Value) (Values, error) {
	v := Values{service: s, list: make([]Value, len(s.Arguments))}
	var errs []error
	known := 0
	for i := range s.Arguments {
		a := &s.Arguments[i]
		raw, ok := given[a.Name]
		if !ok {
			if a.Required {
				errs = append(errs, &ArgumentError{
					Service: s.Name, Argument: a.Name, Reason: ReasonMissingArgument, Accepted: a.Accepted(),
				})
			}
			v.list[i] = a.Default
			continue
		}
		known++
		bound, reason := a.bind(raw)
		if reason != "" {
			errs = append(errs, &ArgumentError{
				Service: s.Name, Argument: a.Name, Reason: reason, Value: raw.quote(), Accepted: a.Accepted(),
			})
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

// unknown returns an error for each given name that is not an argument of the service.
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
		errs[i] = &ArgumentError{
			Service: s.Name, Argument: name, Reason: ReasonUnknownArgument, Value: v.quote(), Accepted: accepted,
		}
	}
	return errs
}
