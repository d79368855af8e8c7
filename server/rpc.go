package server

import (
	"context"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"connectrpc.com/grpcreflect"
	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
)

// largestMessage bounds what the server reads of one message, in bytes: a menu
// of shapes fits, and pieces of files are smaller.
const largestMessage = 4 << 20

// face is the ServerService. It translates and decides nothing.
type face struct{ s *Server }

var _ droverv1connect.ServerServiceHandler = face{}

// health is the server's health service.
type health struct{ checker *grpchealth.StaticChecker }

// stopping says that no further call should be sent here.
func (h health) stopping() {
	for _, s := range []string{"", droverv1connect.ServerServiceName} {
		h.checker.SetStatus(s, grpchealth.StatusNotServing)
	}
}

// face returns the HTTP server of the RPC face: HTTP/1.1 and HTTP/2 without
// encryption on one port, with health and reflection.
func (s *Server) face() (*http.Server, health) {
	checker := grpchealth.NewStaticChecker(droverv1connect.ServerServiceName)
	checker.SetStatus("", grpchealth.StatusServing)
	names := grpcreflect.NewStaticReflector(droverv1connect.ServerServiceName)
	options := []connect.HandlerOption{
		connect.WithReadMaxBytes(largestMessage),
		connect.WithRecover(s.recovered),
		connect.WithInterceptors(errorsOut{s}),
	}
	mux := http.NewServeMux()
	mux.Handle(droverv1connect.NewServerServiceHandler(face{s}, options...))
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
		ErrorLog:          s.log.Named("http").StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}, health{checker}
}

// errorsOut notes every call and gives every error its code and detail.
type errorsOut struct{ s *Server }

// WrapUnary is connect.Interceptor's.
func (e errorsOut) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		began := time.Now()
		res, err := next(ctx, req)
		return res, e.out(req.Spec(), began, err)
	}
}

// WrapStreamingClient is connect.Interceptor's; a server has no clients in it.
func (e errorsOut) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler is connect.Interceptor's.
func (e errorsOut) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		began := time.Now()
		return e.out(conn.Spec(), began, next(ctx, conn))
	}
}

func (e errorsOut) out(spec connect.Spec, began time.Time, err error) error {
	e.s.log.Debug("call", "procedure", spec.Procedure, "took", time.Since(began), "error", err)
	if err == nil {
		return nil
	}
	return e.s.connectError(spec, err)
}

// recovered answers for a handler that panicked.
func (s *Server) recovered(_ context.Context, spec connect.Spec, _ http.Header, cause any) error {
	s.log.Error("panic", "procedure", spec.Procedure, "cause", cause)
	return withDetail(&problem{reason: internal, message: "the server failed; its log says more"})
}
