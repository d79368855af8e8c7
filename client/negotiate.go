package client

import (
	"context"
	"errors"
	"sync"

	"github.com/seed-9b8f70bb/drover/client/rpc"
)

// mostAsked bounds the widths of a menu that are negotiated at a time.
const mostAsked = 4

// negotiated is the answer to a Map call.
type negotiated struct {
	Decision *Decision `proto:"decision"`
}

// Negotiate asks the sites what they offer for a request, and submits nothing. If no
// site accepts the request, that is no error: then nothing is Chosen.
func (c *Client) Negotiate(ctx context.Context, service string, args ...Arg) (*Decision, error) {
	r, err := c.prepare(ctx, service, args)
	if err != nil {
		return nil, err
	}
	return c.negotiate(ctx, r)
}

// Menu negotiates a request at each of these widths, and submits nothing. Width 0 is
// the one that each site chooses. The answers are in the order of the widths; each is
// from another instant.
func (c *Client) Menu(ctx context.Context, service string, widths []int, args ...Arg) ([]*Decision, error) {
	r, err := c.prepare(ctx, service, args)
	if err != nil {
		return nil, err
	}
	var (
		answers = make([]*Decision, len(widths))
		errs    = make([]error, len(widths))
		wg      sync.WaitGroup
		free    = make(chan struct{}, mostAsked)
	)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i, w := range widths {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			asked := *r
			if w > 0 {
				asked.width = &w
			}
			if answers[i], errs[i] = c.negotiate(ctx, &asked); errs[i] != nil {
				cancel() // half a menu is of no use
			}
		})
	}
	wg.Wait()
	for _, err := range errs { // the first failure, not the cancellations after it
		if err != nil && !errors.Is(err, context.Canceled) {
			return nil, err
		}
	}
	return answers, errors.Join(errs...)
}

func (c *Client) negotiate(ctx context.Context, r *request) (*Decision, error) {
	return retry(ctx, c, func(ctx context.Context, agent string) (*Decision, error) {
		answer, err := as[negotiated](c.conn.Map(ctx, agent, rpc.Mapping{
			Request: r.message(), Within: c.cfg.CallTimeout * 4 / 5, Negotiate: true,
		}))
		if err != nil {
			return nil, err
		}
		return answer.Decision, nil
	})
}
