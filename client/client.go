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

// Client talks to one grid.
type Client struct {
	cfg       Config
	log       hclog.Logger
	transport http.RoundTripper
	caller    *protorpc.Caller
	began     time.Time // the epoch of now
	conn      *rpc.Conn
	places    places
	first     atomic.Int64 // the agent that answered last, from 0
}

// New returns a client. It opens no connection yet. Close frees what it has
// opened later.
func New(cfg Config, opts ...Option) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("client configuration: %w", err)
	}
	return open(cfg, opts), nil
}

func open(cfg Config, opts []Option) *Client {
	if cfg.Patience > 0 { // nobody wants one call to last longer than all of them
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

// Close closes the client's idle connections. A transport that was given by
// WithTransport is left alone.
func (c *Client) Close() {
	c.caller.Close()
}

// now returns the time since the client was made, on a clock that nobody sets.
func (c *Client) now() submission.Time {
	return submission.Time(time.Since(c.began) / time.Microsecond)
}

// tries returns the core's view of the configuration, with this patience.
func (c *Client) tries(patience time.Duration) submission.Config {
	return submission.Config{Agents: len(c.cfg.Agents), Patience: micros(patience)}
}

func micros(d time.Duration) submission.Duration { return submission.Duration(d / time.Microsecond) }

// roster returns the agents in the order in which to ask them: first the one
// that answered last, so that one which never does costs its time once.
func (c *Client) roster() []string {
	i := c.first.Load()
	return slices.Concat(c.cfg.Agents[i:], c.cfg.Agents[:i])
}

// answered notes that an agent has answered.
func (c *Client) answered(agent string) { c.first.Store(int64(slices.Index(c.cfg.Agents, agent))) }

// pause waits until an instant of now, or until ctx ends.
func (c *Client) pause(ctx context.Context, a submission.Action) {
	wait := time.Duration(a.Until.Sub(c.now())) * time.Microsecond
	c.log.Debug("trying again", "in", wait, "because", a.Err)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
