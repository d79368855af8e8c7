package client

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Submit submits a request and returns when a server has accepted the job. Files among
// the arguments reach the server before.
//
// The error is a *problem.Problem if the request was refused or could not be sent. It is
// a *submission.UnknownError, with the job's ID, if the request was sent and not
// answered, also if ctx ended meanwhile: Job can ask for it later. Rerun says what an
// idempotent request can do about that.
func (c *Client) Submit(ctx context.Context, service string, args ...Arg) (*Job, error) {
	r, err := c.prepare(ctx, service, args)
	if err != nil {
		return nil, err
	}
	return c.execution(r).submit(ctx)
}

// Call submits a request, waits for the end, and saves the outputs of OutputTo. The
// error is that of Submit or Wait, an *EndError with the job if it did not end well, or
// of a download.
func (c *Client) Call(ctx context.Context, service string, args ...Arg) (*Job, error) {
	e, err := c.Start(ctx, service, args...)
	if err != nil {
		return nil, err
	}
	ended, err := e.Wait(ctx)
	if err != nil {
		return ended, err
	}
	if ended.State != Done {
		return ended, &EndError{Job: ended}
	}
	for _, o := range e.Destinations() {
		if err := o.Fetch(ctx, c, ended.ID); err != nil {
			return ended, err
		}
	}
	return ended, nil
}

// attempt submits a request under a new ID. A site to avoid comes last.
func (c *Client) attempt(ctx context.Context, r *request, avoid string) (*Job, error) {
	made, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make a job ID: %w", err)
	}
	id := made.String()
	cfg := c.tries(c.cfg.Patience)
	cfg.Rerun = micros(r.rerun)
	var (
		agents = c.roster()

		s   = submission.NewSubmission(cfg, id, avoid)
		m   ranking
		job *Job
	)
	for a := s.Start(c.now()); ; {
		if ctx.Err() != nil && a.Do != submission.Done && a.Do != submission.Fail {
			a = s.Abandon(c.now(), context.Cause(ctx))
		}
		switch a.Do {
		case submission.Map:
			if m, err = c.rank(ctx, agents[a.Agent], id, r); err != nil {
				a = s.Failed(c.now(), submission.FailureOf(err))
				break
			}
			c.answered(agents[a.Agent])
			a = s.Mapped(c.now(), m.sites())
		case submission.Submit:
			switch job, err = c.submitAt(ctx, a.Target, id, r, m); {
			case err == nil:
				a = s.Accepted(c.now())
			case problem.ReasonOf(err) == problem.Withdrawn:
				a = s.Withdrawn(c.now())
			default:
				c.log.Debug("submission failed", "job", id, "site", a.Target.Site, "error", err)
				a = s.Failed(c.now(), submission.FailureOf(err))
			}
		case submission.Withdraw:
			switch job, err = c.withdraw(ctx, a.Target, id); {
			case err != nil:
				c.log.Debug("withdrawal failed", "job", id, "site", a.Target.Site, "error", err)
				a = s.Failed(c.now(), submission.FailureOf(err))
			case job == nil:
				c.log.Debug("withdrawn", "job", id, "site", a.Target.Site)
				a = s.Withdrawn(c.now())
			default:
				a = s.Accepted(c.now())
			}
		case submission.Pause:
			c.pause(ctx, a)
			a = s.Awake(c.now())
		case submission.Done:
			c.locations.put(id, location{target: a.Target, epoch: job.Epoch})
			r.notify(job)
			return job, nil
		case submission.Rerun:
			return nil, &lostError{lost: lost{id: id, at: a.Target}, err: a.Err}
		default:
			return nil, a.Err
		}
	}
}

// withdraw asks a server to withdraw a job. It returns nil if the server has, and the
// job if the server had accepted it.
func (c *Client) withdraw(ctx context.Context, at submission.Target, id string) (*Job, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	m, withdrawn, err := c.conn.Withdraw(ctx, at.Address, id)
	if err != nil || withdrawn {
		return nil, err
	}
	return as[Job](m, nil)
}

// ranking mirrors a MapResponse.
type ranking struct {
	Targets  []target  `proto:"targets"`
	Decision *Decision `proto:"decision"` // goes with the submission; nil for none
}

func (m ranking) sites() []submission.Target {
	var list []submission.Target
	for _, t := range m.Targets {
		list = append(list, submission.Target(t))
	}
	return list
}

// beforeSubmission marks a failed upload: nothing was submitted yet, and the request
// may go to another site. A file that cannot be read goes nowhere.
func beforeSubmission(err error) error {
	if _, ok := errors.AsType[*problem.Problem](err); !ok {
		return err
	}
	kind := submission.Unsent
	if submission.FailureOf(err).Kind == submission.Refused {
		kind = submission.Unfit
	}
	return submission.Failure{Kind: kind, Err: err}
}

// rank asks one agent.
func (c *Client) rank(ctx context.Context, agent, id string, r *request) (ranking, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	// The agent should answer with the estimates it has before the call times out.
	m, err := as[ranking](c.conn.Map(ctx, agent, rpc.Mapping{
		Request: r.message(), Job: id, Within: c.cfg.CallTimeout * 4 / 5,
		Negotiate: r.site != "", // the site's refusal is wanted, not that no site accepts
	}))
	if err != nil {
		return ranking{}, err
	}
	return m.only(r)
}

// submitAt sends files and data to a server and submits. An error before the submission
// itself says that nothing of the job was sent.
func (c *Client) submitAt(ctx context.Context, at submission.Target, id string, r *request, m ranking) (*Job, error) {
	for try := 1; ; try++ {
		// Data that is gone now may have existed at an earlier try, after which the
		// server has the job: it is asked anyway.
		missing := c.ensureData(ctx, at, r)
		if missing != nil && problem.ReasonOf(missing) != problem.UnknownData {
			return nil, beforeSubmission(missing)
		}
		for _, f := range r.files() {
			if err := c.ensureContent(ctx, at.Address, f, r.progress(f)); err != nil {
				return nil, beforeSubmission(err)
			}
		}
		job, err := c.submitTo(ctx, at, id, r, m)
		switch {
		case problem.ReasonOf(err) != problem.UnknownData || len(r.handles()) == 0:
			return job, err
		case missing != nil:
			return nil, beforeSubmission(missing)
		case try == mostTries:
			return nil, err
		}
		c.log.Debug("data evicted meanwhile", "job", id, "site", at.Site, "error", err)
	}
}

// submitTo submits to a server that has all the content.
func (c *Client) submitTo(ctx context.Context, at submission.Target, id string, r *request, m ranking) (*Job, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	var record rpc.Message
	if m.Decision != nil {
		record = m.Decision.Message
	}
	return as[Job](c.conn.Submit(ctx, at.Address, id, r.message(), record))
}

// AtSite has the request submitted to one site, where its job stays: it is never moved.
// The agent still asks that site, so a refusal arrives before anything is sent. The job
// has no decision record, because no sites were compared.
func AtSite(site string) Arg { return func(r *request) { r.site = site } }

// only reduces a ranking to the one site that a request may go to.
func (m ranking) only(r *request) (ranking, error) {
	if r.site == "" {
		return m, nil
	}
	if i := slices.IndexFunc(m.Targets, func(t target) bool { return t.Site == r.site }); i >= 0 {
		return ranking{Targets: m.Targets[i : i+1]}, nil
	}
	if m.Decision != nil {
		for _, c := range m.Decision.Candidates {
			if c.Site == r.site && c.Missing != nil && c.Missing.Detail != nil && c.Missing.Reason == "refused" {
				return ranking{}, c.Missing.Detail
			}
		}
	}
	return ranking{}, &problem.Problem{
		Reason: problem.Unreachable, Field: "site", Retryable: true,
		Message: fmt.Sprintf("site %s did not say whether it takes a request for %s", r.site, r.service),
		Hint:    "drover sites shows whether it is up, drover services what it offers",
	}
}
