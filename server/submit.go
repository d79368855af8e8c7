package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/files"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// Submit accepts a request as a job. It is idempotent: the same request under the same ID returns
// the same job.
func (s *Server) Submit(ctx context.Context, sub site.Submission) (site.Job, error) {
	if s.leaving.Load() {
		return site.Job{}, errStopping
	}
	id, err := site.CheckID(string(sub.ID))
	if err != nil {
		return site.Job{}, err
	}
	if err := sub.Request.Validate(); err != nil {
		return site.Job{}, err
	}
	if usesDepot(sub.Request) {
		// Concurrent repetitions must not undo each other's use of data.
		done, err := s.dataLocks.take(ctx, id)
		if err != nil {
			return site.Job{}, err
		}
		defer done()
	}
	u, err := s.holdData(ctx, id, sub.Request)
	if err != nil {
		return site.Job{}, err
	}
	j, err := s.submitOnce(ctx, sub)
	s.endHold(u, id, err == nil)
	if err != nil {
		return site.Job{}, err
	}
	return s.withDossier(j)
}

// submitOnce submits a request with all data handles resolved.
func (s *Server) submitOnce(ctx context.Context, sub site.Submission) (site.Job, error) {
	staged := ""
	if inputs := s.inputs(sub.Request); len(inputs) > 0 || len(sub.Request.After) > 0 {
		known, err := s.knows(ctx, sub.ID)
		if err == nil && !known {
			sub.Remote, err = s.lookUpDependencies(ctx, sub.Request)
		}
		if err == nil && !known {
			staged, err = s.stage(inputs)
		}
		if err != nil {
			return site.Job{}, err
		}
	}
	var (
		j      site.Job
		failed error
	)
	err := s.do(ctx, func() { j, failed = s.accept(ctx, sub, &staged) })
	s.unstage(staged)
	return j, errors.Join(err, failed)
}

// knows reports whether a submission is a repetition; otherwise its ID must have a current
// timestamp.
func (s *Server) knows(ctx context.Context, id batch.JobID) (known bool, err error) {
	var failed error
	err = s.see(ctx, func() {
		if failed = s.recall(id); failed != nil {
			return
		}
		if known = s.core.Knows(id); !known {
			failed = s.mayAccept(id)
		}
	})
	return known, errors.Join(err, failed)
}

// stage creates a directory with the inputs of a new job; "" if it has none: then the launch
// creates the job's directory.
func (s *Server) stage(inputs map[string]files.Input) (string, error) {
	if len(inputs) == 0 {
		return "", nil
	}
	return s.data.Stage(s.content, inputs)
}

// inputs returns the files and blocks of a request, by argument; none for an invalid request, which
// the core refuses.
func (s *Server) inputs(r *site.Request) map[string]files.Input {
	service, err := s.cfg.Catalogue.Service(r.Service)
	if err != nil {
		return nil
	}
	values, err := service.Bind(r.Arguments)
	if err != nil {
		return nil
	}
	inputs := make(map[string]files.Input)
	for i := range service.Arguments {
		a := &service.Arguments[i]
		if v, given := values.Get(a.Name); given && a.Type.In() {
			inputs[a.Name] = files.Input{File: v.File(), Changes: a.Type.Out()}
		}
	}
	return inputs
}

// accept is the part of a submission that runs on the loop. For a new job it makes the staged
// directory the job's and empties staged.
func (s *Server) accept(ctx context.Context, sub site.Submission, staged *string) (site.Job, error) {
	id := sub.ID
	if s.leaving.Load() {
		return site.Job{}, errStopping
	}
	if err := s.recall(id); err != nil {
		return site.Job{}, err
	}
	if !s.core.Knows(id) {
		if err := cmp.Or(s.mayAccept(id), s.recallAfter(sub.Request)); err != nil {
			return site.Job{}, err
		}
	}
	// The batch system plans with the job from now on and starts it once it is durable.
	j, plans, err := s.enter(ctx, sub)
	if err != nil {
		return site.Job{}, err
	}
	if len(plans) > 0 && *staged != "" {
		if err := s.data.Adopt(*staged, id); err != nil {
			s.log.Error("create job directory failed", "job", id, "error", err)
			s.rejected(j.Key(), errors.New("the server could not create the job's directory"))
			return s.core.Job(id)
		}
		*staged, s.adopted = "", true
	}
	s.order(ctx, plans)
	s.log.Debug("job accepted", "job", id, "service", j.Service, "shape", j.Shape)
	return j, nil
}

// enter submits a job to the core and returns the resulting commands for the batch system, which
// already knows a job with an agreement; called by the loop.
func (s *Server) enter(ctx context.Context, sub site.Submission) (site.Job, []batch.Command, error) {
	p := planner{ctx: ctx, server: s, blind: true}
	j, err := s.core.Submit(s.now(), sub, &p)
	if err != nil {
		return site.Job{}, nil, p.why(err)
	}
	plans := s.core.Plans(nil)
	if len(plans) == 0 || !plans[0].Promise {
		return j, plans, nil
	}
	return s.agree(j, plans, func() (site.Job, []batch.Command, error) {
		j, err := s.core.Submit(s.now(), sub, &p)
		return j, s.core.Plans(nil), p.why(err)
	})
}

// mayAccept returns why a new job cannot be accepted, or nil; called by the loop.
func (s *Server) mayAccept(id batch.JobID) error {
	return cmp.Or(s.checkAge(id), s.full())
}

// full returns a *problem.Problem if no further job can wait here; called by the loop.
func (s *Server) full() error {
	if s.core.Load().Waiting < s.cfg.Limits.Waiting {
		return nil
	}
	return s.queueFull()
}

func (s *Server) queueFull() error {
	return &problem.Problem{
		Reason: problem.QueueFull, Accepted: fmt.Sprintf("at most %d waiting jobs", s.cfg.Limits.Waiting),
		Message: fmt.Sprintf("the queue of site %s is full", s.cfg.Name), Retryable: true,
		Hint: "try again when jobs have started; drover sites shows the queues",
	}
}
