package client

import (
	"context"

	"github.com/seed-9b8f70bb/drover/client/submission"
)

// ask calls the agents in turn until one answers, and gives up when none does.
// It is for questions that a person can ask again.
func ask[T any](ctx context.Context, c *Client, call func(ctx context.Context, agent string) (T, error)) (T, error) {
	return inquire(ctx, c, submission.Config{Agents: len(c.cfg.Agents)}, call)
}

// insist calls the agents in turn until one answers, for as long as patience
// lasts.
func insist[T any](ctx context.Context, c *Client, call func(ctx context.Context, agent string) (T, error)) (T, error) {
	return inquire(ctx, c, c.tries(c.cfg.Patience), func(ctx context.Context, agent string) (T, error) {
		ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
		defer cancel()
		return call(ctx, agent)
	})
}

func inquire[T any](ctx context.Context, c *Client, cfg submission.Config, call func(ctx context.Context, agent string) (T, error)) (T, error) {
	var answer, none T
	agents := c.roster()
	q := submission.NewInquiry(cfg)
	for a := q.Start(c.now()); ; {
		if ctx.Err() != nil && a.Do != submission.Done && a.Do != submission.Fail {
			return none, context.Cause(ctx)
		}
		switch a.Do {
		case submission.Ask:
			var err error
			if answer, err = call(ctx, agents[a.Agent]); err != nil {
				c.log.Debug("question failed", "agent", Redacted(agents[a.Agent]), "error", err)
				a = q.Failed(c.now(), failureOf(err))
				break
			}
			c.answered(agents[a.Agent])
			a = q.Answered(c.now())
		case submission.Pause:
			c.pause(ctx, a)
			a = q.Awake(c.now())
		case submission.Done:
			return answer, nil
		default:
			return none, a.Err
		}
	}
}

// pages gathers all pages of a list from one agent. When that one fails in the
// middle, the next one is asked for the list from its beginning: agents need not
// agree on where a page ends.
func pages[T any](ctx context.Context, c *Client, page func(ctx context.Context, agent, token string) (items []T, next string, err error)) ([]T, error) {
	return ask(ctx, c, func(ctx context.Context, agent string) ([]T, error) {
		var all []T
		for token := ""; ; {
			items, next, err := onePage(ctx, c, agent, token, page)
			if err != nil {
				return nil, err
			}
			all = append(all, items...)
			if token = next; token == "" {
				return all, nil
			}
		}
	})
}

func onePage[T any](ctx context.Context, c *Client, agent, token string, page func(ctx context.Context, agent, token string) ([]T, string, error)) ([]T, string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	return page(ctx, agent, token)
}
