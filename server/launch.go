package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/files"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// launcher launches attempts for the batch system. The core records a launch durably before the
// supervisor may make its claim.
//
// On a full disk it waits. The batch system counts the wait as walltime, which is not the program's
// fault: that attempt ends as never run, and another one follows.
type launcher struct{ s *Server }

// errWaited is the reason of an attempt that does not run because it had to wait for disk space.
var errWaited = errors.New("the disk was full")

// Launch implements exec.Launcher.
func (l launcher) Launch(spec exec.Spec) (exec.Launched, error) {
	return l.s.launch(spec)
}

func (s *Server) launch(spec exec.Spec) (exec.Launched, error) {
	id, began := spec.Key.Job, s.now()
	if s.awaitLaunches() { // the wait counts as walltime, which the program would miss
		return nil, fmt.Errorf("%w: launches had stopped (%w)", exec.ErrNeverRan, exec.ErrHostFault)
	}
	if err := s.makeDirs(&spec); err != nil {
		s.log.Error("create job directory failed", "job", id, "error", err)
		s.awaitRoom(id)
		return nil, s.hostFault(id, fmt.Errorf("%w: the server could not create the job's directory",
			exec.ErrNeverRan))
	}
	var (
		j       site.Job
		refused error
	)
	err := s.doRetry(s.life, func() {
		if s.disk.last >= began {
			refused = errWaited
			return
		}
		if err := s.core.MayLaunch(s.now(), spec.Key); err != nil {
			refused = fmt.Errorf("%w (%w)", err, exec.ErrHostFault)
			return
		}
		j, refused = s.core.Starting(s.now(), spec.Key, spec.Allocation...)
	})
	if err := errors.Join(err, refused); err != nil {
		// The job was cancelled or handed over meanwhile, or the server is stopping.
		return nil, fmt.Errorf("%w: %w", exec.ErrNeverRan, err)
	}
	p, err := s.runner.Launch(s.life, spec, &j)
	if errors.Is(err, exec.ErrNodeGone) {
		// The batch system starts the job elsewhere, or here when the node is back. If the job left
		// meanwhile, or the server is stopping, nothing needs to be undone.
		if e := s.doRetry(s.life, func() { _ = s.core.Unlaunched(spec.Key) }); e != nil {
			s.log.Debug("undo launch failed", "job", id, "error", e)
		}
	}
	switch {
	case err == nil && s.launches.succeeded():
		s.log.Info("launches continue", "job", id)
	case errors.Is(err, exec.ErrNeverRan) && !errors.Is(err, supervisor.ErrBarred) &&
		!errors.Is(err, exec.ErrNodeGone) && s.life.Err() == nil:
		s.awaitRoom(id)
		err = s.hostFault(id, err)
	}
	return p, err
}

// programs gives the batch system the programs of jobs.
type programs struct{ s *Server }

// Program implements exec.Programs. It is called by goroutines of the batch system.
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
			p.s.log.Error("clear outputs failed", "job", key.Job, "error", err)
			return batch.Program{}, fmt.Errorf("%w: the server could not clear its directory", exec.ErrNeverRan)
		}
	}
	program := p.s.program(key.Job, values, shape)
	p.s.setCheckpoint(&program, &r)
	return program, nil
}

// values binds the arguments of an accepted request.
func (s *Server) values(d *site.Dossier) (catalogue.Values, error) {
	service, err := s.cfg.Catalogue.Service(d.Request.Service)
	if err != nil {
		return catalogue.Values{}, err
	}
	return service.Bind(d.Request.Arguments)
}

// program returns the program of a job with a shape.
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
	// The batch system adds variables of the job, such as DROVER_WIDTH.
	env["DROVER_SPEED"] = strconv.FormatFloat(s.cfg.Speed, 'g', -1, 64)
	return batch.Program{
		Args: args, Env: env, Dir: s.data.Work(id),
		Stdout: s.data.Stream(id, files.Stdout), Stderr: s.data.Stream(id, files.Stderr), Launch: service.Launch,
		Checkpoint: service.Checkpoint(values, launch),
	}
}

// claim makes the claim of an attempt for the server, or finds out which side made it, and reports
// the result to the core.
func (s *Server) claim(ctx context.Context, key batch.Key) {
	for pauses := newPauses(5 * time.Second); ; {
		won, err := s.tryClaim(ctx, key)
		if err == nil {
			// An error means that the server is stopping; it makes the claim again after the
			// restart.
			_ = s.doRetry(ctx, func() { s.core.Claimed(s.now(), key, won) })
			return
		}
		s.log.Error("claim failed", "job", key.Job, "error", err)
		select {
		case <-time.After(pauses.NextBackOff()):
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

// checkpointVariable is the environment variable with the path of a job's checkpoint directory.
const checkpointVariable = "DROVER_CHECKPOINT"

// makeDirs creates the missing directories of a job before its launch.
func (s *Server) makeDirs(spec *exec.Spec) error {
	if err := s.data.MakeAttempts(spec.Key.Job); err != nil {
		return err
	}
	if err := s.data.CopyInout(s.life, spec.Key, spec.Append); err != nil {
		return err
	}
	isCheckpoint := func(v string) bool { return strings.HasPrefix(v, checkpointVariable+"=") }
	if !slices.ContainsFunc(spec.Env, isCheckpoint) {
		return nil
	}
	if err := os.Mkdir(s.data.Checkpoint(spec.Key.Job), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("directory for checkpoints: %w", err)
	}
	return nil
}

// setCheckpoint adds the checkpoint directory and the number of restarts to a program's
// environment. The output of a restarted program is appended to its earlier output.
func (s *Server) setCheckpoint(p *batch.Program, j *site.Job) {
	if p.Checkpoint == nil {
		return
	}
	stops := uint32(0)
	if j.Past != nil {
		stops = j.Past.Stops
	}
	p.Env[checkpointVariable] = s.data.Checkpoint(j.ID)
	p.Env["DROVER_RESTART"] = strconv.FormatUint(uint64(stops), 10)
	p.Append = stops > 0
}

// checkpoints reports whether jobs of a service stop at checkpoints when another job needs their
// processors.
func (s *Server) checkpoints(name string) bool {
	service, err := s.cfg.Catalogue.Service(name)
	return err == nil && service.Checkpoints()
}

// checkpointOf returns how a running job that was found after a restart checkpoints, nil if that is
// unknown.
func (s *Server) checkpointOf(j *site.Job) *batch.Checkpoint {
	if !s.checkpoints(j.Service) {
		return nil
	}
	d, err := s.dossier(j)
	if err != nil {
		s.log.Warn("checkpoint settings unknown", "job", j.ID, "error", err)
		return nil
	}
	values, err := s.values(d)
	if err != nil {
		s.log.Warn("checkpoint settings unknown", "job", j.ID, "error", err)
		return nil
	}
	return s.program(j.ID, values, j.Shape).Checkpoint
}

// teachRuntimes passes the runtimes of finished jobs that the site remembers to a policy that
// learns from them.
func teachRuntimes(p batch.Policy, core *site.Site) {
	if learner, learns := p.(interface {
		Learn(owner, application string, estimate, runtime batch.Duration)
	}); learns {
		core.Runtimes(learner.Learn)
	}
}
