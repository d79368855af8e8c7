package client

import (
	"context"
	"errors"
	"sync"
)

// mostAsked is how many widths of a menu are asked about at a time.
const mostAsked = 4

// Menu asks the sites what they would offer for a request at each of these widths, and
// submits nothing. Width 0 is the one that each site chooses itself. The answers are in
// the order of the widths, each of an instant of its own.
func (c *Client) Menu(ctx context.Context, service string, widths []int, args ...Arg) ([]*Decision, error) {
	r, err := c.prepare(ctx, service, args)
	if err != nil {
		return nil, err
	}
	var (
		answers = make([]*Decision, len(widths))
		errs    = make([]error, len(widths))
		wg      sync.WaitGroup
		slots   = make(chan struct{}, mostAsked)
	)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i, w := range widths {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			asked := *r
			if w > 0 {
				asked.width = &w
			}
			answers[i], errs[i] = insist(ctx, c, func(ctx context.Context, agent string) (*Decision, error) {
				return c.face.negotiate(ctx, agent, &asked, c.cfg.CallTimeout*4/5)
			})
			if errs[i] != nil {
				cancel() // nobody wants half a menu
			}
		})
	}
	wg.Wait()
	for _, err := range errs { // the first failure, not those that it led to
		if err != nil && !errors.Is(err, context.Canceled) {
			return nil, err
		}
	}
	return answers, errors.Join(errs...)
}
