package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/agent/rpc"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// The reasons that the agent gives for a move.
const (
	byHand        = "by hand"
	forDrain      = "drain"
	forWithdrawal = "service withdrawn"
)

// anyGain is the least gain of a move at any price: minus a hundred years, which no
// move loses and which fits every language's durations.
const anyGain = -100 * 365 * 24 * batch.Hour

// MoveJob orders a move: to a site, or to the best other one if to is empty. A nil
// minGain moves the job at any price.
func (a *Agent) MoveJob(
	ctx context.Context, id, to string, minGain *batch.Duration, reason string,
) (rpc.Job, rpc.Target, error) {
	order := rpc.MoveOrder{Job: id, MinGain: anyGain, Reason: byHand, Agent: a.cfg.Name}
	if minGain != nil {
		order.MinGain = *minGain
	}
	if reason != "" {
		order.Reason = reason
	}
	at, err := a.locate(ctx, id)
	if err != nil {
		return rpc.Job{}, rpc.Target{}, err
	}
	target, err := a.destination(ctx, at, to)
	if err != nil {
		return rpc.Job{}, rpc.Target{}, err
	}
	job, err := a.orderMove(ctx, at, target, order)
	if err != nil {
		return rpc.Job{}, rpc.Target{}, err
	}
	a.log.Info("move began", "job", id, "from", at.site.Name, "to", target.Site, "reason", order.Reason)
	return job, target, nil
}

// destination returns where a job is to go: to the site that is asked for, or to the
// best other one.
func (a *Agent) destination(ctx context.Context, at *whereabouts, to string) (rpc.Target, error) {
	if at.job.Silent() {
		return rpc.Target{}, &problem.Problem{
			Reason: problem.Unreachable, Retryable: true,
			Message: fmt.Sprintf("job %s is at site %s, which does not answer", at.job.ID(), at.site.Name),
			Hint:    "only that site can release it; try again when it is back",
		}
	}
	if to != "" {
		return a.namedTarget(at, to)
	}
	r := at.job.Request()
	c, err := a.choose(ctx, a.patienceFor(ctx, 0), inquiry{
		request: r, service: r.Service(), input: r.InputBytes(true), from: at.site.Name, without: at.site.Name,
	})
	if err != nil {
		return rpc.Target{}, err
	}
	return c.targets()[0], nil
}

// namedTarget returns the site of a name if the job could go there.
func (a *Agent) namedTarget(at *whereabouts, to string) (rpc.Target, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	service := at.job.Request().Service()
	var names []string
	for _, s := range a.view.Candidates(nil, service) {
		if s.Name != at.site.Name && !s.Load.Draining {
			names = append(names, s.Name)
		}
	}
	accepted := "no other site offers " + service
	if len(names) > 0 {
		accepted = "one of " + strings.Join(names, ", ")
	}
	s := a.view.Get(to)
	switch {
	case s == nil:
		return rpc.Target{}, &problem.Problem{
			Reason: problem.UnknownSite, Field: "to", Message: fmt.Sprintf("there is no site %q", to),
			Accepted: accepted,
		}
	case to == at.site.Name:
		return rpc.Target{}, &problem.Problem{
			Reason: problem.BadValue, Field: "to", Message: fmt.Sprintf("job %s is at site %s", at.job.ID(), to),
			Accepted: accepted,
		}
	case s.Lost:
		return rpc.Target{}, lostSite(to)
	case s.Load.Draining:
		return rpc.Target{}, drainingSite(to)
	case !s.Offers(service):
		return rpc.Target{}, &problem.Problem{
			Reason: problem.UnknownService, Field: "to",
			Message: fmt.Sprintf("site %s does not offer %s", to, service), Accepted: accepted,
		}
	}
	return rpc.Target{Site: s.Name, Address: s.Address}, nil
}

// orderMove orders a job's server to begin a move, at the epoch at which the job was
// located.
func (a *Agent) orderMove(ctx context.Context, at *whereabouts, to rpc.Target, order rpc.MoveOrder) (rpc.Job, error) {
	order.To, order.Epoch = to.Site, at.job.Epoch()
	return askOne(ctx, a, at.site, at.peer, func(ctx context.Context) (rpc.Job, error) {
		return at.peer.Move(ctx, order)
	})
}

// wakeDrain lets drainSites look at once. It never blocks.
func (a *Agent) wakeDrain() {
	select {
	case a.draining <- struct{}{}:
	default:
	}
}

// drainSites moves the waiting jobs of draining sites, and of withdrawn services, away until ctx ends.
func (a *Agent) drainSites(ctx context.Context) {
	tick := time.NewTicker(a.cfg.Poll) // pauses after failures end without news
	defer tick.Stop()
	for {
		for _, e := range a.evictions() {
			a.tasks.Go(func() { a.evict(ctx, e) })
		}
		select {
		case <-ctx.Done():
			return
		case <-a.draining:
		case <-tick.C:
		}
	}
}

// eviction is a job that is to leave its site now.
type eviction struct {
	site *mapping.Site
	peer *rpc.Peer
	job  string
}

// evictions returns the jobs that the core wants moved.
func (a *Agent) evictions() []eviction {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []eviction
	for _, s := range a.view.Sites(nil) {
		switch {
		case s.Lost: // its drain continues when it is back
		case !s.Load.Empties():
			a.drain.Stop(s.Name)
		default:
			for _, id := range a.drain.Next(a.now(), s, a.jobs, nil) {
				out = append(out, eviction{site: s, peer: a.peers[s.Name], job: id})
			}
		}
	}
	return out
}

// evict moves one job to the best other site, and reports the outcome to the core.
func (a *Agent) evict(ctx context.Context, e eviction) {
	to, err := a.moveAway(ctx, e)
	outcome := outcomeOf(err)
	if ctx.Err() != nil {
		return
	}
	switch outcome {
	case mapping.Ordered:
		a.log.Info("drain move began", "job", e.job, "site", e.site.Name, "to", to)
	case mapping.Overtaken: // another agent was faster, or the job started
		a.log.Debug("drain move overtaken", "job", e.job, "site", e.site.Name, "error", err)
	case mapping.NoSite, mapping.Immovable:
		a.log.Warn("drain move failed", "job", e.job, "site", e.site.Name, "error", err)
	}
	a.mu.Lock()
	a.drain.Done(a.now(), e.site.Name, e.job, outcome)
	a.mu.Unlock()
	a.wakeDrain()
}

// outcomeOf returns how an order to move ended.
func outcomeOf(err error) mapping.Outcome {
	if err == nil {
		return mapping.Ordered
	}
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		switch p.Reason {
		case problem.UnknownJob, problem.NotWaiting, problem.StaleEpoch:
			return mapping.Overtaken
		case problem.NotMovable:
			return mapping.Immovable
		}
	}
	return mapping.NoSite
}

// moveAway moves a job that leaves its site to the best other one, and returns its name.
// It asks the site first whether the job still leaves: what the agent knows is as old as
// its last poll.
func (a *Agent) moveAway(ctx context.Context, e eviction) (string, error) {
	status, err := askOne(ctx, a, e.site, e.peer, func(ctx context.Context) (rpc.Status, error) {
		return e.peer.Status(ctx, false)
	})
	if err != nil {
		return "", err
	}
	load := status.Load()
	if a.setLoad(e.site.Name, load); !load.Empties() {
		return "", problem.New(problem.NotWaiting, "no job leaves the site any more")
	}
	job, err := askOne(ctx, a, e.site, e.peer, func(ctx context.Context) (rpc.Job, error) {
		return e.peer.Job(ctx, e.job)
	})
	if err != nil {
		return "", err
	}
	if job.State() != mapping.Waiting {
		return "", problem.New(problem.NotWaiting, "the job is %v", job.State())
	}
	if !load.Leaves(job.Request().Service()) {
		return "", problem.New(problem.NotWaiting, "the site offers the service again")
	}
	if job.Stays() {
		return "", problem.New(problem.NotMovable, "the job has an agreement, or is in a reservation: it stays")
	}
	at := &whereabouts{site: e.site, peer: e.peer, job: job}
	to, err := a.destination(ctx, at, "")
	if err != nil {
		return "", err
	}
	order := rpc.MoveOrder{Job: e.job, MinGain: anyGain, Reason: forDrain, Agent: a.cfg.Name}
	if !load.Draining {
		order.Reason = forWithdrawal
	}
	_, err = a.orderMove(ctx, at, to, order)
	return to.Site, err
}
