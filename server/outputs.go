package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/files"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// results looks at what a job has written, and says what is wrong with it: an array
// that is not there, or not of the size that its dims say. It is "" where nothing is.
func (s *Server) results(ctx context.Context, j *site.Job, service *catalogue.Service) (found []site.Output, wrong string) {
	found = s.outputs(ctx, j.ID, service)
	if !slices.ContainsFunc(service.Arguments, func(a catalogue.Argument) bool { return a.Type.Out() && a.Type.Rank() > 0 }) {
		return found, ""
	}
	var values catalogue.Values
	d, err := s.dossier(j)
	if err == nil {
		values, err = service.Bind(d.Request.Arguments)
	}
	if err != nil { // the service is another one by now
		s.log.Warn("outputs cannot be checked", "job", j.ID, "error", err)
		return found, ""
	}
	var all []string
	for i := range service.Arguments {
		a := &service.Arguments[i]
		l, is := values.Layout(a.Name)
		if !is || !a.Type.Out() {
			continue
		}
		bytes, _ := l.Bytes()
		at := slices.IndexFunc(found, func(o site.Output) bool { return o.Argument == a.Name })
		switch {
		case at < 0:
			all = append(all, fmt.Sprintf("output %s is not there: %v were to be written, %d bytes", a.Name, l, bytes))
		case found[at].Size != bytes:
			all = append(all, fmt.Sprintf("output %s has %d bytes: %v were to be written, %d bytes", a.Name, found[at].Size, l, bytes))
		default:
			found[at].Layout = l
		}
	}
	return found, strings.Join(all, "; ")
}

// judged is how a job has ended whose program ended as told: one that has written
// something wrong has failed.
func judged(how batch.Outcome, wrong string) batch.Outcome {
	if how.End != batch.EndDone || wrong == "" {
		return how
	}
	return batch.Outcome{End: batch.EndFailed, Reason: wrong}
}

// outputs looks at what a job has written for the arguments that come out.
func (s *Server) outputs(ctx context.Context, id batch.JobID, service *catalogue.Service) []site.Output {
	var found []site.Output
	for i := range service.Arguments {
		a := &service.Arguments[i]
		if !a.Type.Out() {
			continue
		}
		f, size, err := s.openOutput(id, a.Name)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				s.log.Warn("output cannot be read", "job", id, "argument", a.Name, "error", err)
			}
			continue
		}
		o := site.Output{Argument: a.Name, Size: size}
		hash := sha256.New()
		if _, err := io.Copy(hash, &until{ctx: ctx, r: f}); err == nil {
			o.SHA256 = hex.EncodeToString(hash.Sum(nil))
		} else if ctx.Err() == nil {
			s.log.Warn("output cannot be read", "job", id, "argument", a.Name, "error", err)
		}
		_ = f.Close() // it was only read
		found = append(found, o)
	}
	return found
}

// openOutput opens a file that a job has written, if it is a file in the job's
// own directory.
func (s *Server) openOutput(id batch.JobID, argument string) (*os.File, int64, error) {
	return openWritten(s.data.work(id), argument)
}

// openWritten opens a file that a job has written in a directory: a program may
// have made a link out of it, or a pipe that never ends.
func openWritten(dir, name string) (*os.File, int64, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file", name)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// until reads until ctx ends.
type until struct {
	ctx context.Context
	r   io.Reader
}

// Read is io.Reader's.
func (u *until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// Download sends an output of a job that has ended, from offset on.
func (s *Server) Download(ctx context.Context, name, argument string, offset int64, send func(files.Piece) error) error {
	if offset < 0 {
		return badOffset(offset)
	}
	r, err := s.Job(ctx, name)
	if err != nil {
		return err
	}
	f, size, err := s.openOutputOf(&r, argument)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.sendFile(ctx, f, offset, size, send)
}

// OpenOutput opens an output of a job that has ended and returns its SHA-256, "" if
// that is unknown.
func (s *Server) OpenOutput(j *site.Job, argument string) (f *os.File, sha string, err error) {
	if f, _, err = s.openOutputOf(j, argument); err != nil {
		return nil, "", err
	}
	for _, o := range j.Run.Outputs {
		if o.Argument == argument {
			sha = o.SHA256
		}
	}
	return f, sha, nil
}

// openOutputOf is openOutput for a client.
func (s *Server) openOutputOf(j *site.Job, argument string) (*os.File, int64, error) {
	if err := s.checkOutput(j, argument); err != nil {
		return nil, 0, err
	}
	f, size, err := s.openOutput(j.ID, argument)
	switch {
	case errors.Is(err, fs.ErrNotExist): // the job was forgotten in the meantime
		return nil, 0, notWritten(argument)
	case err != nil:
		return nil, 0, fmt.Errorf("open output: %w", err)
	}
	return f, size, nil
}

// checkOutput returns a *problem.Problem unless the job has written this output.
func (s *Server) checkOutput(r *site.Job, argument string) error {
	service, err := s.cfg.Catalogue.Service(r.Service)
	if err != nil {
		return notWritten(argument)
	}
	var all []string
	known := false
	for i := range service.Arguments {
		if a := &service.Arguments[i]; a.Type.Out() {
			all = append(all, a.Name)
			known = known || a.Name == argument
		}
	}
	switch {
	case !known:
		return &problem.Problem{
			Reason: problem.UnknownOutput, Field: "argument", Accepted: oneOf(all),
			Message: fmt.Sprintf("service %s writes no file %.70q", r.Service, argument),
		}
	case !r.State.Final():
		return &problem.Problem{
			Reason: problem.UnknownOutput, Field: "argument", Message: fmt.Sprintf("job %s has not ended", r.ID), Retryable: true,
			Hint: "wait for the job's end",
		}
	}
	if r.Run != nil && slices.ContainsFunc(r.Run.Outputs, func(o site.Output) bool { return o.Argument == argument }) {
		return nil
	}
	return notWritten(argument)
}

func oneOf(names []string) string {
	if len(names) == 0 {
		return "nothing: the service writes no files to be fetched"
	}
	return "one of " + strings.Join(names, ", ")
}

func notWritten(argument string) *problem.Problem {
	return &problem.Problem{
		Reason: problem.UnknownOutput, Field: "argument", Message: fmt.Sprintf("the job has not written %s", argument),
		Hint: "its outcome and drover logs may say why",
	}
}
