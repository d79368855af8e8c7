package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/rpcface"
	"github.com/seed-9b8f70bb/drover/server/blobs"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// submission hands a request over.
type submission struct {
	id       string
	request  *site.Request
	decision []byte
}

// submit accepts a request as a job, once.
func (s *Server) submit(ctx context.Context, sub submission) (record, error) {
	if s.leaving.Load() {
		return record{}, errStopping
	}
	id, err := site.CheckID(sub.id)
	if err != nil {
		return record{}, err
	}
	if err := sub.request.Validate(); err != nil {
		return record{}, err
	}
	known, r, err := s.repeated(ctx, id, sub)
	if known || err != nil {
		return r, err
	}
	staged, err := s.stage(sub.request)
	if err != nil {
		return record{}, err
	}
	var failed error
	kept := false
	err = s.do(ctx, func() { r, kept, failed = s.accept(ctx, id, sub, staged) })
	err = errors.Join(err, failed)
	if !kept {
		if e := s.data.remove(staged); e != nil {
			s.log.Warn("removing a staged directory", "error", e)
		}
	}
	return r, err
}

// repeated answers a submission of a job that is known already; false for one
// that is new, and may come in.
func (s *Server) repeated(ctx context.Context, id batch.JobID, sub submission) (known bool, r record, err error) {
	var failed error
	err = s.do(ctx, func() {
		if _, e := s.core.Job(id); e == nil {
			known = true
			r, _, failed = s.accept(ctx, id, sub, "")
			return
		}
		failed = site.CheckAge(s.now(), id)
	})
	return known, r, errors.Join(err, failed)
}

// stage makes the directory of a job that may come, with its input. A request
// whose arguments the service does not take is left to the core to refuse.
func (s *Server) stage(r *site.Request) (string, error) {
	files := s.files(r)
	for name, f := range files {
		if err := s.checkContent(name, f); err != nil {
			return "", err
		}
	}
	dir, err := s.data.stage()
	if err != nil {
		return "", err
	}
	for name, f := range files {
		path := filepath.Join(dir, inputPath(name, f.Name))
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = s.content.Link(f.SHA256, path)
		}
		if errors.Is(err, blobs.ErrUnknown) {
			err = missing(name, f)
		}
		if err != nil {
			return "", errors.Join(err, s.data.remove(dir))
		}
	}
	return dir, nil
}

// files returns the file arguments of a request by name, none if it would be
// refused.
func (s *Server) files(r *site.Request) map[string]catalogue.File {
	service, err := s.cfg.Catalogue.Service(r.Service)
	if err != nil {
		return nil
	}
	if _, err := service.Bind(r.Arguments); err != nil {
		return nil
	}
	files := make(map[string]catalogue.File)
	for name, v := range r.Arguments {
		if v.Type() == catalogue.TypeFileIn {
			files[name] = v.File()
		}
	}
	return files
}

// checkContent returns a *rpcface.Problem unless the file that a request names is here.
func (s *Server) checkContent(argument string, f catalogue.File) error {
	if !blobs.IsSHA256(f.SHA256) {
		return &rpcface.Problem{
			Reason: rpcface.BadValue, Field: "request.arguments." + argument, Accepted: "a file with its sha256, 64 lower-case hexadecimal digits",
			Message: fmt.Sprintf("argument %s: sha256 %.70q", argument, f.SHA256),
		}
	}
	b, err := s.content.Find(f.SHA256)
	if err != nil {
		return missing(argument, f)
	}
	if b.Size != f.Size {
		return &rpcface.Problem{
			Reason: rpcface.BadValue, Field: "request.arguments." + argument, Accepted: fmt.Sprintf("size_bytes of %d", b.Size),
			Message: fmt.Sprintf("argument %s: size of %d bytes, but the content has %d", argument, f.Size, b.Size),
		}
	}
	return nil
}

func missing(argument string, f catalogue.File) *rpcface.Problem {
	return &rpcface.Problem{
		Reason: rpcface.UnknownContent, Field: "request.arguments." + argument, Accepted: "content that was uploaded to this server",
		Message: fmt.Sprintf("argument %s: no content %s here", argument, f.SHA256),
		Hint:    "upload the file to this server, then submit again",
	}
}

// accept is the submission itself; called by the loop. It says whether the
// staged directory has become the job's.
func (s *Server) accept(ctx context.Context, id batch.JobID, sub submission, staged string) (r record, kept bool, err error) {
	if s.leaving.Load() {
		return record{}, false, errStopping
	}
	_, unknown := s.core.Job(id)
	if unknown != nil {
		if err := s.full(); err != nil {
			return record{}, false, err
		}
	}
	p := planner{ctx: ctx, server: s}
	j, cmds, err := s.core.Submit(s.now(), site.Submission{ID: id, Request: sub.request, Decision: sub.decision}, &p)
	if err != nil {
		return record{}, false, p.why(err)
	}
	if len(cmds) == 0 {
		return s.record(j), false, nil
	}
	s.entries[id] = &entry{told: j.Revision}
	if err := s.data.adopt(staged, id); err != nil {
		s.log.Error("job without a directory", "job", id, "error", err)
		return s.rejected(j, errors.New("the server could not make its directory")), false, nil
	}
	// The job is accepted: whether the caller still listens does not matter.
	if err := s.system.Do(context.WithoutCancel(ctx), cmds); err != nil {
		s.log.Warn("batch system refuses a job", "job", id, "error", err)
		return s.rejected(j, err), true, nil
	}
	s.log.Debug("accepted", "job", id, "service", j.Request.Service, "shape", j.Spec.Shape)
	return s.record(j), true, nil
}

// full returns a *rpcface.Problem when no further job may wait here; called by the loop.
func (s *Server) full() error {
	limit := s.cfg.Limits.Waiting
	if s.core.Load().Waiting < limit {
		return nil
	}
	return &rpcface.Problem{
		Reason: rpcface.QueueFull, Accepted: fmt.Sprintf("at most %d waiting jobs", limit),
		Message: fmt.Sprintf("the queue of site %s is full", s.cfg.Name), Retryable: true,
		Hint: "try again when jobs have started; drover sites shows the queues",
	}
}

// rejected ends a job that the batch system did not take; called by the loop.
func (s *Server) rejected(j site.Job, why error) record {
	ended, err := s.core.Ended(s.now(), j.Key(), batch.Outcome{End: batch.EndStartFailed, Reason: why.Error()})
	if err != nil {
		s.log.Error("ending a job that was not taken", "job", j.ID, "error", err)
		return s.record(j)
	}
	s.changed(ended)
	s.finished(j.ID)
	return s.record(ended)
}

// programs tells the batch system what jobs run.
type programs struct{ server *Server }

// Program is exec.Programs'. It is called by goroutines of the batch system.
func (p programs) Program(key batch.Key, shape batch.Shape) (batch.Program, error) {
	var (
		j      site.Job
		failed error
	)
	err := p.server.do(context.Background(), func() { j, failed = p.server.core.Job(key.Job) })
	if err := cmp.Or(err, failed); err != nil {
		return batch.Program{}, err
	}
	return p.server.program(&j, shape), nil
}

// program returns what a job runs with a shape.
func (s *Server) program(j *site.Job, shape batch.Shape) batch.Program {
	service := j.Values.Service()
	launch := catalogue.Launch{Shape: shape, Paths: make(map[string]string)}
	for i := range service.Arguments {
		switch a := &service.Arguments[i]; a.Type {
		case catalogue.TypeFileIn:
			v, _ := j.Values.Get(a.Name)
			launch.Paths[a.Name] = s.data.input(j.ID, a.Name, v.File().Name)
		case catalogue.TypeFileOut:
			launch.Paths[a.Name] = filepath.Join(s.data.work(j.ID), a.Name)
		}
	}
	args := service.Args(j.Values, launch)
	if args[0] == "drover" {
		args[0] = s.cfg.Program
	}
	env := service.Environ(j.Values, launch)
	if env == nil {
		env = make(map[string]string)
	}
	// The batch system adds what it knows of the job: DROVER_WIDTH and others.
	env["DROVER_SPEED"] = strconv.FormatFloat(s.cfg.Speed, 'g', -1, 64)
	return batch.Program{
		Args: args, Env: env, Dir: s.data.work(j.ID),
		Stdout: s.data.stream(j.ID, stdout), Stderr: s.data.stream(j.ID, stderr),
	}
}
