package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"

	"github.com/google/uuid"

	"github.com/seed-9b8f70bb/drover/client/submission"
)

// Submit has a service executed and returns as soon as a server has accepted the
// job. Files among the arguments reach that server before.
//
// The error is an *problem.Problem when the request was refused or could not be sent, and
// a *submission.UnknownError when it was sent and not answered, also when ctx ended
// meanwhile: it names the job's ID, for Job to ask later. See Rerun for what a
// request that is idempotent can do about that.
func (c *Client) Submit(ctx context.Context, service string, args ...Arg) (*Job, error) {
	r, err := c.prepare(ctx, service, args)
	if err != nil {
		return nil, err
	}
	return c.execution(r).submit(ctx)
}

// Call submits, waits for the end, and puts the files of OutputTo in place. The
// error is that of Submit, of Wait, an *EndError with the job when it did not end
// well, or of a file that could not be brought.
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

// attempt submits a request under a fresh ID. A site to avoid comes last.
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
			c.places.put(id, place{target: a.Target, epoch: job.Epoch})
			r.notify(job)
			return job, nil
		case submission.Rerun:
			return nil, &lostError{lost: lost{id: id, at: a.Target}, err: a.Err}
		default:
			return nil, a.Err
		}
	}
}

// withdraw asks a server to withdraw a job, and returns nil when it has, the job
// when it had accepted it.
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
	// The agent should answer with those who answered, before the call ends.
	m, err := as[ranking](c.conn.Map(ctx, agent, rpc.Mapping{
		Request: r.message(), Job: id, Within: c.cfg.CallTimeout * 4 / 5,
		Negotiate: r.site != "", // the site's refusal is wanted, not that no site accepts
	}))
	if err != nil {
		return ranking{}, err
	}
	return m.only(r)
}

// submitAt brings the files and data to a server and submits. What fails before the
// submission proper is an error that says so: nothing of the job was sent.
func (c *Client) submitAt(ctx context.Context, at submission.Target, id string, r *request, m ranking) (*Job, error) {
	for try := 1; ; try++ {
		// Data that nobody has any more were maybe there when this was sent before, and
		// the server has the job: it is asked all the same.
		missing := c.supply(ctx, at, r)
		if missing != nil && problem.ReasonOf(missing) != problem.UnknownData {
			return nil, beforeSubmission(missing)
		}
		for _, f := range r.files() {
			if err := c.bring(ctx, at.Address, f, r.progress(f)); err != nil {
				return nil, beforeSubmission(err)
			}
		}
		job, err := c.handOver(ctx, at, id, r, m)
		switch {
		case problem.ReasonOf(err) != problem.UnknownData || len(r.handles()) == 0:
			return job, err
		case missing != nil:
			return nil, beforeSubmission(missing)
		case try == mostTries:
			return nil, err
		}
		c.log.Debug("data had to make room meanwhile", "job", id, "site", at.Site, "error", err)
	}
}

// handOver submits what is at the server with all it needs.
func (c *Client) handOver(ctx context.Context, at submission.Target, id string, r *request, m ranking) (*Job, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	var record rpc.Message
	if m.Decision != nil {
		record = m.Decision.Message
	}
	return as[Job](c.conn.Submit(ctx, at.Address, id, r.message(), record))
}
