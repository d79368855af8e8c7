package client

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Service is a program that sites offer under a name.
type Service struct {
	Message   rpc.Message  // that it was decoded from
	Name      string       `proto:"service.name"`
	Doc       string       `proto:"service.doc"`
	Arguments []Argument   `proto:"service.arguments"`
	MinWidth  int          `proto:"service.width_min"` // processors
	MaxWidth  int          `proto:"service.width_max"`
	Moldable  bool         `proto:"service.moldable"`
	Memory    int64        `proto:"service.memory_bytes"` // of each task; 0 if not known
	Sites     []string     `proto:"sites"`                // that offer it
	Withdrawn []Withdrawal `proto:"withdrawn"`            // sites that cannot launch it now
}

// Withdrawal is a site that cannot launch a service now.
type Withdrawal struct {
	Site   string `proto:"site"`
	Reason string `proto:"reason"`
}

// MarshalJSON returns the JSON of a drover.v1.OfferedService.
func (s Service) MarshalJSON() ([]byte, error) { return rpc.JSON("OfferedService", s) }

// ServiceList is a list of services.
type ServiceList struct {
	Services []Service `proto:"services"` // by name
}

// MarshalJSON returns the JSON of a drover.v1.ListServicesResponse.
func (l ServiceList) MarshalJSON() ([]byte, error) { return rpc.JSON("ListServicesResponse", l) }

// Argument describes one argument of a service.
type Argument struct {
	Name     string       `proto:"name"`
	Doc      string       `proto:"doc"`
	Type     ArgumentType `proto:"type"`
	Required bool         `proto:"required"`
	Default  string       `proto:"default"` // as text; empty if required
	Minimum  string       `proto:"minimum"` // as text; empty for no bound
	Maximum  string       `proto:"maximum"` // as text; empty for no bound
	Choices  []string     `proto:"choices"`
	Element  ElementType  `proto:"element"` // of a vector or matrix
	// Dimensions are expressions over the other arguments, "n" or "rows(a)": one for
	// a vector, two for a matrix, none for any dimensions.
	Dimensions []string `proto:"dimensions"`
}

// MarshalJSON returns the JSON of a drover.v1.Argument.
func (a Argument) MarshalJSON() ([]byte, error) { return rpc.JSON("Argument", a) }

// Argument returns the argument with a name, nil if there is none.
func (s *Service) Argument(name string) *Argument {
	for i := range s.Arguments {
		if s.Arguments[i].Name == name {
			return &s.Arguments[i]
		}
	}
	return nil
}

// ArgumentType is the type of an argument.
type ArgumentType string

// The types of arguments. What is only sent has no suffix.
const (
	TypeInt         ArgumentType = "int"
	TypeFloat       ArgumentType = "float"
	TypeString      ArgumentType = "string"
	TypeBool        ArgumentType = "bool"
	TypeFile        ArgumentType = "file"
	TypeFileOut     ArgumentType = "file-out"
	TypeFileInout   ArgumentType = "file-inout"
	TypeVector      ArgumentType = "vector"
	TypeVectorOut   ArgumentType = "vector-out"
	TypeVectorInout ArgumentType = "vector-inout"
	TypeMatrix      ArgumentType = "matrix"
	TypeMatrixOut   ArgumentType = "matrix-out"
	TypeMatrixInout ArgumentType = "matrix-inout"
)

// Sent says whether a file, vector or matrix of this type goes to the site.
func (t ArgumentType) Sent() bool {
	switch t {
	case TypeFile, TypeFileInout, TypeVector, TypeVectorInout, TypeMatrix, TypeMatrixInout:
		return true
	}
	return false
}

// Written says whether the job writes a file, vector or matrix for this type, which
// can be fetched.
func (t ArgumentType) Written() bool {
	switch t {
	case TypeFileOut, TypeFileInout, TypeVectorOut, TypeVectorInout, TypeMatrixOut, TypeMatrixInout:
		return true
	}
	return false
}

// Array says whether it is a vector or a matrix.
func (t ArgumentType) Array() bool { return t.dimensions() > 0 }

// dimensions returns how many dimensions there are, 0 for what is no array.
func (t ArgumentType) dimensions() int {
	switch t {
	case TypeVector, TypeVectorOut, TypeVectorInout:
		return 1
	case TypeMatrix, TypeMatrixOut, TypeMatrixInout:
		return 2
	}
	return 0
}

// accepted says which Go values an argument takes.
func accepted(a *Argument) string {
	of := string(a.Element)
	switch a.Type {
	case TypeInt:
		return "an integer of 64 bits"
	case TypeFloat:
		return "a number"
	case TypeString:
		return "a string"
	case TypeBool:
		return "a bool"
	case TypeFile:
		return "a string, the path of a file, or a []byte, its content"
	case TypeFileOut:
		return "a string, the path to write to, a *[]byte, an io.Writer, or nil"
	case TypeFileInout:
		return "a string, the path of a file, or a *[]byte, its content"
	case TypeVector:
		return "a vector of " + of + ": a []" + of + ", or a string, the path of a .npy file"
	case TypeVectorOut:
		return "a *[]" + of + ", a string, the path to write to, an io.Writer, or nil"
	case TypeVectorInout:
		return "a vector of " + of + ": a *[]" + of + ", or a string, the path of a .npy file"
	case TypeMatrix:
		return "a matrix of " + of + ": a *Dense[" + of + "], or a string, the path of a .npy file"
	case TypeMatrixOut:
		return "a *Dense[" + of + "], a string, the path to write to, an io.Writer, or nil"
	case TypeMatrixInout:
		return "a matrix of " + of + ": a *Dense[" + of + "], or a string, the path of a .npy file"
	}
	return "nothing: this client does not know the type " + string(a.Type)
}

// Services lists the services of all sites, by name.
func (c *Client) Services(ctx context.Context) ([]Service, error) { return c.services(ctx, "") }

// Service describes one service.
func (c *Client) Service(ctx context.Context, name string) (*Service, error) {
	filter, err := terms("name", name)
	if err != nil {
		return nil, err
	}
	found, err := c.services(ctx, filter)
	if err != nil {
		return nil, err
	}
	if name == "" || len(found) == 0 {
		return nil, notOffered(name)
	}
	return &found[0], nil
}

func (c *Client) services(ctx context.Context, filter string) ([]Service, error) {
	list, err := pages(ctx, c, func(ctx context.Context, agent, token string) (rpc.Message, error) {
		return c.conn.ListServices(ctx, agent, filter, token)
	}, func(all, page *ServiceList) { all.Services = append(all.Services, page.Services...) })
	if err != nil {
		return nil, err
	}
	return list.Services, nil
}

// Describe describes one service, like Service, but retries until patience runs out.
// If no site offers the service, the error says which services there are.
func (c *Client) Describe(ctx context.Context, service string) (*Service, error) {
	return inquire(ctx, c, c.tries(c.cfg.Patience), func(ctx context.Context, agent string) (*Service, error) {
		return c.describeAt(ctx, agent, service)
	})
}

// describeAt asks one agent. If that agent does not know the service, its refusal to
// map the service says more: which services there are, or that there is no site.
func (c *Client) describeAt(ctx context.Context, agent, service string) (*Service, error) {
	asking, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	filter, err := terms("name", service)
	if err != nil {
		return nil, err
	}
	found, err := as[ServiceList](c.conn.ListServices(asking, agent, filter, ""))
	switch {
	case err != nil:
		return nil, err
	case service != "" && len(found.Services) > 0:
		return &found.Services[0], nil
	}
	if _, err := c.rank(ctx, agent, "", &request{service: service}); err != nil {
		return nil, err
	}
	return nil, notOffered(service) // a site has just begun to offer it
}

// DescribeAt describes one service as a site offers it.
func (c *Client) DescribeAt(ctx context.Context, site, service string) (*Service, error) {
	address, err := c.addressOf(ctx, site)
	if err != nil {
		return nil, err
	}
	return c.offeredAt(ctx, address, service)
}

// offeredAt asks a server to describe one of its services.
func (c *Client) offeredAt(ctx context.Context, address, service string) (*Service, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	list, err := as[ServiceList](c.conn.Describe(ctx, address))
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list.Services, func(s Service) bool { return s.Name == service })
	if i < 0 {
		return nil, notOffered(service)
	}
	return &list.Services[i], nil
}

func notOffered(service string) *problem.Problem {
	return &problem.Problem{
		Reason: problem.UnknownService, Field: "request.service", Retryable: true,
		Message: fmt.Sprintf("no site that is up offers service %q", service),
		Hint:    "drover services lists what the grid offers",
	}
}
