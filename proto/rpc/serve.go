package rpc

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

// worthCompressing is from how many bytes on an answer is compressed: for a short
// one that takes as long as the rest of its call.
const worthCompressing = 4096

// Service is one service of a face.
type Service struct {
	// Name is its full name, for health and reflection.
	Name string
	// Handler makes its handler, and says under which path.
	Handler func(opts ...connect.HandlerOption) (path string, h http.Handler)
}

// Config says what is served. Services and Log are required.
type Config struct {
	Services []Service
	// Plain are paths for plain HTTP beside them.
	Plain []Route
	// Options hold for the services, health and reflection.
	Options []connect.HandlerOption
	// Log takes what net/http complains about, as debug messages.
	Log hclog.Logger
}

// Health is the health service of a face. Calls may overlap.
type Health struct {
	services []string
	checker  *grpchealth.StaticChecker
}

// Stopping says that no further call should be sent here.
func (h *Health) Stopping() {
	for _, s := range append([]string{""}, h.services...) {
		h.checker.SetStatus(s, grpchealth.StatusNotServing)
	}
}

// Serve returns the HTTP server of an RPC face: HTTP/1.1 and HTTP/2 without
// encryption on one port, with health and reflection. The caller starts it, on
// a listener of its own, and ends it.
func Serve(cfg Config) (*http.Server, *Health) {
	var services []string
	for _, service := range cfg.Services {
		services = append(services, service.Name)
	}
	checker := grpchealth.NewStaticChecker(services...)
	checker.SetStatus("", grpchealth.StatusServing)
	names := grpcreflect.NewStaticReflector(services...)
	options := append([]connect.HandlerOption{connect.WithReadMaxBytes(LargestMessage), connect.WithCompressMinBytes(worthCompressing)}, cfg.Options...)
	options = append(options, codecs()...)
	mux := http.NewServeMux()
	for _, service := range cfg.Services {
		mux.Handle(service.Handler(options...))
	}
	for _, r := range cfg.Plain {
		mux.Handle(r.Pattern, r.Handler)
	}
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
	}, &Health{services: services, checker: checker}
}
