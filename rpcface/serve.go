package rpcface

import (
	"net/http"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"connectrpc.com/grpcreflect"
	"github.com/hashicorp/go-hclog"
)

// LargestMessage bounds what a face reads of one message, in bytes. A menu of
// shapes fits, requests name files and do not carry them, and pieces of files
// are smaller.
const LargestMessage = 4 << 20

// Config says what is served. Service, Handler and Log are required.
type Config struct {
	// Service is the full name of the service, for health and reflection.
	Service string
	// Handler makes the handler of the service, and says under which path.
	Handler func(opts ...connect.HandlerOption) (path string, h http.Handler)
	// Options hold for the service, health and reflection.
	Options []connect.HandlerOption
	// Log takes what net/http complains about, as debug messages.
	Log hclog.Logger
}

// Health is the health service of a face. Calls may overlap.
type Health struct {
	service string
	checker *grpchealth.StaticChecker
}

// Stopping says that no further call should be sent here.
func (h *Health) Stopping() {
	for _, s := range []string{"", h.service} {
		h.checker.SetStatus(s, grpchealth.StatusNotServing)
	}
}

// Serve returns the HTTP server of an RPC face: HTTP/1.1 and HTTP/2 without
// encryption on one port, with health and reflection. The caller starts it, on
// a listener of its own, and ends it.
func Serve(cfg Config) (*http.Server, *Health) {
	checker := grpchealth.NewStaticChecker(cfg.Service)
	checker.SetStatus("", grpchealth.StatusServing)
	names := grpcreflect.NewStaticReflector(cfg.Service)
	options := append([]connect.HandlerOption{connect.WithReadMaxBytes(LargestMessage)}, cfg.Options...)
	mux := http.NewServeMux()
	mux.Handle(cfg.Handler(options...))
	mux.Handle(grpchealth.NewHandler(checker, options...))
	mux.Handle(grpcreflect.NewHandlerV1(names, options...))
	mux.Handle(grpcreflect.NewHandlerV1Alpha(names, options...))
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:           mux,
		Protocols:         &protocols,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          cfg.Log.Named("http").StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}, &Health{service: cfg.Service, checker: checker}
}
