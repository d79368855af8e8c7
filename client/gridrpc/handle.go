package gridrpc

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Handle is a function of the grid: a service, either at the site that finishes each
// call first, or at one site. The zero Handle is invalid.
type Handle struct {
	grid    *Grid
	service client.Service
	site    string // empty: the grid maps each call
	over    atomic.Bool
}

// Handle returns a handle that maps every call. The code is FunctionNotFound if no site
// offers the service.
func (g *Grid) Handle(ctx context.Context, service string) (*Handle, error) {
	ctx, leave, err := g.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	described, err := g.client.Describe(ctx, service)
	if err != nil {
		return nil, coded(err, nil)
	}
	return &Handle{grid: g, service: *described}, nil
}

// HandleAt returns a handle for calls to one site. The codes are ServerNotFound if no
// agent knows the site, FunctionNotFound if it does not offer the service, and
// CommunicationFailed if it does not answer.
//
// The jobs stay at that site: they are never moved, even if the site is drained.
func (g *Grid) HandleAt(ctx context.Context, site, service string) (*Handle, error) {
	ctx, leave, err := g.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	described, err := g.client.DescribeAt(ctx, site, service)
	if err != nil {
		return nil, coded(err, nil)
	}
	return &Handle{grid: g, service: *described, site: site}, nil
}

// Service returns the description of the service at the time the handle was made.
func (h *Handle) Service() client.Service { return h.service }

// Site returns the site of a HandleAt, "" for any.
func (h *Handle) Site() string { return h.site }

// Destruct makes the handle invalid. It does not affect sessions of its calls. The code
// is InvalidFunctionHandle if the handle was invalid before.
func (h *Handle) Destruct() error {
	if h == nil || h.grid == nil || h.over.Swap(true) {
		return &CodeError{Code: InvalidFunctionHandle}
	}
	return nil
}

// HandleOf returns the handle of a session, destructed or not.
func (g *Grid) HandleOf(s *Session) (*Handle, error) {
	_, leave, err := g.enter(context.Background())
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := g.check(s); err != nil {
		return nil, err
	}
	return s.handle, nil
}

// enter begins a call of the handle.
func (h *Handle) enter(ctx context.Context) (context.Context, func(), error) {
	if h == nil || h.grid == nil {
		return nil, nil, &CodeError{Code: InvalidFunctionHandle}
	}
	ctx, leave, err := h.grid.enter(ctx)
	if err == nil && h.over.Load() {
		leave()
		err = &CodeError{Code: InvalidFunctionHandle, Err: fmt.Errorf("the handle of %s was destructed",
			h.service.Name)}
	}
	return ctx, leave, err
}

// Call executes the service, waits for the end, and sets what the call writes. Arguments
// are in the order of the service's declaration; client.Service.Bind lists which values
// fit. Options (client.Width, client.Walltime, ...) can stand anywhere between them.
//
// If ctx ends first, the code is NotCompleted: the job continues, and the session in the
// error can be waited for.
func (h *Handle) Call(ctx context.Context, args ...any) error {
	s, err := h.CallAsync(ctx, args...)
	if err != nil {
		return err
	}
	return s.Wait(ctx)
}

// CallAsync is Call without the wait: it returns when a server has accepted the job and
// has its inputs. The wait that returns the session sets what the call writes.
func (h *Handle) CallAsync(ctx context.Context, args ...any) (*Session, error) {
	ctx, leave, err := h.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	given, outputs, err := h.service.Bind(args...)
	if err != nil {
		return nil, coded(err, nil)
	}
	if h.site != "" {
		given = append(given, client.AtSite(h.site))
	}
	e, err := h.grid.client.Start(ctx, h.service.Name, given...)
	if err != nil {
		return nil, coded(err, nil)
	}
	s := &Session{
		handle: h, id: SessionID(e.Job().ID), turn: make(chan struct{}, 1), execution: e,
		outputs: append(outputs, e.Destinations()...),
	}
	h.grid.opened(s)
	return s, nil
}

// ArgStack collects the arguments of a call at run time. The zero ArgStack is empty and
// unbounded. It is not safe for concurrent use.
type ArgStack struct {
	most int // 0: unbounded
	args []any
}

// NewArgStack returns an empty stack with a capacity.
func NewArgStack(most int) (*ArgStack, error) {
	if most < 1 {
		return nil, coded(&problem.Problem{
			Reason: problem.OutOfRange, Field: "most", Accepted: "1 or more", Message: fmt.Sprint(most),
		}, nil)
	}
	return &ArgStack{most: most}, nil
}

// Push adds an argument. The first one pushed is the first that the service declares.
// client.Service.Bind lists which values fit. Inputs are read at the call, and outputs
// are replaced when the wait returns.
//
// The code is RPCRefused when the stack is full.
func (s *ArgStack) Push(v any) error {
	if s.most > 0 && len(s.args) >= s.most {
		return coded(&problem.Problem{
			Reason: problem.OutOfRange, Field: "argument stack", Accepted: fmt.Sprintf("at most %d arguments", s.most),
			Message: "the stack is full",
		}, nil)
	}
	s.args = append(s.args, v)
	return nil
}

// Pop removes and returns the last argument, false if the stack is empty.
func (s *ArgStack) Pop() (any, bool) {
	n := len(s.args)
	if n == 0 {
		return nil, false
	}
	v := s.args[n-1]
	s.args[n-1] = nil
	s.args = s.args[:n-1]
	return v, true
}

// Len returns the number of arguments on the stack.
func (s *ArgStack) Len() int { return len(s.args) }

// CallStack is Call with the arguments of a stack, which stay on it.
func (h *Handle) CallStack(ctx context.Context, s *ArgStack) error {
	return h.Call(ctx, s.values()...)
}

// CallStackAsync is CallAsync with the arguments of a stack, which stay on it.
func (h *Handle) CallStackAsync(ctx context.Context, s *ArgStack) (*Session, error) {
	return h.CallAsync(ctx, s.values()...)
}

func (s *ArgStack) values() []any {
	if s == nil {
		return nil
	}
	return s.args
}
