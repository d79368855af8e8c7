package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/files/blobs"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// Submit accepts a request as a job. Submitting the same request under the same ID
// again returns the same job.
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
		// Repeated calls must not undo each other's use of data.
		done, err := s.using.take(ctx, id)
		if err != nil {
			return site.Job{}, err
		}
		defer done()
	}
	u, err := s.use(ctx, id, sub.Request)
	if err != nil {
		return site.Job{}, err
	}
	j, err := s.submitOnce(ctx, sub)
	s.endUse(u, id, err == nil)
	if err != nil {
		return site.Job{}, err
	}
	return s.withDossier(j)
}

// submitOnce submits a request in which all handles of data are resolved.
func (s *Server) submitOnce(ctx context.Context, sub site.Submission) (site.Job, error) {
	staged := ""
	if files := s.files(sub.Request); len(files) > 0 || len(sub.Request.After) > 0 {
		known, err := s.knows(ctx, sub.ID)
		if err == nil && !known {
			sub.Told, err = s.told(ctx, sub.Request)
		}
		if err == nil && !known {
			staged, err = s.stage(files)
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

// knows says whether a submission is a repeated one; if not, its ID must be of
// our time.
func (s *Server) knows(ctx context.Context, id batch.JobID) (known bool, err error) {
	var failed error
	err = s.see(ctx, func() {
		if failed = s.recall(id); failed != nil {
			return
		}
		if known = s.core.Knows(id); !known {
			failed = s.mayCome(id)
		}
	})
	return known, errors.Join(err, failed)
}

// stage makes the directory of a job that may come, with its input; none without
// files: it is made when the job is launched.
func (s *Server) stage(files map[string]input) (string, error) {
	for name, f := range files {
		if err := s.checkContent(name, f.File); err != nil {
			return "", err
		}
	}
	if len(files) == 0 {
		return "", nil
	}
	dir, err := s.data.stage()
	if err != nil {
		return "", err
	}
	for name, f := range files {
		path := filepath.Join(dir, f.path(name))
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = s.content.Link(f.SHA256, path)
		}
		if errors.Is(err, blobs.ErrUnknown) {
			err = missing(name, f.File)
		}
		if err == nil {
			err = syncDirs(filepath.Dir(path), filepath.Dir(filepath.Dir(path)), dir)
		}
		if err != nil {
			return "", errors.Join(err, s.data.remove(dir))
		}
	}
	return dir, nil
}

// files returns what a request sends of files and blocks, by the names of arguments; none
// if it would be refused: that is left to the core.
func (s *Server) files(r *site.Request) map[string]input {
	service, err := s.cfg.Catalogue.Service(r.Service)
	if err != nil {
		return nil
	}
	values, err := service.Bind(r.Arguments)
	if err != nil {
		return nil
	}
	files := make(map[string]input)
	for i := range service.Arguments {
		a := &service.Arguments[i]
		if v, given := values.Get(a.Name); given && a.Type.In() {
			files[a.Name] = input{File: v.File(), changes: a.Type.Out()}
		}
	}
	return files
}

// checkContent returns a *problem.Problem unless the file that a request names is here.
func (s *Server) checkContent(argument string, f catalogue.File) error {
	if !blobs.IsSHA256(f.SHA256) {
		return &problem.Problem{
			Reason: problem.BadValue, Field: "request.arguments." + argument, Accepted: "a file with its sha256, 64 lower-case hexadecimal digits",
			Message: fmt.Sprintf("argument %s: sha256 %.70q", argument, f.SHA256),
		}
	}
	b, err := s.content.Find(f.SHA256)
	if err != nil {
		return missing(argument, f)
	}
	if b.Size != f.Size {
		return &problem.Problem{
			Reason: problem.BadValue, Field: "request.arguments." + argument, Accepted: fmt.Sprintf("size_bytes of %d", b.Size),
			Message: fmt.Sprintf("argument %s: size of %d bytes, but the content has %d", argument, f.Size, b.Size),
		}
	}
	return nil
}

func missing(argument string, f catalogue.File) *problem.Problem {
	return &problem.Problem{
		Reason: problem.UnknownContent, Field: "request.arguments." + argument, Accepted: "content that was uploaded to this server",
		Message: fmt.Sprintf("argument %s: no content %s here", argument, f.SHA256),
		Hint:    "upload the file to this server, then submit again",
	}
}

// accept is the submission itself; called by the loop. The staged directory
// becomes the job's, and staged empty, if the job is new.
func (s *Server) accept(ctx context.Context, sub site.Submission, staged *string) (site.Job, error) {
	id := sub.ID
	if s.leaving.Load() {
		return site.Job{}, errStopping
	}
	if err := s.recall(id); err != nil {
		return site.Job{}, err
	}
	if !s.core.Knows(id) {
		if err := cmp.Or(s.mayCome(id), s.recallAfter(sub.Request)); err != nil {
			return site.Job{}, err
		}
	}
	// The batch system plans with it from now on, and starts it when it is durable.
	j, plans, err := s.enter(ctx, sub)
	if err != nil {
		return site.Job{}, err
	}
	if len(plans) > 0 && *staged != "" {
		if err := s.data.adopt(*staged, id); err != nil {
			s.log.Error("job without a directory", "job", id, "error", err)
			s.rejected(j.Key(), errors.New("the server could not make its directory"))
			return s.core.Job(id)
		}
		*staged, s.adopted = "", true
	}
	s.order(ctx, plans)
	s.log.Debug("accepted", "job", id, "service", j.Service, "shape", j.Shape)
	return j, nil
}

// enter submits to the core, and returns what the batch system is to be told, which
// knows of a job with an agreement already; called by the loop.
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

// mayCome says why a new job may not be accepted; called by the loop.
func (s *Server) mayCome(id batch.JobID) error {
	return cmp.Or(site.CheckAge(s.now(), id), s.full())
}

// full returns a *problem.Problem when no further job may wait here; called by the loop.
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

// syncDirs makes durable what stands in directories.
func syncDirs(dirs ...string) error {
	for _, name := range dirs {
		d, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("sync: %w", err)
		}
		if err := errors.Join(d.Sync(), d.Close()); err != nil {
			return fmt.Errorf("sync: %w", err)
		}
	}
	return nil
}
