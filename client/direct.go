package client

import (
	"context"
	"fmt"
	"io"

	"github.com/google/uuid"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/client/submission"
)

// Direct talks to one server without an agent, and retries nothing. It is for measuring
// a server, and for asking one when its agents are down.
type Direct struct {
	client *Client
	at     submission.Target
}

// NewDirect returns a client of the server at a URL. It ignores the agents of the
// configuration. It opens no connection yet; Close closes those opened later.
func NewDirect(server string, cfg Config, opts ...Option) (*Direct, error) {
	check := cfg
	check.Agents = []string{server}
	if err := check.Validate(); err != nil {
		return nil, fmt.Errorf("server %s: %w", Redacted(server), err)
	}
	return &Direct{client: open(cfg, opts), at: submission.Target{Address: server}}, nil
}

// Close closes idle connections.
func (d *Direct) Close() { d.client.Close() }

// Status returns the state of the server's queue.
func (d *Direct) Status(ctx context.Context) (*Status, error) {
	ctx, cancel := context.WithTimeout(ctx, d.client.cfg.CallTimeout)
	defer cancel()
	return as[Status](d.client.conn.GetStatus(ctx, d.at.Address))
}

// Submit submits a request to the server, whose description of the service gives Text
// arguments their types.
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

// Wait returns a job when it has ended.
func (d *Direct) Wait(ctx context.Context, id string) (*Job, error) {
	var job *Job
	err := d.client.conn.WatchJob(ctx, d.at.Address, id, d.client.cfg.CallTimeout,
		func(m rpc.Message) (end bool, err error) {
			if job, err = as[Job](m, nil); err != nil {
				return true, err
			}
			return job.State.Final(), gone(job)
		})
	if err != nil {
		return nil, err
	}
	return job, nil
}

// Save downloads an output to path, which is replaced only by the complete file.
func (d *Direct) Save(ctx context.Context, id, argument, path string) error {
	job, err := d.client.jobAt(ctx, d.at.Address, id)
	if err != nil {
		return err
	}
	return save("output "+argument, path, func(w io.Writer) error {
		return d.client.downloadAt(ctx, d.at.Address, job, argument, toFile(w, path), func() {})
	})
}

func (d *Direct) describe(ctx context.Context, service string) (*Service, error) {
	return d.client.offeredAt(ctx, d.at.Address, service)
}
