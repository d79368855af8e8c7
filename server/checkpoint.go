package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// checkpointVariable names that directory to the job.
const checkpointVariable = "DROVER_CHECKPOINT"

// makeDirs makes the directories of a job that is to be launched, unless they are there.
func (s *Server) makeDirs(spec *exec.Spec) error {
	if err := s.data.MakeAttempts(spec.Key.Job); err != nil {
		return err
	}
	if err := s.data.CopyInout(s.life, spec.Key, spec.Append); err != nil {
		return err
	}
	told := func(v string) bool { return strings.HasPrefix(v, checkpointVariable+"=") }
	if !slices.ContainsFunc(spec.Env, told) {
		return nil
	}
	if err := os.Mkdir(s.data.Checkpoint(spec.Key.Job), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("directory for checkpoints: %w", err)
	}
	return nil
}

// goesOn tells a program where its checkpoints are and how often it has gone on from
// one. What it writes then follows what it wrote before.
func (s *Server) goesOn(p *batch.Program, j *site.Job) {
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

// checkpoints says whether jobs of a service make place at checkpoints.
func (s *Server) checkpoints(name string) bool {
	service, err := s.cfg.Catalogue.Service(name)
	return err == nil && service.Checkpoints()
}

// checkpointOf returns how a job that is found running makes place, nil if nobody
// knows any more.
func (s *Server) checkpointOf(j *site.Job) *batch.Checkpoint {
	if !s.checkpoints(j.Service) {
		return nil
	}
	d, err := s.dossier(j)
	if err != nil {
		s.log.Warn("how a job makes place", "job", j.ID, "error", err)
		return nil
	}
	values, err := s.values(d)
	if err != nil {
		s.log.Warn("how a job makes place", "job", j.ID, "error", err)
		return nil
	}
	return s.program(j.ID, values, j.Shape).Checkpoint
}

// teach tells a policy that learns how long the jobs ran that a site remembers.
func teach(p batch.Policy, core *site.Site) {
	if learner, learns := p.(interface {
		Learn(owner, application string, estimate, runtime batch.Duration)
	}); learns {
		core.Ran(learner.Learn)
	}
}
