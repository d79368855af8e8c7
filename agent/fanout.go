package agent

import (
	"context"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// result is one site's answer, or why there is none.
type result[T any] struct {
	value   T
	missing mapping.Missing
	problem *problem.Problem // when missing
}

// ask calls all sites at once and returns their results in the same order, as
// soon as all are there or patience is over. A call that is late is cancelled,
// and its result is a timeout whatever it may still say.
func ask[T any](ctx context.Context, patience time.Duration, sites []*mapping.Site, peers []*peer,
	call func(context.Context, *mapping.Site, *peer) result[T],
) []result[T] {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	type numbered struct {
		at int
		r  result[T]
	}
	// Room for all: who is late must not wait for a reader that has gone.
	answers := make(chan numbered, len(sites))
	out := make([]result[T], len(sites))
	waiting := 0
	for i, s := range sites {
		out[i] = late[T]()
		if s.Lost || peers[i] == nil {
			out[i] = result[T]{missing: mapping.Unreachable, problem: lostSite(s.Name)}
			continue
		}
		waiting++
		go func() { answers <- numbered{i, call(ctx, s, peers[i])} }()
	}
	for ; waiting > 0; waiting-- {
		select {
		case a := <-answers:
			out[a.at] = a.r
		case <-ctx.Done():
			return out
		}
	}
	return out
}

// askOne calls one site, with the agent's patience.
func askOne[T any](ctx context.Context, a *Agent, s *mapping.Site, p *peer, call func(context.Context, *peer) (T, error)) result[T] {
	return ask(ctx, a.patienceFor(ctx, 0), []*mapping.Site{s}, []*peer{p},
		func(ctx context.Context, _ *mapping.Site, p *peer) result[T] {
			v, err := call(ctx, p)
			if err != nil {
				return failed[T](ctx, err)
			}
			return result[T]{value: v}
		})[0]
}

// late is the result of a site that did not answer in time.
func late[T any]() result[T] {
	return result[T]{missing: mapping.Timeout, problem: &problem.Problem{
		Reason: problem.Timeout, Message: "no answer in time", Retryable: true,
	}}
}

// lostSite is the problem of a site that gossip has lost.
func lostSite(name string) *problem.Problem {
	return &problem.Problem{Reason: problem.Unreachable, Message: "the server of site " + name + " has fallen silent", Retryable: true}
}

// patienceFor returns how long answers may be awaited: no longer than asked for
// or configured, and so that the caller still hears of it.
func (a *Agent) patienceFor(ctx context.Context, asked time.Duration) time.Duration {
	p := a.cfg.Patience
	if asked > 0 {
		p = min(p, asked)
	}
	if end, ok := ctx.Deadline(); ok {
		p = min(p, max(time.Until(end)*3/4, time.Millisecond))
	}
	return p
}
