package agent

import (
	"context"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"connectrpc.com/grpcreflect"
	"github.com/hashicorp/go-hclog"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
)

// largestMessage bounds what the agent reads of one message, in bytes. Requests
// name files and do not carry them.
const largestMessage = 4 << 20

// face is the agent's AgentService. It translates and decides nothing.
type face struct{ a *Agent }

var _ droverv1connect.AgentServiceHandler = face{}

// health is the agent's health service.
type health struct{ checker *grpchealth.StaticChecker }

// stopping says that no further call should be sent here.
func (h health) stopping() {
	for _, s := range []string{"", droverv1connect.AgentServiceName} {
		h.checker.SetStatus(s, grpchealth.StatusNotServing)
	}
}

// server returns the HTTP server of the RPC face: HTTP/1.1 and HTTP/2 without
// encryption on one port, with health and reflection.
func (a *Agent) server() (*http.Server, health) {
	checker := grpchealth.NewStaticChecker(droverv1connect.AgentServiceName)
	checker.SetStatus("", grpchealth.StatusServing)
	names := grpcreflect.NewStaticReflector(droverv1connect.AgentServiceName)
	options := []connect.HandlerOption{
		connect.WithReadMaxBytes(largestMessage),
		connect.WithRecover(a.recovered),
		connect.WithInterceptors(connect.UnaryInterceptorFunc(a.logged)),
	}
	mux := http.NewServeMux()
	mux.Handle(droverv1connect.NewAgentServiceHandler(face{a}, options...))
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
		ErrorLog:          a.log.Named("http").StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}, health{checker}
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
	return connectError(&problem{reason: internal, message: "the agent failed; its log says more"})
}

// detailOf returns a problem as it crosses the wire.
func detailOf(p *problem) *droverv1.ErrorDetail {
	if p == nil {
		return nil
	}
	return &droverv1.ErrorDetail{
		Reason: string(p.reason), Field: p.field, Accepted: p.accepted, Message: p.message,
		Hint: p.hint, Retryable: p.retryable,
	}
}

// problemOf is the inverse of detailOf.
func problemOf(d *droverv1.ErrorDetail) *problem {
	return &problem{
		reason: reason(d.GetReason()), field: d.GetField(), accepted: d.GetAccepted(), message: d.GetMessage(),
		hint: d.GetHint(), retryable: d.GetRetryable(),
	}
}
