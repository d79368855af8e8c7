package client

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
)

const (
	// largestMessage bounds what the client reads of one message, bytes.
	largestMessage = 16 << 20
	// piece is how much of a file one message carries, bytes.
	piece = 256 << 10
)

// newTransport returns a transport that speaks HTTP/2 without encryption and
// notices a host that has gone.
func newTransport(dial time.Duration) *http.Transport {
	var only http.Protocols
	only.SetUnencryptedHTTP2(true)
	return &http.Transport{
		Protocols:   &only,
		DialContext: (&net.Dialer{Timeout: dial}).DialContext,
		HTTP2:       &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second},
	}
}

// face calls agents and servers. It translates and decides nothing.
type face struct {
	http    *http.Client
	files   *http.Client // for plain HTTP; nil: files go through calls, too
	mu      sync.Mutex
	agents  map[string]droverv1connect.AgentServiceClient // by URL
	servers map[string]droverv1connect.ServerServiceClient
}

func newFace(transport http.RoundTripper) *face {
	return &face{
		http:    &http.Client{Transport: transport},
		agents:  make(map[string]droverv1connect.AgentServiceClient),
		servers: make(map[string]droverv1connect.ServerServiceClient),
	}
}

func (f *face) agent(url string) droverv1connect.AgentServiceClient {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.agents[url] == nil {
		f.agents[url] = droverv1connect.NewAgentServiceClient(f.http, url, connect.WithReadMaxBytes(largestMessage))
	}
	return f.agents[url]
}

func (f *face) server(url string) droverv1connect.ServerServiceClient {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.servers[url] == nil {
		f.servers[url] = droverv1connect.NewServerServiceClient(f.http, url, connect.WithReadMaxBytes(largestMessage))
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
