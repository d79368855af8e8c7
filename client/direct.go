package client

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/seed-9b8f70bb/drover/client/session"
)

// Direct talks to one server without an agent. It tries nothing twice: it is for
// measuring a server, and for asking one whose agents are down.
type Direct struct {
	client *Client
	at     session.Target
}

// NewDirect returns a client of the server at a URL. Agents of the configuration
// are not asked. It opens no connection yet; Close frees what it has opened
// later.
func NewDirect(server string, cfg Config, opts ...Option) (*Direct, error) {
	check := cfg
	check.Agents = []string{server}
	if err := check.Validate(); err != nil {
		return nil, fmt.Errorf("server %s: %w", server, err)
	}
	return &Direct{client: open(cfg, opts), at: session.Target{Address: server}}, nil
}

// Close closes idle connections.
func (d *Direct) Close() { d.client.Close() }

// Status returns the server's queue.
func (d *Direct) Status(ctx context.Context) (*Status, error) {
	ctx, cancel := context.WithTimeout(ctx, d.client.cfg.CallTimeout)
	defer cancel()
	return d.client.face.status(ctx, d.at.Address)
}

// Submit has a service executed there. Text among the arguments is read by what
// the server says the service is like.
func (d *Direct) Submit(ctx context.Context, service string, args ...Arg) (*Job, error) {
	r, err := d.client.prepareBy(ctx, service, args, d.describe)
	if err != nil {
		return nil, err
	}
	made, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make a job ID: %w", err)
	}
	return d.client.submitAt(ctx, d.at, made.String(), r, ranking{})
}

func (d *Direct) describe(ctx context.Context, service string) (*Service, error) {
	return d.client.offeredAt(ctx, d.at.Address, service)
}
