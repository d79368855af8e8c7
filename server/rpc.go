package server

import (
	"net/http"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// face is the ServerService. It translates and decides nothing.
type face struct{ s *Server }

// face returns the HTTP server of the RPC face, and its health.
func (s *Server) face() (*http.Server, *rpc.Health) {
	return rpc.Serve(rpc.Config{
		Name: "server",
		Services: []rpc.Service{
			rpc.Handle[droverv1connect.ServerServiceHandler](droverv1connect.NewServerServiceHandler, face{s}),
			rpc.Handle[droverv1connect.PeerServiceHandler](droverv1connect.NewPeerServiceHandler, peers{s}),
		},
		Routes:  plain{s}.routes(),
		Problem: publicProblem,
		Options: []connect.HandlerOption{connect.WithConditionalHandlerOptions(uncompressedFiles)},
		Log:     s.log,
	})
}

// publicProblem returns the problem that an error is, nil for a defect.
func publicProblem(err error) *problem.Problem {
	if p, known := asProblem(err); known {
		return p
	}
	return nil
}

// uncompressedFiles sends chunks of files without compression, which takes longer
// than it saves on most of them.
func uncompressedFiles(spec connect.Spec) []connect.HandlerOption {
	switch spec.Procedure {
	case droverv1connect.ServerServiceDownloadProcedure, droverv1connect.ServerServiceDownloadDataProcedure, droverv1connect.PeerServiceReadContentProcedure:
		return []connect.HandlerOption{connect.WithCompressMinBytes(rpc.LargestMessage)}
	}
	return nil
}
