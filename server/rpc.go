package server

import (
	"context"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// face is the ServerService. It translates and decides nothing.
type face struct{ s *Server }

var _ droverv1connect.ServerServiceHandler = face{}

// face returns the HTTP server of the RPC face, and its health.
func (s *Server) face() (*http.Server, *rpc.Health) {
	return rpc.Serve(rpc.Config{
		Services: []rpc.Service{
			{Name: droverv1connect.ServerServiceName, Handler: func(opts ...connect.HandlerOption) (string, http.Handler) {
				return droverv1connect.NewServerServiceHandler(face{s}, opts...)
			}},
			{Name: droverv1connect.PeerServiceName, Handler: func(opts ...connect.HandlerOption) (string, http.Handler) {
				return droverv1connect.NewPeerServiceHandler(peers{s}, opts...)
			}},
		},
		Plain: plain{s}.routes(),
		Options: []connect.HandlerOption{
			connect.WithRecover(s.recovered),
			connect.WithInterceptors(errorsOut{s}),
			connect.WithConditionalHandlerOptions(filesAsTheyAre),
		},
		Log: s.log,
	})
}

// filesAsTheyAre has pieces of files sent without compression, which takes longer
// than it saves on most of them.
func filesAsTheyAre(spec connect.Spec) []connect.HandlerOption {
	switch spec.Procedure {
	case droverv1connect.ServerServiceDownloadProcedure, droverv1connect.ServerServiceDownloadDataProcedure, droverv1connect.PeerServiceReadContentProcedure:
		return []connect.HandlerOption{connect.WithCompressMinBytes(rpc.LargestMessage)}
	}
	return nil
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
	p := &problem.Problem{Reason: problem.Internal, Message: "the server failed; its log says more"}
	return rpc.WithDetail(p, p)
}
