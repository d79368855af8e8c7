package rpc

import (
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"connectrpc.com/grpcreflect"
	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

const (
	// LargestMessage bounds what a handler reads of one message, in bytes. A menu of
	// shapes fits; requests name files instead of carrying them, and chunks of files
	// are smaller.
	LargestMessage = 4 << 20

	// minCompressed is the size in bytes from which an answer is compressed.
	// Compressing a shorter one takes as long as the rest of its call.
	minCompressed = 4096

	headerTimeout      = 10 * time.Second
	defaultIdleTimeout = 2 * time.Minute
)

// Service is one Connect service of a process. Handle makes it.
type Service func(opts ...connect.HandlerOption) (path string, h http.Handler)

// Handle returns the service that impl implements:
//
//	rpc.Handle[droverv1connect.ServerServiceHandler](droverv1connect.NewServerServiceHandler, impl)
func Handle[H any](newHandler func(H, ...connect.HandlerOption) (string, http.Handler), impl H) Service {
	return func(opts ...connect.HandlerOption) (string, http.Handler) { return newHandler(impl, opts...) }
}

// Config configures what a process serves. Name, Services and Log are required.
type Config struct {
	// Name is what the process is called in answers: "agent".
	Name     string
	Services []Service
	// Routes are paths for plain HTTP beside the services.
	Routes []Route
	// Problem turns an error of the process into the problem that the caller gets. It returns
	// nil for an error that it does not know: a defect, with its text only in the log. A
	// *problem.Problem, an error of Connect and the end of a context never reach it. May be
	// nil.
	Problem func(error) *problem.Problem
	// Options apply to the services, health and reflection: after logging and the recovery of
	// panics, and before the codecs and the field rules.
	Options []connect.HandlerOption
	// IdleTimeout closes connections without calls. 0 is 2 minutes, below 0 never.
	IdleTimeout time.Duration
	// Log receives each call at level debug, defects and panics at level error.
	Log hclog.Logger
}

// Health is the health service of a process. Calls may overlap.
type Health struct {
	services []string
	checker  *grpchealth.StaticChecker
}

// Stopping announces that the process takes no more calls.
func (h *Health) Stopping() {
	for _, s := range append([]string{""}, h.services...) {
		h.checker.SetStatus(s, grpchealth.StatusNotServing)
	}
}

// Serve returns the HTTP server of a process: HTTP/1.1 and HTTP/2 without
// encryption on one port, with health and reflection. The caller starts it on a
// listener of its own, and stops it.
//
// It is the only place that makes handlers. An interceptor added to options below
// reaches every service of every process; a wrapper of the mux reaches the routes
// for plain HTTP too.
func Serve(cfg Config) (*http.Server, *Health) {
	calls := &calls{name: cfg.Name, problem: cfg.Problem, log: cfg.Log}
	options := []connect.HandlerOption{
		connect.WithReadMaxBytes(LargestMessage),
		connect.WithCompressMinBytes(minCompressed),
		connect.WithInterceptors(calls),    // outermost: it sees what the others return
		connect.WithRecover(calls.recover), // inside it, so that a panic is logged as a call too
	}
	options = append(options, cfg.Options...)
	options = append(options, codecs()...)
	options = append(options, connect.WithInterceptors(checked{})) // after codecs: of messages that could be read

	mux := http.NewServeMux()
	var names []string
	for _, service := range cfg.Services {
		path, h := service(options...)
		mux.Handle(path, h)
		names = append(names, strings.Trim(path, "/"))
	}
	for _, r := range cfg.Routes {
		mux.Handle(r.Pattern, calls.route(r))
	}
	checker := grpchealth.NewStaticChecker(names...)
	checker.SetStatus("", grpchealth.StatusServing)
	mux.Handle(grpchealth.NewHandler(checker, options...))
	reflector := grpcreflect.NewStaticReflector(names...)
	mux.Handle(grpcreflect.NewHandlerV1(reflector, options...))
	mux.Handle(grpcreflect.NewHandlerV1Alpha(reflector, options...))

	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	idle := cfg.IdleTimeout
	if idle == 0 {
		idle = defaultIdleTimeout
	}
	return &http.Server{
		Handler:           mux,
		Protocols:         &protocols,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idle,
		ErrorLog:          cfg.Log.Named("http").StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}, &Health{services: names, checker: checker}
}
