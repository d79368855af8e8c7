package gridrpc

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/seed-9b8f70bb/drover/client"
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
