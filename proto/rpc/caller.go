package rpc

import (
	"context"
	"net"
	"net/http"
	"time"

	"connectrpc.com/connect"
)

const (
	// LargestAnswer bounds the messages that a caller reads, in bytes. Lists and plans are
	// larger than requests.
	LargestAnswer = 4 * LargestMessage

	pingAfter   = 10 * time.Second // without traffic on a connection
	pingTimeout = 5 * time.Second
	fileBuffer  = 256 << 10
)

// CallerConfig configures a Caller.
type CallerConfig struct {
	// DialTimeout bounds a connection attempt.
	DialTimeout time.Duration
	// Dial replaces TCP, for a unix socket. May be nil.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Transport replaces the whole transport, of calls and files, for tests. May be nil.
	Transport http.RoundTripper
}

// Caller is the calling side of a process: all Connect clients and plain HTTP requests go
// through one. Limits, interceptors and credentials for all calls are added here. Calls
// may overlap.
type Caller struct {
	calls *http.Client
	files *http.Client
	own   bool // the transports are its own
}

// NewCaller returns a caller. Close ends its idle connections.
func NewCaller(cfg CallerConfig) *Caller {
	if cfg.Transport != nil {
		return &Caller{
			calls: &http.Client{Transport: cfg.Transport},
			files: &http.Client{Transport: cfg.Transport, CheckRedirect: noRedirect},
		}
	}
	dial := cfg.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: cfg.DialTimeout}).DialContext
	}
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	return &Caller{
		own: true,
		calls: &http.Client{Transport: &http.Transport{
			Protocols: &protocols, DialContext: dial,
			// Pings detect a dead host.
			HTTP2: &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
		}},
		// HTTP/1.1 costs the least CPU time for files.
		files: &http.Client{
			Transport: &http.Transport{
				DialContext: dial, DisableCompression: true, ExpectContinueTimeout: cfg.DialTimeout,
				WriteBufferSize: fileBuffer, ReadBufferSize: fileBuffer, IdleConnTimeout: 30 * time.Second,
			},
			CheckRedirect: noRedirect,
		},
	}
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Client returns a Connect client of a service at url:
//
//	rpc.Client(caller, droverv1connect.NewServerServiceClient, url)
func Client[C any](c *Caller, newClient func(connect.HTTPClient, string, ...connect.ClientOption) C, url string) C {
	return newClient(c.calls, url, connect.WithReadMaxBytes(LargestAnswer))
}

// Files returns the client for files over plain HTTP. It does not follow redirects.
func (c *Caller) Files() *http.Client { return c.files }

// Close closes idle connections, except those of a replaced transport.
func (c *Caller) Close() {
	if !c.own {
		return
	}
	c.calls.CloseIdleConnections()
	c.files.CloseIdleConnections()
}
