package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/files/blobs"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// results looks at what a job has written, and says what is wrong with it: an array
// that is not there, or not of the size that its dims say. It is "" where nothing is.
func (s *Server) results(ctx context.Context, j *site.Job, service *catalogue.Service) (found []site.Output, wrong string) {
	found = s.data.Outputs(ctx, j.ID, service, s.log)
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

// OpenOutput opens an output of a job that has ended and returns its SHA-256, "" if
// that is unknown.
func (s *Server) OpenOutput(j *site.Job, argument string) (f *os.File, sha string, err error) {
	if err := s.checkOutput(j, argument); err != nil {
		return nil, "", err
	}
	f, _, err = s.data.OpenOutput(j.ID, argument)
	switch {
	case errors.Is(err, fs.ErrNotExist): // the job was forgotten in the meantime
		return nil, "", notWritten(argument)
	case err != nil:
		return nil, "", fmt.Errorf("open output: %w", err)
	}
	for _, o := range j.Run.Outputs {
		if o.Argument == argument {
			sha = o.SHA256
		}
	}
	return f, sha, nil
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

// keepResults has what a job has written stay under the handles that its request gives
// it, before anybody hears that it is DONE. It notes them in found. A job whose
// results could not be kept is DONE all the same: its outcome says why.
func (s *Server) keepResults(j *site.Job, service *catalogue.Service, how batch.Outcome, found []site.Output) batch.Outcome {
	if how.End != batch.EndDone {
		return how
	}
	d, err := s.dossier(j)
	if err != nil || len(d.Request.Keep) == 0 {
		return how
	}
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(d.Request.Keep)) {
		out := slices.ContainsFunc(service.Arguments, func(a catalogue.Argument) bool { return a.Name == name && a.Type.Out() })
		if !out {
			continue
		}
		k := d.Request.Keep[name]
		at := slices.IndexFunc(found, func(o site.Output) bool { return o.Argument == name })
		if at < 0 {
			wrong = append(wrong, name+" was not written")
			continue
		}
		if err := s.keepOutput(j, &d.Request, k, &found[at]); err != nil {
			s.log.Warn("output is not kept", "job", j.ID, "argument", name, "handle", k.ID, "error", err)
			why := "the server failed; its log says more"
			if p := problemOf(err); p != nil {
				why = p.Message
			}
			wrong = append(wrong, fmt.Sprintf("%s: %s", name, why))
			continue
		}
		found[at].Data = k.ID
	}
	if len(wrong) > 0 {
		how.Reason = "not kept: " + strings.Join(wrong, "; ")
	}
	return how
}

// keepOutput has one output stay. Its content is copied: a program that was left behind
// may go on writing to the file.
func (s *Server) keepOutput(j *site.Job, r *site.Request, k site.Keep, o *site.Output) error {
	if o.SHA256 == "" {
		return errors.New("it could not be read")
	}
	d := keptAs(r, k, o.SHA256, o.Size, o.Layout, string(j.ID))
	if known, err := s.depot.Get(k.ID); err == nil && known.SHA256 == d.SHA256 { // before the server was killed
		return nil
	}
	if err := s.depot.Room(&d); err != nil { // before anything is copied
		return err
	}
	for try := 1; ; try++ {
		if err := s.addOutput(j.ID, o); err != nil {
			return err
		}
		_, err := s.depot.Put(d)
		if !errors.Is(err, blobs.ErrUnknown) || try == keepTries {
			return err
		}
	}
}

// keepTries is how often an output is stored whose content goes at once, because much
// else is being stored.
const keepTries = 3

func (s *Server) addOutput(id batch.JobID, o *site.Output) error {
	f, _, err := s.data.OpenOutput(id, o.Argument)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = s.content.Add(f, blobs.Want{SHA256: o.SHA256, Size: o.Size})
	return err
}
