package client

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/seed-9b8f70bb/drover/client/session"
)

// Submit has a service executed and returns as soon as a server has accepted the
// job. Files among the arguments reach that server before.
//
// The error is an *Error when the request was refused or could not be sent, and
// a *session.UnknownError when it was sent and not answered, also when ctx ended
// meanwhile: it names the job's ID, for Job to ask later.
func (c *Client) Submit(ctx context.Context, service string, args ...Arg) (*Job, error) {
	r, err := c.prepare(ctx, service, args)
	if err != nil {
		return nil, err
	}
	return c.submit(ctx, r)
}

// Call submits, waits for the end, and puts the files of OutputTo in place. The
// error is that of Submit, of Wait, an *EndError with the job when it did not end
// well, or of a file that could not be brought.
func (c *Client) Call(ctx context.Context, service string, args ...Arg) (*Job, error) {
	r, err := c.prepare(ctx, service, args)
	if err != nil {
		return nil, err
	}
	job, err := c.submit(ctx, r)
	if err != nil {
		return nil, err
	}
	ended, err := c.Watch(ctx, job.ID, r.notify)
	if err != nil {
		return job, err
	}
	if ended.State != Done {
		return ended, &EndError{Job: ended}
	}
	for _, o := range r.outputs {
		if err := c.Save(ctx, ended.ID, o.argument, o.path); err != nil {
			return ended, err
		}
	}
	return ended, nil
}

func (c *Client) submit(ctx context.Context, r *request) (*Job, error) {
	made, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make a job ID: %w", err)
	}
	id := made.String()
	var (
		s   = session.NewSubmission(c.tries(), id)
		m   ranking
		job *Job
	)
	for a := s.Start(c.now()); ; {
		if ctx.Err() != nil && a.Do != session.Done && a.Do != session.Fail {
			a = s.Abandon(c.now(), context.Cause(ctx))
		}
		switch a.Do {
		case session.Map:
			if m, err = c.rank(ctx, c.cfg.Agents[a.Agent], id, r); err != nil {
				a = s.Failed(c.now(), failureOf(err))
				break
			}
			a = s.Mapped(c.now(), m.targets)
		case session.Submit:
			if job, err = c.submitAt(ctx, a.Target, id, r, m); err != nil {
				c.log.Debug("submission failed", "job", id, "site", a.Target.Site, "error", err)
				a = s.Failed(c.now(), failureOf(err))
				break
			}
			a = s.Accepted(c.now())
		case session.Pause:
			c.pause(ctx, a)
			a = s.Awake(c.now())
		case session.Done:
			c.places.put(id, place{target: a.Target, epoch: job.Epoch})
			r.notify(job)
			return job, nil
		default:
			return nil, a.Err
		}
	}
}

// rank asks one agent.
func (c *Client) rank(ctx context.Context, agent, id string, r *request) (ranking, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	// The agent should answer with those who answered, before the call ends.
	return c.face.rank(ctx, agent, id, r, c.cfg.CallTimeout*4/5)
}

// submitAt brings the files to a server and submits. What fails before the
// submission proper is an error that says so: nothing of the job was sent.
func (c *Client) submitAt(ctx context.Context, at session.Target, id string, r *request, m ranking) (*Job, error) {
	for _, f := range r.files() {
		if err := c.face.upload(ctx, at.Address, f); err != nil {
			return nil, beforeSubmission(err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	return c.face.submit(ctx, at.Address, id, r, m)
}
