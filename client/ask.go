package client

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// as decodes the answer of a call.
func as[T any](m rpc.Message, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	v := new(T)
	m.Decode(v)
	return v, nil
}

// ask calls the agents in turn until one answers, and fails when none does. It is
// for questions that a person can repeat.
func ask[T any](ctx context.Context, c *Client, call func(ctx context.Context, agent string) (T, error)) (T, error) {
	return inquire(ctx, c, submission.Config{Agents: len(c.cfg.Agents)}, call)
}

// retry calls the agents in turn until one answers or patience runs out.
func retry[T any](ctx context.Context, c *Client, call func(ctx context.Context, agent string) (T, error)) (T, error) {
	return inquire(ctx, c, c.tries(c.cfg.Patience), func(ctx context.Context, agent string) (T, error) {
		ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
		defer cancel()
		return call(ctx, agent)
	})
}

// retryServer calls one server until it answers or patience runs out.
func retryServer[T any](ctx context.Context, c *Client, call func(ctx context.Context) (T, error)) (T, error) {
	cfg := c.tries(c.cfg.Patience)
	cfg.Agents = 1
	return inquire(ctx, c, cfg, func(ctx context.Context, _ string) (T, error) {
		ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
		defer cancel()
		return call(ctx)
	})
}

// inquire drives a submission.Inquiry.
func inquire[T any](
	ctx context.Context, c *Client, cfg submission.Config, call func(ctx context.Context, agent string) (T, error),
) (T, error) {
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
				c.log.Debug("agent call failed", "agent", Redacted(agents[a.Agent]), "error", err)
				a = q.Failed(c.now(), submission.FailureOf(err))
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

// pages gathers all pages of a list from one agent. If that agent fails in the
// middle, the next one is asked for the list from its beginning: agents need not
// agree on where a page ends.
func pages[T any](ctx context.Context, c *Client, page pageCall, add func(all, page *T)) (*T, error) {
	return ask(ctx, c, func(ctx context.Context, agent string) (*T, error) {
		all := new(T)
		err := eachPage(ctx, c, agent, page, func(next *T) error {
			add(all, next)
			return nil
		})
		return all, err
	})
}

// pageCall asks an agent for the page of a list at a token.
type pageCall func(ctx context.Context, agent, token string) (rpc.Message, error)

// eachPage calls take for each page of a list of one agent, and fetches the next page meanwhile.
func eachPage[T any](ctx context.Context, c *Client, agent string, page pageCall, take func(*T) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		m   rpc.Message
		err error
	}
	fetch := func(token string) <-chan answer {
		answers := make(chan answer, 1)
		go func() {
			ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
			defer cancel()
			m, err := page(ctx, agent, token)
			answers <- answer{m, err}
		}()
		return answers
	}
	for next := fetch(""); next != nil; {
		a := <-next
		if a.err != nil {
			return a.err
		}
		next = nil
		if token := a.m.NextPageToken(); token != "" {
			next = fetch(token)
		}
		v := new(T)
		a.m.Decode(v)
		if err := take(v); err != nil {
			return err
		}
	}
	return nil
}

// merged returns the missing sites of two pages, by name. A silent site is missing
// on every page.
func merged(a, b []MissingSite) []MissingSite {
	bySite := make(map[string]MissingSite)
	for _, m := range append(slices.Clone(a), b...) {
		bySite[m.Site] = m
	}
	var list []MissingSite
	for _, site := range slices.Sorted(maps.Keys(bySite)) {
		list = append(list, bySite[site])
	}
	return list
}

// terms returns a filter of key=value pairs without those with an empty value.
func terms(pairs ...string) (string, error) {
	var list []string
	for i := 0; i < len(pairs); i += 2 {
		key, value := pairs[i], pairs[i+1]
		if strings.ContainsAny(value, " \t\n") {
			return "", problem.Field(problem.BadValue, key, "a word without spaces", "%q", value)
		}
		if value != "" {
			list = append(list, key+"="+value)
		}
	}
	return strings.Join(list, " "), nil
}
