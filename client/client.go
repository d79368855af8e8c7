package client

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/client/submission"
	protorpc "github.com/seed-9b8f70bb/drover/proto/rpc"
)

// Client talks to one grid. Its methods may be called from several goroutines.
type Client struct {
	cfg       Config
	log       hclog.Logger
	transport http.RoundTripper
	caller    *protorpc.Caller
	began     time.Time // the epoch of now
	conn      *rpc.Conn
	locations locations
	first     atomic.Int64 // index of the agent that answered last
}

// New returns a client. It opens no connection yet; Close closes those opened later.
func New(cfg Config, opts ...Option) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("client configuration: %w", err)
	}
	return open(cfg, opts), nil
}

func open(cfg Config, opts []Option) *Client {
	if cfg.Patience > 0 { // one call must not outlast the patience for all of them
		cfg.CallTimeout = min(cfg.CallTimeout, max(cfg.Patience, minCallTimeout))
	}
	c := &Client{cfg: cfg, log: hclog.NewNullLogger(), began: time.Now()}
	for _, o := range opts {
		o(c)
	}
	c.caller = protorpc.NewCaller(protorpc.CallerConfig{DialTimeout: cfg.CallTimeout, Transport: c.transport})
	c.conn = rpc.NewConn(c.caller)
	return c
}

// Config returns the configuration of the client.
func (c *Client) Config() Config { return c.cfg }

// Close closes the client's idle connections. It does not close a transport from
// WithTransport.
func (c *Client) Close() {
	c.caller.Close()
}

// now returns the time since the client was made, on a monotonic clock.
func (c *Client) now() submission.Time {
	return submission.Time(time.Since(c.began) / time.Microsecond)
}

// tries returns the configuration of the core, with this patience.
func (c *Client) tries(patience time.Duration) submission.Config {
	return submission.Config{Agents: len(c.cfg.Agents), Patience: micros(patience)}
}

func micros(d time.Duration) submission.Duration { return submission.Duration(d / time.Microsecond) }

// roster returns the agents in the order in which to ask them, first the one that
// answered last: an agent that never answers costs its timeout only once.
func (c *Client) roster() []string {
	i := c.first.Load()
	return slices.Concat(c.cfg.Agents[i:], c.cfg.Agents[:i])
}

// answered notes that an agent has answered.
func (c *Client) answered(agent string) { c.first.Store(int64(slices.Index(c.cfg.Agents, agent))) }

// pause waits until an instant of now or the end of ctx.
func (c *Client) pause(ctx context.Context, a submission.Action) {
	wait := time.Duration(a.Until.Sub(c.now())) * time.Microsecond
	c.log.Debug("retrying", "in", wait, "error", a.Err)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Option configures a client beyond its configuration file.
type Option func(*Client)

// WithTransport sends all calls and files through t, which has to speak HTTP/2 without
// encryption. By default the client has its own transports.
func WithTransport(t http.RoundTripper) Option {
	return func(c *Client) { c.transport = t }
}

// WithLogger logs retries and their causes. By default nothing is logged.
func WithLogger(log hclog.Logger) Option {
	return func(c *Client) { c.log = log }
}
