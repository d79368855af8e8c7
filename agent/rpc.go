package agent

import (
	"context"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// face is the agent's AgentService. It translates and decides nothing.
type face struct{ a *Agent }

var _ droverv1connect.AgentServiceHandler = face{}

// server returns the HTTP server of the RPC face, and its health.
func (a *Agent) server() (*http.Server, *rpc.Health) {
	return rpc.Serve(rpc.Config{
		Services: []rpc.Service{{
			Name: droverv1connect.AgentServiceName,
			Handler: func(opts ...connect.HandlerOption) (string, http.Handler) {
				return droverv1connect.NewAgentServiceHandler(face{a: a}, opts...)
			},
		}},
		Options: []connect.HandlerOption{
			connect.WithRecover(a.recovered),
			connect.WithInterceptors(connect.UnaryInterceptorFunc(a.logged)),
		},
		Log: a.log,
	})
}

// logged notes every call and gives every error its code and detail.
func (a *Agent) logged(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		began := time.Now()
		res, err := next(ctx, req)
		if err != nil {
			err = connectError(err)
		}
		a.log.Debug("call", "procedure", req.Spec().Procedure, "took", time.Since(began), "error", err)
		return res, err
	}
}

// recovered answers for a handler that panicked.
func (a *Agent) recovered(_ context.Context, spec connect.Spec, _ http.Header, cause any) error {
	a.log.Error("panic", "procedure", spec.Procedure, "cause", cause)
	return connectError(&problem.Problem{Reason: problem.Internal, Message: "the agent failed; its log says more"})
}
