package rpc

import (
	"context"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// Conn calls agents and servers, each named by its URL. Calls may overlap.
type Conn struct {
	caller  *rpc.Caller
	mu      sync.Mutex
	agents  map[string]droverv1connect.AgentServiceClient // by URL
	servers map[string]droverv1connect.ServerServiceClient
}

// NewConn returns a Conn. Closing the caller closes its connections.
func NewConn(caller *rpc.Caller) *Conn {
	return &Conn{
		caller:  caller,
		agents:  make(map[string]droverv1connect.AgentServiceClient),
		servers: make(map[string]droverv1connect.ServerServiceClient),
	}
}

func (c *Conn) agent(url string) droverv1connect.AgentServiceClient {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.agents[url] == nil {
		c.agents[url] = rpc.Client(c.caller, droverv1connect.NewAgentServiceClient, url)
	}
	return c.agents[url]
}

func (c *Conn) server(url string) droverv1connect.ServerServiceClient {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.servers[url] == nil {
		c.servers[url] = rpc.Client(c.caller, droverv1connect.NewServerServiceClient, url)
	}
	return c.servers[url]
}

// call is one call under way, and what is known about it.
type call struct {
	role string      // of the other side: agent or server
	url  string      // without its password
	sent atomic.Bool // there was a connection on which something may have been sent
}

// The roles of the other side of a call.
const (
	agent  = "agent"
	server = "server"
)

// begin returns the context of a call, which notes whether it got a connection.
func begin(ctx context.Context, role, url string) (context.Context, *call) {
	c := &call{role: role, url: Redacted(url)}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { c.sent.Store(true) },
	}), c
}

// unary makes a unary call.
func unary[Q, A any](
	ctx context.Context, role, url string, method func(context.Context, *Q) (*A, error), req *Q,
) (*A, error) {
	ctx, call := begin(ctx, role, url)
	res, err := method(ctx, req)
	if err != nil {
		return nil, call.failed(err)
	}
	return res, nil
}

// Redacted returns a URL without the password that may be in it, even if the URL
// is malformed.
func Redacted(address string) string {
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return address
	}
	scheme, _, ok := strings.Cut(address[:at], "//")
	if ok {
		scheme += "//"
	} else {
		scheme = ""
	}
	return scheme + "***" + address[at:]
}
