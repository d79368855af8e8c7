package agent

import (
	"net/http"

	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// face is the agent's AgentService. It translates and decides nothing.
type face struct{ a *Agent }

var _ droverv1connect.AgentServiceHandler = face{}

// server returns the HTTP server of the RPC face, and its health.
func (a *Agent) server() (*http.Server, *rpc.Health) {
	return rpc.Serve(rpc.Config{
		Name:     "agent",
		Services: []rpc.Service{rpc.Handle[droverv1connect.AgentServiceHandler](droverv1connect.NewAgentServiceHandler, face{a: a})},
		Log:      a.log,
	})
}
