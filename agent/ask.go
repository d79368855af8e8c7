package agent

import (
	"context"
	"errors"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/agent/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// result is one site's answer, or why there is none.
type result[T any] struct {
	value   T
	missing mapping.Missing
	problem *problem.Problem // when missing
}

// resultOf returns the result of a call. Any error but a *rpc.Failure is the end of
// its context.
func resultOf[T any](v T, err error) result[T] {
	if err == nil {
		return result[T]{value: v}
	}
	f, ok := errors.AsType[*rpc.Failure](err)
	if !ok {
		f = rpc.Late()
	}
	return result[T]{missing: f.Missing, problem: f.Problem}
}

// refused reports whether the site has refused for one of the reasons, or for any if
// none is given.
func (r *result[T]) refused(reasons ...problem.Reason) bool {
	if r.missing != mapping.Refused || len(reasons) == 0 {
		return r.missing == mapping.Refused
	}
	for _, reason := range reasons {
		if r.problem.Reason == reason {
			return true
		}
	}
	return false
}

func (r *result[T]) answered() bool { return r.missing == mapping.Answered }

// absent returns the result of a site that gave no answer.
func (r *result[T]) absent(site string) rpc.Absent {
	return rpc.Absent{Site: site, Missing: r.missing, Problem: r.problem}
}

// ask calls all sites at once and returns their results in the same order, as soon
// as all have answered or patience is over. A late call is cancelled, and its result
// is a timeout even if the answer still comes.
func ask[T any](
	ctx context.Context, patience time.Duration, sites []*mapping.Site, peers []*rpc.Peer,
	call func(context.Context, *mapping.Site, *rpc.Peer) (T, error),
) []result[T] {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	type numbered struct {
		at int
		r  result[T]
	}
	answers := make(chan numbered, len(sites)) // a late call must not block
	out := make([]result[T], len(sites))
	waiting := 0
	for i, s := range sites {
		var none T
		out[i] = resultOf(none, rpc.Late())
		if s.Lost || peers[i] == nil {
			out[i] = result[T]{missing: mapping.Unreachable, problem: lostSite(s.Name)}
			continue
		}
		waiting++
		go func() { answers <- numbered{i, resultOf(call(ctx, s, peers[i]))} }()
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

// askAll asks all sites that the agent knows, with its patience. The error is that of
// ctx.
func askAll[T any](
	ctx context.Context, a *Agent, call func(context.Context, *mapping.Site, *rpc.Peer) (T, error),
) ([]*mapping.Site, []result[T], error) {
	sites, peers := a.known()
	results := ask(ctx, a.patienceFor(ctx, 0), sites, peers, call)
	return sites, results, ctx.Err()
}

// askOne asks one site, with the agent's patience. The error is a *problem.Problem.
func askOne[T any](
	ctx context.Context, a *Agent, s *mapping.Site, p *rpc.Peer, call func(context.Context) (T, error),
) (T, error) {
	r := askFor(ctx, a.patienceFor(ctx, 0), s, p, call)
	if !r.answered() {
		return r.value, r.problem
	}
	return r.value, nil
}

// askFor asks one site.
func askFor[T any](
	ctx context.Context, patience time.Duration, s *mapping.Site, p *rpc.Peer, call func(context.Context) (T, error),
) result[T] {
	return ask(ctx, patience, []*mapping.Site{s}, []*rpc.Peer{p},
		func(ctx context.Context, _ *mapping.Site, _ *rpc.Peer) (T, error) { return call(ctx) })[0]
}

// patienceFor returns how long to wait for answers: at most the configured patience
// and what was asked for, and less than ctx lasts so that the caller gets an answer.
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
