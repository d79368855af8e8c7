package client

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"

	"github.com/google/uuid"

	"github.com/seed-9b8f70bb/drover/client/submission"
)

// movedError is what a visit returns when the job has gone elsewhere.
type movedError struct{ epoch uint32 }

func (e *movedError) Error() string { return "the job has gone to another site" }

// visitor does at a job's server what it is there for. It calls heard with the
// job's epoch when a long visit brings news.
type visitor func(ctx context.Context, server string, heard func(epoch uint32)) error

// checkID refuses what is not the ID of a job.
func checkID(id string) error {
	if made, err := uuid.Parse(id); err != nil || made.String() != id {
		const accepted = "the ID of a job, as submit prints it"
		return &problem.Problem{Reason: problem.BadValue, Field: "job_id", Accepted: accepted, Message: strconv.Quote(id)}
	}
	return nil
}

// pursue brings a visitor to the server that has the job. heard, which may be
// nil, is called with what an agent tells of the job.
func (c *Client) pursue(ctx context.Context, id string, cfg submission.Config, visit visitor, heard func(*Job)) error {
	if err := checkID(id); err != nil {
		return err
	}
	agents, at := c.roster(), c.places.get(id)
	p := submission.NewPursuit(cfg, id, at.target, at.epoch)
	for a := p.Start(c.now()); ; {
		if ctx.Err() != nil && a.Do != submission.Done && a.Do != submission.Fail {
			return context.Cause(ctx)
		}
		switch a.Do {
		case submission.Find:
			found, job, err := c.find(ctx, agents[a.Agent], id)
			if err != nil {
				a = p.Failed(c.now(), submission.FailureOf(err))
				break
			}
			c.answered(agents[a.Agent])
			if heard != nil {
				heard(job)
			}
			c.places.put(id, found)
			a = p.Found(c.now(), found.target, found.epoch)
		case submission.Visit:
			err := visit(ctx, a.Target.Address, p.Heard)
			if moved, ok := errors.AsType[*movedError](err); ok {
				a = p.Moved(c.now(), moved.epoch)
			} else if err != nil {
				c.log.Debug("visit failed", "job", id, "site", a.Target.Site, "error", err)
				a = p.Failed(c.now(), submission.FailureOf(err))
			} else {
				a = p.Finished(c.now())
			}
		case submission.Pause:
			c.pause(ctx, a)
			a = p.Awake(c.now())
		case submission.Done:
			return nil
		case submission.Rerun:
			return &lostError{lost: lost{id: id, at: a.Target}, err: a.Err}
		default:
			return a.Err
		}
	}
}

// found mirrors a FindJobResponse.
type found struct {
	Target target `proto:"target"`
	Job    *Job   `proto:"job"`
}

// target mirrors a Target.
type target struct {
	Site    string `proto:"site"`
	Address string `proto:"address"`
}

func (c *Client) find(ctx context.Context, agent, id string) (place, *Job, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	found, err := as[found](c.conn.FindJob(ctx, agent, id))
	if err != nil {
		return place{}, nil, err
	}
	if found.Job == nil {
		found.Job = &Job{}
	}
	return place{target: submission.Target(found.Target), epoch: found.Job.Epoch}, found.Job, nil
}

// gone returns a movedError for a job that is not here any more.
func gone(j *Job) error {
	if j.State == Gone {
		return &movedError{epoch: j.Epoch}
	}
	return nil
}

// jobAt asks a server for a job that has not gone.
func (c *Client) jobAt(ctx context.Context, server, id string) (*Job, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	job, err := as[Job](c.conn.GetJob(ctx, server, id))
	if err != nil {
		return nil, err
	}
	return job, gone(job)
}

// Job returns a job as it is now. It tries for as long as patience lasts, like
// everything that is about one job. When its site does not answer it is the job
// as an agent last heard of it, with UnknownFor set.
func (c *Client) Job(ctx context.Context, id string) (*Job, error) {
	var job, last *Job
	err := c.pursue(ctx, id, c.tries(c.cfg.Patience), func(ctx context.Context, server string, _ func(uint32)) (err error) {
		job, err = c.jobAt(ctx, server, id)
		return err
	}, func(j *Job) { last = j })
	if _, ok := errors.AsType[*submission.PatienceError](err); ok && last != nil && last.UnknownFor > 0 {
		return last, nil
	}
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
// and returns it. States that pass quickly may be skipped. A site that does not
// answer is waited for as long as LongPatience lasts.
func (c *Client) Watch(ctx context.Context, id string, see func(*Job)) (*Job, error) {
	job, err := c.follow(ctx, id, 0, see)
	if err != nil {
		return nil, err
	}
	return job, nil
}

// follow is Watch, with a time after which the job is given up for lost, 0 for
// never. With an error it returns the last that was seen, which may be nil.
func (c *Client) follow(ctx context.Context, id string, rerun time.Duration, see func(*Job)) (*Job, error) {
	cfg := c.tries(c.cfg.LongPatience)
	cfg.Rerun = micros(rerun)
	var job *Job
	err := c.pursue(ctx, id, cfg, func(ctx context.Context, server string, heard func(uint32)) error {
		return c.conn.WatchJob(ctx, server, id, c.cfg.CallTimeout, func(m rpc.Message) (end bool, err error) {
			j, err := as[Job](m, nil)
			if err != nil {
				return true, err
			}
			heard(j.Epoch)
			if err := gone(j); err != nil {
				return true, err
			}
			job = j
			see(j)
			return j.State.Final(), nil
		})
	}, nil)
	return job, err
}

// Cancel ends a job and returns it as it is then: cancelled, cancelling when that
// takes a while, or in another final state when it had ended already. A job that
// is on its way between sites is cancelled when it has arrived, or stayed: an
// *problem.Problem of problem.Recorded says that this took longer than patience lasts.
func (c *Client) Cancel(ctx context.Context, id string) (*Job, error) {
	var job *Job
	err := c.pursue(ctx, id, c.tries(c.cfg.Patience), func(ctx context.Context, server string, _ func(uint32)) (err error) {
		ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
		defer cancel()
		if job, err = as[Job](c.conn.CancelJob(ctx, server, id)); err != nil {
			return err
		}
		return errors.Join(gone(job), unanswered(job))
	}, nil)
	if err != nil {
		return nil, err
	}
	return job, nil
}

// unanswered is the failure of a cancel that is written down and not answered:
// only the authority of a job says what became of it.
func unanswered(j *Job) error {
	if j.State.Final() || j.State == Cancelling || j.State == Gone {
		return nil
	}
	return &problem.Problem{
		Reason: problem.Recorded, Retryable: true,
		Message: fmt.Sprintf("the cancel of job %s is recorded at site %s, where it is %s, and not answered yet", j.ID, j.Site, j.State),
		Hint:    "it will be, when its move is settled; wait for the job to see what came of it",
	}
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
