package server

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/files"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// launcher starts attempts for the batch system: the core has to know, durably,
// before the supervisor may make its claim.
//
// On a full disk it waits. The walltime that the batch system counts meanwhile is
// not the program's fault: the attempt never ran then, and another one follows.
type launcher struct{ s *Server }

// errWaited is why an attempt comes to nothing that had to wait for room.
var errWaited = errors.New("the disk was full")

// Launch is exec.Launcher's.
func (l launcher) Launch(spec exec.Spec) (exec.Launched, error) {
	return l.s.launch(spec)
}

func (s *Server) launch(spec exec.Spec) (exec.Launched, error) {
	id, began := spec.Key.Job, s.now()
	if err := s.makeDirs(&spec); err != nil {
		s.log.Error("a job's directory", "job", id, "error", err)
		s.awaitRoom(id)
		return nil, fmt.Errorf("%w: the server could not make its directory", exec.ErrNeverRan)
	}
	var (
		j       site.Job
		refused error
	)
	err := s.insist(s.life, func() {
		if s.disk.last >= began {
			refused = errWaited
			return
		}
		j, refused = s.core.Starting(s.now(), spec.Key, spec.Allocation...)
	})
	if err := errors.Join(err, refused); err != nil {
		// It was cancelled or handed over meanwhile, or the server ends.
		return nil, fmt.Errorf("%w: %w", exec.ErrNeverRan, err)
	}
	p, err := s.keeper.Launch(s.life, spec, &j)
	if errors.Is(err, exec.ErrNodeGone) {
		// The batch system will start it elsewhere, or here when the node is back. Where
		// the job has gone meanwhile, or the server ends, there is nothing to undo.
		if e := s.insist(s.life, func() { _ = s.core.Unlaunched(spec.Key) }); e != nil {
			s.log.Debug("a launch that is undone", "job", id, "error", e)
		}
	}
	if errors.Is(err, exec.ErrNeverRan) && !errors.Is(err, supervisor.ErrBarred) {
		s.awaitRoom(id) // what the next attempt needs: there are few of them
	}
	return p, err
}

// programs tells the batch system what jobs run.
type programs struct{ s *Server }

// Program is exec.Programs'. It is called by goroutines of the batch system.
func (p programs) Program(key batch.Key, shape batch.Shape) (batch.Program, error) {
	r, err := p.s.Job(p.s.life, string(key.Job))
	if err != nil {
		return batch.Program{}, fmt.Errorf("%w: %w", exec.ErrNeverRan, err)
	}
	values, err := p.s.values(r.Dossier)
	if err != nil {
		return batch.Program{}, fmt.Errorf("service %s: %w", r.Service, err)
	}
	if r.Key() == key {
		if err := p.s.clearOutputs(&r, values.Service()); err != nil {
			p.s.log.Error("starting a job once more", "job", key.Job, "error", err)
			return batch.Program{}, fmt.Errorf("%w: the server could not clear its directory", exec.ErrNeverRan)
		}
	}
	program := p.s.program(key.Job, values, shape)
	p.s.goesOn(&program, &r)
	return program, nil
}

// values binds the arguments of a request that was accepted before.
func (s *Server) values(d *site.Dossier) (catalogue.Values, error) {
	service, err := s.cfg.Catalogue.Service(d.Request.Service)
	if err != nil {
		return catalogue.Values{}, err
	}
	return service.Bind(d.Request.Arguments)
}

// program returns what a job runs with a shape.
func (s *Server) program(id batch.JobID, values catalogue.Values, shape batch.Shape) batch.Program {
	service := values.Service()
	launch := catalogue.Launch{Shape: shape, Paths: make(map[string]string)}
	for i := range service.Arguments {
		switch a := &service.Arguments[i]; {
		case a.Type.Out():
			launch.Paths[a.Name] = filepath.Join(s.data.Work(id), a.Name)
		case a.Type.In():
			v, _ := values.Get(a.Name)
			launch.Paths[a.Name] = s.data.Input(id, a.Name, v.File().Name)
		}
	}
	if service.Script != nil {
		launch.Script = s.data.Script(service)
	}
	args := service.Args(values, launch)
	if args[0] == "drover" {
		args[0] = s.cfg.Program
	}
	env := service.Environ(values, launch)
	if env == nil {
		env = make(map[string]string)
	}
	// The batch system adds what it knows of the job: DROVER_WIDTH and others.
	env["DROVER_SPEED"] = strconv.FormatFloat(s.cfg.Speed, 'g', -1, 64)
	return batch.Program{
		Args: args, Env: env, Dir: s.data.Work(id),
		Stdout: s.data.Stream(id, files.Stdout), Stderr: s.data.Stream(id, files.Stderr), Launch: service.Launch, Checkpoint: service.Checkpoint(values, launch),
	}
}

// claim makes a claim for the server, or finds out who has made it, and tells the
// core.
func (s *Server) claim(ctx context.Context, key batch.Key) {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		won, err := s.claimed(ctx, key)
		if err == nil {
			// An error means that the server ends: the claim is made again after it.
			_ = s.insist(ctx, func() { s.core.Claimed(s.now(), key, won) })
			return
		}
		s.log.Error("claim of an attempt", "job", key.Job, "error", err)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// clearOutputs removes the outputs of earlier attempts before another attempt of a job,
// unless the attempt resumes from a checkpoint.
func (s *Server) clearOutputs(j *site.Job, service *catalogue.Service) error {
	if j.Attempt <= 1 || j.Past != nil || j.State == site.Running {
		return nil
	}
	if err := s.data.ClearOutputs(j.Key(), service); err != nil {
		return fmt.Errorf("clear outputs of job %s: %w", j.ID, err)
	}
	return nil
}
