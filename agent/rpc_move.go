package agent

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// The reasons that the agent gives for a move.
const (
	byHand   = "by hand"
	forDrain = "drain"
)

// atAnyPrice is the least gain of a move at any price: minus a hundred years,
// which no move loses, and which fits every language's durations.
func atAnyPrice() *durationpb.Duration { return &durationpb.Duration{Seconds: -100 * 365 * 24 * 3600} }

// MoveJob orders a move.
func (f face) MoveJob(ctx context.Context, req *droverv1.AgentServiceMoveJobRequest) (*droverv1.AgentServiceMoveJobResponse, error) {
	order := &droverv1.MoveJobRequest{
		JobId: req.GetJobId(), MinGain: req.GetMinGain(), Reason: req.GetReason(), Agent: f.a.cfg.Name,
	}
	switch {
	case order.MinGain == nil:
		order.MinGain = atAnyPrice()
	case order.MinGain.CheckValid() != nil:
		return nil, &problem.Problem{
			Reason: problem.OutOfRange, Field: "min_gain", Message: order.MinGain.String(),
			Accepted: "a duration, or none for a move at any price",
		}
	}
	if order.Reason == "" {
		order.Reason = byHand
	}
	at, err := f.a.locate(ctx, req.GetJobId())
	if err != nil {
		return nil, err
	}
	to, err := f.a.destination(ctx, at, req.GetTo())
	if err != nil {
		return nil, err
	}
	job, err := f.a.order(ctx, at, to, order)
	if err != nil {
		return nil, err
	}
	f.a.log.Info("a move has begun", "job", order.JobId, "from", at.site.Name, "to", to.GetSite(), "reason", order.Reason)
	return &droverv1.AgentServiceMoveJobResponse{Job: job, To: to}, nil
}

// destination returns where a job is to go: to the site that is asked for, or to
// the best other one.
func (a *Agent) destination(ctx context.Context, at *located, to string) (*droverv1.Target, error) {
	if at.job.GetUnknownFor() != nil {
		return nil, &problem.Problem{
			Reason: problem.Unreachable, Retryable: true,
			Message: fmt.Sprintf("job %s is at site %s, which does not answer", at.job.GetId(), at.site.Name),
			Hint:    "nobody else can let it go; try again when the site is back",
		}
	}
	if to != "" {
		return a.named(at, to)
	}
	r := at.job.GetRequest()
	c, err := a.choose(ctx, a.patienceFor(ctx, 0), inquiry{
		service: r.GetService(), input: inputBytes(r, true), from: at.site.Name, without: at.site.Name,
		estimate: func(ctx context.Context, p *peer, notBefore batch.Duration) result[mapping.Answer] {
			return p.estimate(ctx, r, notBefore)
		},
	})
	if err != nil {
		return nil, err
	}
	return c.targets()[0], nil
}

// named returns the site of a name, if a job could go there.
func (a *Agent) named(at *located, to string) (*droverv1.Target, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	service := at.job.GetRequest().GetService()
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
		return nil, &problem.Problem{Reason: problem.UnknownSite, Field: "to", Message: fmt.Sprintf("there is no site %q", to), Accepted: accepted}
	case to == at.site.Name:
		return nil, &problem.Problem{
			Reason: problem.BadValue, Field: "to", Message: fmt.Sprintf("job %s is at site %s", at.job.GetId(), to), Accepted: accepted,
		}
	case s.Lost:
		return nil, lostSite(to)
	case s.Load.Draining:
		return nil, drainingSite(to)
	case !s.Offers(service):
		return nil, &problem.Problem{
			Reason: problem.UnknownService, Field: "to", Message: fmt.Sprintf("site %s does not offer %s", to, service), Accepted: accepted,
		}
	}
	return &droverv1.Target{Site: s.Name, Address: s.Address}, nil
}

// order has the job's server begin a move at the epoch at which it was located.
func (a *Agent) order(ctx context.Context, at *located, to *droverv1.Target, order *droverv1.MoveJobRequest) (*droverv1.Job, error) {
	order.To, order.SeenEpoch = to.GetSite(), at.job.GetEpoch()
	r := askOne(ctx, a, at.site, at.peer, func(ctx context.Context, p *peer) (*droverv1.MoveJobResponse, error) {
		return p.client.MoveJob(ctx, order)
	})
	if r.missing != mapping.Answered {
		return nil, r.problem
	}
	return r.value.GetJob(), nil
}

// moveAway has a job of a draining site moved to the best other one, whose name
// it returns. The site is asked first whether it still drains: what the agent
// knows is as old as its last poll.
func (a *Agent) moveAway(ctx context.Context, e eviction) (string, error) {
	q := askOne(ctx, a, e.site, e.peer, func(ctx context.Context, p *peer) (mapping.Load, error) { return p.status(ctx) })
	if q.missing != mapping.Answered {
		return "", q.problem
	}
	if a.heard(e.site.Name, q.value); !q.value.Draining {
		return "", &problem.Problem{Reason: problem.NotWaiting, Message: "the site does not drain any more"}
	}
	r := askOne(ctx, a, e.site, e.peer, func(ctx context.Context, p *peer) (*droverv1.GetJobResponse, error) {
		return p.client.GetJob(ctx, &droverv1.GetJobRequest{JobId: e.job})
	})
	if r.missing != mapping.Answered {
		return "", r.problem
	}
	job := r.value.GetJob()
	if job.GetState() != droverv1.JobState_JOB_STATE_WAITING {
		return "", &problem.Problem{Reason: problem.NotWaiting, Message: "the job is " + statesIn[job.GetState()].String()}
	}
	if job.GetAgreement() != droverv1.AgreementState_AGREEMENT_STATE_UNSPECIFIED || job.GetRequest().GetInto() != "" {
		return "", &problem.Problem{Reason: problem.NotMovable, Message: "it has an agreement, or is in a reservation: it stays"}
	}
	at := &located{site: e.site, peer: e.peer, job: job}
	to, err := a.destination(ctx, at, "")
	if err != nil {
		return "", err
	}
	_, err = a.order(ctx, at, to, &droverv1.MoveJobRequest{
		JobId: e.job, MinGain: atAnyPrice(), Reason: forDrain, Agent: a.cfg.Name,
	})
	return to.GetSite(), err
}
