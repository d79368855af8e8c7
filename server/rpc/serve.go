package rpc

import (
	"net/http"

	"connectrpc.com/connect"
	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// handler implements ServerService.
type handler struct {
	s   Server
	log hclog.Logger
}

// peerHandler implements PeerService.
type peerHandler struct{ handler }

// Serve returns the HTTP server for s and its health service. The caller starts
// and stops it.
func Serve(s Server, log hclog.Logger) (*http.Server, *rpc.Health) {
	h := handler{s: s, log: log}
	return rpc.Serve(rpc.Config{
		Name: "server",
		Services: []rpc.Service{
			rpc.Handle[droverv1connect.ServerServiceHandler](droverv1connect.NewServerServiceHandler, h),
			rpc.Handle[droverv1connect.PeerServiceHandler](droverv1connect.NewPeerServiceHandler, peerHandler{h}),
		},
		Routes:  httpHandler{h}.routes(),
		Problem: s.Problem,
		Options: []connect.HandlerOption{connect.WithConditionalHandlerOptions(uncompressedFiles)},
		Log:     log,
	})
}

// uncompressedFiles turns compression off for files: for most of them it takes more time than it
// saves.
func uncompressedFiles(spec connect.Spec) []connect.HandlerOption {
	if spec.Procedure == droverv1connect.PeerServiceReadContentProcedure {
		return []connect.HandlerOption{connect.WithCompressMinBytes(rpc.LargestMessage)}
	}
	return nil
}

// refusal returns err as the answer about one item of a call. It logs internal errors.
func (h handler) refusal(err error) *problem.Problem {
	if p := h.s.Problem(err); p != nil {
		return p
	}
	h.log.Error("item of a call failed", "error", err)
	return problem.New(problem.Internal, "the server failed; its log says more")
}
