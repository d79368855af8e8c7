package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// mostReruns bounds the attempts that replace a lost one.
const mostReruns = 8

// lost is an attempt of unknown state.
type lost struct {
	id string
	at submission.Target
}

// lostError ends an attempt that another one replaces.
type lostError struct {
	lost
	err error
}

func (e *lostError) Error() string { return e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// Execution is one request through all its attempts: the first, and those that replace
// a lost one (see Rerun). Its methods may be called from several goroutines, Wait by one
// at a time.
type Execution struct {
	client  *Client
	request *request
	first   string // ID of the first lost attempt
	lost    []lost

	mu  sync.Mutex
	job *Job // as last seen; guarded by mu
}

// Start submits a request and returns when a server has accepted the job. Errors are
// those of Submit.
func (c *Client) Start(ctx context.Context, service string, args ...Arg) (*Execution, error) {
	r, err := c.prepare(ctx, service, args)
	if err != nil {
		return nil, err
	}
	e := c.execution(r)
	if _, err := e.submit(ctx); err != nil {
		return nil, err
	}
	return e, nil
}

func (c *Client) execution(r *request) *Execution {
	e := &Execution{client: c, request: r}
	notify := r.notify
	r.notify = func(j *Job) {
		e.saw(j)
		notify(j)
	}
	return e
}

// Job returns the job as it was last seen. It makes no call.
func (e *Execution) Job() *Job {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.job
}

func (e *Execution) saw(j *Job) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.job = j
}

// Refresh asks for the job as it is now, and keeps it if it has ended.
func (e *Execution) Refresh(ctx context.Context) (*Job, error) {
	before := e.Job()
	job, err := e.client.Job(ctx, before.ID)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if job.State.Final() && job.UnknownFor == 0 && e.job.ID == before.ID { // no attempt has replaced it
		e.job = job
	}
	return job, nil
}

// Destinations returns where the outputs go that OutputTo and TextOutput name.
func (e *Execution) Destinations() []*Destination {
	var list []*Destination
	for _, o := range e.request.outputs {
		list = append(list, &Destination{argument: o.argument, path: o.path})
	}
	return list
}

// submit brings the request to a server, in a new attempt if one is lost.
func (e *Execution) submit(ctx context.Context) (*Job, error) {
	for {
		avoid := ""
		if n := len(e.lost); n > 0 {
			avoid = e.lost[n-1].at.Site
		}
		job, err := e.client.attempt(ctx, e.request, avoid)
		if !e.again(err) {
			return job, e.final(err)
		}
	}
}

// Wait waits for the end of the job, or of the attempt that replaces it. Meanwhile it
// cancels lost attempts at sites that come back. It returns the job as last seen, with an
// error too.
func (e *Execution) Wait(ctx context.Context) (*Job, error) {
	var wg sync.WaitGroup
	defer wg.Wait()
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	ended := 0
	for job := e.Job(); ; {
		for ; ended < len(e.lost); ended++ {
			gone := e.lost[ended]
			wg.Go(func() { e.client.discard(waiting, gone) })
		}
		last, err := e.client.follow(ctx, job.ID, e.request.rerun, e.request.notify)
		if !e.again(err) {
			if last == nil {
				last = job
			}
			return last, e.final(err)
		}
		next, err := e.submit(ctx)
		if err != nil {
			return job, err
		}
		job = next
	}
}

// again notes a lost attempt, and reports whether to make another one. If the job was
// never seen, there is no request to submit again.
func (e *Execution) again(err error) bool {
	l, ok := errors.AsType[*lostError](err)
	if !ok || len(e.lost) >= mostReruns || e.request.service == "" {
		return false
	}
	if e.first == "" {
		e.first = l.id
	}
	if e.request.renew(e.first) != nil {
		return false
	}
	e.lost = append(e.lost, l.lost)
	e.client.log.Warn("attempt lost, starting another", "job", l.id, "site", l.at.Site, "error", l.err)
	return true
}

// final returns the error after the last attempt.
func (e *Execution) final(err error) error {
	l, ok := errors.AsType[*lostError](err)
	switch {
	case !ok:
		return err
	case e.request.service == "":
		return fmt.Errorf("%w; no new attempt was made, because no site that answers knows its request", l.err)
	}
	return l.err
}

// discard withdraws or cancels a lost attempt, retrying as long as ctx lasts: its site
// may come back.
func (c *Client) discard(ctx context.Context, l lost) {
	for ctx.Err() == nil {
		job, err := c.withdraw(ctx, l.at, l.id)
		if err == nil && job == nil {
			return
		}
		if err == nil {
			if _, err = c.Cancel(ctx, l.id); err == nil {
				c.log.Debug("lost attempt cancelled", "job", l.id, "site", l.at.Site)
				return
			}
		}
		c.pause(ctx, submission.Action{Until: c.now().Add(submission.LongestPause), Err: err})
	}
}

// checkRerun refuses a request that must not be executed twice.
func (r *request) checkRerun() error {
	switch {
	case r.rerun < 0:
		return &problem.Problem{
			Reason: problem.OutOfRange, Field: "rerun", Accepted: "above 0s, or none", Message: r.rerun.String(),
		}
	case r.rerun > 0 && !r.idempotent:
		return &problem.Problem{
			Reason: problem.NotIdempotent, Field: "rerun", Accepted: "an idempotent request",
			Message: "a new attempt needs an idempotent request, because both attempts may be executed",
			Hint:    "declare it idempotent if executing it twice does no harm, or do without",
		}
	}
	return nil
}

// renew makes the request a new attempt of the job with this ID.
func (r *request) renew(of string) error {
	r.retryOf = of
	if r.again == nil {
		return r.nameKept()
	}
	again, err := r.again.Retry(of, newHandle)
	r.again = &again
	return err
}

// repeatable refuses a request that cannot be submitted again from the job's record.
func repeatable(sent rpc.Request, id string) error {
	if !sent.Idempotent() {
		return &problem.Problem{
			Reason: problem.NotIdempotent, Field: "rerun", Accepted: "a job with an idempotent request",
			Message: fmt.Sprintf("the request of job %s is not idempotent: it must not be executed twice", id),
			Hint:    "wait without a new attempt",
		}
	}
	if name := sent.Sent(); name != "" {
		return &problem.Problem{
			Reason: problem.BadValue, Field: "request.arguments." + name, Accepted: "a request without files",
			Message: fmt.Sprintf("argument %s of job %s is a file, which is at the job's site only", name, id),
			Hint:    "ask for new attempts when submitting, where the file is",
		}
	}
	return nil
}

// WatchRerun is Watch for a job with an idempotent request, with the replacement of lost
// attempts that Rerun gives to Call: if the state of the job is unknown for this long,
// its request is submitted under a new ID, and that job is watched. The request must not
// have files, because they are at the silent site.
func (c *Client) WatchRerun(ctx context.Context, id string, after time.Duration, see func(*Job)) (*Job, error) {
	r := &request{rerun: after, idempotent: true, notify: see}
	if err := r.checkRerun(); err != nil || after == 0 {
		return nil, errors.Join(err, fmt.Errorf("watch job %s: no time after which to make a new attempt", id))
	}
	var refused error
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.notify = func(j *Job) {
		if sent, ok := j.Message.Request(); ok && r.again == nil {
			if refused = repeatable(sent, id); refused != nil {
				cancel(refused)
				return
			}
			r.again, r.service = &sent, j.Service
		}
		see(j)
	}
	e := c.execution(r)
	e.saw(&Job{ID: id})
	job, err := e.Wait(ctx)
	switch {
	case refused != nil:
		return nil, refused
	case err != nil && job.State == "":
		return nil, err
	}
	return job, err
}
