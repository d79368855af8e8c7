package gridrpc

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Handle is a function of the grid: a service, at whatever site finishes each
// call first, or bound to one site. The zero Handle is invalid.
type Handle struct {
	grid    *Grid
	service client.Service
	site    string // "": the grid maps each call
	over    atomic.Bool
}

// Handle returns a handle whose calls the grid maps one by one. The code is
// FunctionNotFound when nobody offers the service.
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

// HandleAt returns a handle whose calls all go to one site. The codes are
// ServerNotFound when no agent knows it, FunctionNotFound when it does not offer
// the service, CommunicationFailed when it does not answer.
//
// A job waits, runs and ends there: it is never moved, also when the site is drained.
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

// Service describes what the handle calls, as it was when the handle was made.
func (h *Handle) Service() client.Service { return h.service }

// Site returns the site that the handle is bound to, "" for none.
func (h *Handle) Site() string { return h.site }

// Destruct makes the handle invalid. Sessions of its calls stay what they are. The
// code is InvalidFunctionHandle when it was invalid before.
func (h *Handle) Destruct() error {
	if h == nil || h.grid == nil || h.over.Swap(true) {
		return &CodeError{Code: InvalidFunctionHandle}
	}
	return nil
}

// HandleOf returns the handle that a session was called by, destructed or not.
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

// enter begins a call by the handle.
func (h *Handle) enter(ctx context.Context) (context.Context, func(), error) {
	if h == nil || h.grid == nil {
		return nil, nil, &CodeError{Code: InvalidFunctionHandle}
	}
	ctx, leave, err := h.grid.enter(ctx)
	if err == nil && h.over.Load() {
		leave()
		err = &CodeError{Code: InvalidFunctionHandle, Err: fmt.Errorf("the handle of %s was destructed", h.service.Name)}
	}
	return ctx, leave, err
}

// Call has the service executed, waits for the end, and fills in what the call
// writes. Arguments are given in the order in which the service declares them, as
// ArgStack.Push says; wishes about how it is executed (Width, Walltime, ...) stand
// anywhere between them.
//
// When ctx ends first the code is NotCompleted: the job runs on, and the session
// in the error can be waited for.
func (h *Handle) Call(ctx context.Context, args ...any) error {
	s, err := h.CallAsync(ctx, args...)
	if err != nil {
		return err
	}
	return s.Wait(ctx)
}

// CallAsync is Call without the wait: it returns when a server has accepted the
// job, which has what it reads by then. What the call writes is filled in by the
// wait that returns the session.
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

// ArgStack gathers the arguments of a call while the program runs, for callers
// that cannot write them down as a list. The zero ArgStack is empty and has no
// limit. It is not for several goroutines at once.
type ArgStack struct {
	most int // 0: no limit
	args []any
}

// NewArgStack returns an empty stack of at most so many arguments.
func NewArgStack(most int) (*ArgStack, error) {
	if most < 1 {
		return nil, coded(&problem.Problem{Reason: problem.OutOfRange, Field: "most", Accepted: "1 or more", Message: fmt.Sprint(most)}, nil)
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
			Reason: problem.OutOfRange, Field: "argument stack", Accepted: fmt.Sprintf("at most %d arguments", s.most), Message: "the stack is full",
		}, nil)
	}
	s.args = append(s.args, v)
	return nil
}

// Pop takes away the argument that was pushed last, and returns it; false when
// there is none.
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

// Len returns how many arguments are on the stack.
func (s *ArgStack) Len() int { return len(s.args) }

// CallStack is Call with the arguments of a stack, which keeps them.
func (h *Handle) CallStack(ctx context.Context, s *ArgStack) error {
	return h.Call(ctx, s.values()...)
}

// CallStackAsync is CallAsync with the arguments of a stack, which keeps them.
func (h *Handle) CallStackAsync(ctx context.Context, s *ArgStack) (*Session, error) {
	return h.CallAsync(ctx, s.values()...)
}

func (s *ArgStack) values() []any {
	if s == nil {
		return nil
	}
	return s.args
}
