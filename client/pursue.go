package client

import (
	"context"
	"errors"
	"strconv"

	"github.com/google/uuid"

	"github.com/seed-9b8f70bb/drover/client/session"
)

// movedError is what a visit returns when the job has gone elsewhere.
type movedError struct{ epoch uint32 }

func (e *movedError) Error() string { return "the job has gone to another site" }

// visitor does at a job's server what it is there for. It calls heard with the
// job's epoch when a long visit brings news.
type visitor func(ctx context.Context, server string, heard func(epoch uint32)) error

// pursue brings a visitor to the server that has the job.
func (c *Client) pursue(ctx context.Context, id string, visit visitor) error {
	if made, err := uuid.Parse(id); err != nil || made.String() != id {
		const accepted = "the ID of a job, as submit prints it"
		return &Error{Reason: ReasonBadValue, Field: "job_id", Accepted: accepted, Message: strconv.Quote(id)}
	}
	at := c.places.get(id)
	p := session.NewPursuit(c.tries(), id, at.target, at.epoch)
	for a := p.Start(c.now()); ; {
		if ctx.Err() != nil && a.Do != session.Done && a.Do != session.Fail {
			return context.Cause(ctx)
		}
		switch a.Do {
		case session.Find:
			found, err := c.find(ctx, c.cfg.Agents[a.Agent], id)
			if err != nil {
				a = p.Failed(c.now(), failureOf(err))
				break
			}
			c.places.put(id, found)
			a = p.Found(c.now(), found.target, found.epoch)
		case session.Visit:
			err := visit(ctx, a.Target.Address, p.Heard)
			if moved, ok := errors.AsType[*movedError](err); ok {
				a = p.Moved(c.now(), moved.epoch)
			} else if err != nil {
				c.log.Debug("visit failed", "job", id, "site", a.Target.Site, "error", err)
				a = p.Failed(c.now(), failureOf(err))
			} else {
				a = p.Finished(c.now())
			}
		case session.Pause:
			c.pause(ctx, a)
			a = p.Awake(c.now())
		case session.Done:
			return nil
		default:
			return a.Err
		}
	}
}

func (c *Client) find(ctx context.Context, agent, id string) (place, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	return c.face.find(ctx, agent, id)
}

// gone returns a movedError for a job that is not here any more.
func gone(j *Job) error {
	if j.State == Gone {
		return &movedError{epoch: j.Epoch}
	}
	return nil
}

// Job returns a job as it is now. It tries for as long as patience lasts, like
// everything that is about one job.
func (c *Client) Job(ctx context.Context, id string) (*Job, error) {
	var job *Job
	err := c.pursue(ctx, id, func(ctx context.Context, server string, _ func(uint32)) (err error) {
		ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
		defer cancel()
		if job, err = c.face.job(ctx, server, id); err != nil {
			return err
		}
		return gone(job)
	})
	if err != nil {
		return nil, err
	}
	return job, nil
}

// Wait returns a job when it has ended, whatever its end was. When ctx ends
// first the job runs on.
func (c *Client) Wait(ctx context.Context, id string) (*Job, error) {
	return c.Watch(ctx, id, func(*Job) {})
}

// Watch calls see with the job as it is, then after every change, up to its end,
// and returns it. States that pass quickly may be skipped.
func (c *Client) Watch(ctx context.Context, id string, see func(*Job)) (*Job, error) {
	var job *Job
	err := c.pursue(ctx, id, func(ctx context.Context, server string, heard func(uint32)) error {
		return c.face.watch(ctx, server, id, func(j *Job) (end bool, err error) {
			heard(j.Epoch)
			if err := gone(j); err != nil {
				return true, err
			}
			job = j
			see(j)
			return j.State.Final(), nil
		})
	})
	if err != nil {
		return nil, err
	}
	return job, nil
}

// Cancel ends a job and returns it as it is then: cancelled, cancelling when that
// takes a while, or in another final state when it had ended already.
func (c *Client) Cancel(ctx context.Context, id string) (*Job, error) {
	var job *Job
	err := c.pursue(ctx, id, func(ctx context.Context, server string, _ func(uint32)) (err error) {
		ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
		defer cancel()
		if job, err = c.face.cancel(ctx, server, id); err != nil {
			return err
		}
		return gone(job)
	})
	if err != nil {
		return nil, err
	}
	return job, nil
}

// Why returns the record of the decision that brought a job where it is, and the
// job; the record is nil when the client had chosen the site itself.
func (c *Client) Why(ctx context.Context, id string) (*Decision, *Job, error) {
	job, err := c.Job(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	return job.Decision, job, nil
}
