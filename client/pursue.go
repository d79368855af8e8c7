package client

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// movedError is the result of a visit to a server after its job has moved away.
type movedError struct{ epoch uint32 }

func (e *movedError) Error() string { return "the job has gone to another site" }

// visitor makes its calls at a job's server. A long visit calls progress with the job's
// epoch when there is news.
type visitor func(ctx context.Context, server string, progress func(epoch uint32)) error

// checkID refuses what is not the ID of a job.
func checkID(id string) error {
	if made, err := uuid.Parse(id); err != nil || made.String() != id {
		const accepted = "the ID of a job, as submit prints it"
		return &problem.Problem{
			Reason: problem.BadValue, Field: "job_id", Accepted: accepted, Message: strconv.Quote(id),
		}
	}
	return nil
}

// pursue calls visit at the server that has the job, wherever it moves. seen, which may
// be nil, receives the job as an agent reports it.
func (c *Client) pursue(ctx context.Context, id string, cfg submission.Config, visit visitor, seen func(*Job)) error {
	if err := checkID(id); err != nil {
		return err
	}
	agents, at := c.roster(), c.locations.get(id)
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
			if seen != nil {
				seen(job)
			}
			c.locations.put(id, found)
			a = p.Found(c.now(), found.target, found.epoch)
		case submission.Visit:
			err := visit(ctx, a.Target.Address, p.Progress)
			if moved, ok := errors.AsType[*movedError](err); ok {
				a = p.Moved(c.now(), moved.epoch)
			} else if err != nil {
				c.log.Debug("job call failed", "job", id, "site", a.Target.Site, "error", err)
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

func (c *Client) find(ctx context.Context, agent, id string) (location, *Job, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	found, err := as[found](c.conn.FindJob(ctx, agent, id))
	if err != nil {
		return location{}, nil, err
	}
	if found.Job == nil {
		found.Job = &Job{}
	}
	return location{target: submission.Target(found.Target), epoch: found.Job.Epoch}, found.Job, nil
}

// gone returns a movedError for a job that has moved away.
func gone(j *Job) error {
	if j.State == Gone {
		return &movedError{epoch: j.Epoch}
	}
	return nil
}

// jobAt asks a server for a job that has not moved away.
func (c *Client) jobAt(ctx context.Context, server, id string) (*Job, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	job, err := as[Job](c.conn.GetJob(ctx, server, id))
	if err != nil {
		return nil, err
	}
	return job, gone(job)
}

// Job returns a job as it is now, retrying until patience runs out, like every call
// about one job. If the site does not answer, it returns the job as an agent last knew
// it, with UnknownFor set.
func (c *Client) Job(ctx context.Context, id string) (*Job, error) {
	var job, last *Job
	err := c.pursue(ctx, id, c.tries(c.cfg.Patience),
		func(ctx context.Context, server string, _ func(uint32)) (err error) {
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

// Wait returns a job when it has ended, well or not. If ctx ends first, the job
// continues.
func (c *Client) Wait(ctx context.Context, id string) (*Job, error) {
	return c.Watch(ctx, id, func(*Job) {})
}

// Watch calls see with the job as it is, then after every change up to its end, and
// returns it. Short-lived states can be skipped. It waits for a silent site until
// LongPatience runs out.
func (c *Client) Watch(ctx context.Context, id string, see func(*Job)) (*Job, error) {
	job, err := c.follow(ctx, id, 0, see)
	if err != nil {
		return nil, err
	}
	return job, nil
}

// follow is Watch with a time after which a job of unknown state counts as lost, 0 for
// never. With an error it returns the last job that it saw, which may be nil.
func (c *Client) follow(ctx context.Context, id string, rerun time.Duration, see func(*Job)) (*Job, error) {
	cfg := c.tries(c.cfg.LongPatience)
	cfg.Rerun = micros(rerun)
	var job *Job
	err := c.pursue(ctx, id, cfg, func(ctx context.Context, server string, progress func(uint32)) error {
		return c.conn.WatchJob(ctx, server, id, c.cfg.CallTimeout, func(m rpc.Message) (end bool, err error) {
			j, err := as[Job](m, nil)
			if err != nil {
				return true, err
			}
			progress(j.Epoch)
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

// Cancel cancels a job and returns it as it is then: cancelled, cancelling if that takes
// a while, or in the final state that it had reached before. The cancel of a moving job
// takes effect after the move: problem.Recorded means that this took longer than
// patience lasts.
func (c *Client) Cancel(ctx context.Context, id string) (*Job, error) {
	var job *Job
	err := c.pursue(ctx, id, c.tries(c.cfg.Patience),
		func(ctx context.Context, server string, _ func(uint32)) (err error) {
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

// unanswered is the failure of a cancel that is recorded and not decided: only the
// authority of a job decides it.
func unanswered(j *Job) error {
	if j.State.Final() || j.State == Cancelling || j.State == Gone {
		return nil
	}
	return &problem.Problem{
		Reason: problem.Recorded, Retryable: true,
		Message: fmt.Sprintf("the cancel of job %s is recorded at site %s, where it is %s, and not decided yet", j.ID,
			j.Site, j.State),
		Hint: "it will be decided when the move is settled; wait for the job to see the result",
	}
}

// Why returns the decision that brought a job where it is, and the job. The decision is
// nil if the client chose the site itself.
func (c *Client) Why(ctx context.Context, id string) (*Decision, *Job, error) {
	job, err := c.Job(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	return job.Decision, job, nil
}

// mostLocations bounds the locations that a client remembers. It forgets older ones: the
// agents know them.
const mostLocations = 4096

// location is where a job was last.
type location struct {
	target submission.Target
	epoch  uint32
}

// locations remembers which server has which job. The zero value is empty.
type locations struct {
	mu     sync.Mutex
	newest map[string]location
	older  map[string]location
}

func (p *locations) get(job string) location {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, ok := p.newest[job]; ok {
		return at
	}
	return p.older[job]
}

func (p *locations) put(job string, at location) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.newest) >= mostLocations/2 {
		p.older, p.newest = p.newest, nil
	}
	if p.newest == nil {
		p.newest = make(map[string]location)
	}
	p.newest[job] = at
}
