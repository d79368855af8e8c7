package client

import (
	"context"
	"net/http/httptrace"
	"sync"
	"sync/atomic"

	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

const (
	// piece is how much of a file one message carries, bytes.
	piece = 256 << 10
)

// face calls agents and servers. It translates and decides nothing.
type face struct {
	caller  *rpc.Caller
	mu      sync.Mutex
	agents  map[string]droverv1connect.AgentServiceClient // by URL
	servers map[string]droverv1connect.ServerServiceClient
}

func newFace(caller *rpc.Caller) *face {
	return &face{
		caller:  caller,
		agents:  make(map[string]droverv1connect.AgentServiceClient),
		servers: make(map[string]droverv1connect.ServerServiceClient),
	}
}

func (f *face) agent(url string) droverv1connect.AgentServiceClient {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.agents[url] == nil {
		f.agents[url] = rpc.Client(f.caller, droverv1connect.NewAgentServiceClient, url)
	}
	return f.agents[url]
}

func (f *face) server(url string) droverv1connect.ServerServiceClient {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.servers[url] == nil {
		f.servers[url] = rpc.Client(f.caller, droverv1connect.NewServerServiceClient, url)
	}
	return f.servers[url]
}

// call is one call under way, and what is known of it.
type call struct {
	who  string      // "agent", "server"
	url  string      // as it may be shown
	sent atomic.Bool // there was a connection on which something may have been sent
}

// begin returns the context of a call that notes whether it got a connection.
func begin(ctx context.Context, who, url string) (context.Context, *call) {
	c := &call{who: who, url: Redacted(url)}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { c.sent.Store(true) },
	}), c
}
