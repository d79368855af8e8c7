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

// results returns the outputs of a job and what is wrong with them: arrays that are missing or not
// of the size of their dims; "" if all are right.
func (s *Server) results(
	ctx context.Context, j *site.Job, service *catalogue.Service,
) (found []site.Output, wrong string) {
	found = s.data.Outputs(ctx, j.ID, service, s.log)
	if !slices.ContainsFunc(service.Arguments, func(a catalogue.Argument) bool {
		return a.Type.Out() &&
			a.Type.Rank() > 0
	}) {
		return found, ""
	}
	var values catalogue.Values
	d, err := s.dossier(j)
	if err == nil {
		values, err = service.Bind(d.Request.Arguments)
	}
	if err != nil { // the service has changed
		s.log.Warn("check of outputs failed", "job", j.ID, "error", err)
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
			all = append(all, fmt.Sprintf("output %s is missing: expected %v, %d bytes", a.Name, l, bytes))
		case found[at].Size != bytes:
			all = append(all, fmt.Sprintf("output %s has %d bytes: expected %v, %d bytes", a.Name, found[at].Size, l,
				bytes))
		default:
			found[at].Layout = l
		}
	}
	return found, strings.Join(all, "; ")
}

// withOutputs returns the outcome of a job after its program ended with how: a job with wrong outputs has
// failed.
func withOutputs(how batch.Outcome, wrong string) batch.Outcome {
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
	case errors.Is(err, fs.ErrNotExist): // the job was forgotten meanwhile
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
			Reason: problem.UnknownOutput, Field: "argument", Message: fmt.Sprintf("job %s has not ended", r.ID),
			Retryable: true,
			Hint:      "wait for the job's end",
		}
	}
	if r.Run != nil && slices.ContainsFunc(r.Run.Outputs, func(o site.Output) bool { return o.Argument == argument }) {
		return nil
	}
	return notWritten(argument)
}

func oneOf(names []string) string {
	if len(names) == 0 {
		return "none: the service writes no files"
	}
	return "one of " + strings.Join(names, ", ")
}

func notWritten(argument string) *problem.Problem {
	return &problem.Problem{
		Reason: problem.UnknownOutput, Field: "argument", Message: fmt.Sprintf("the job has not written %s", argument),
		Hint: "its outcome and drover logs may say why",
	}
}

// keepOutputs stores the outputs that the request names under their handles, before the job becomes
// DONE, and notes them in found. If that fails the job is still DONE, and its outcome has the
// reason.
func (s *Server) keepOutputs(
	j *site.Job, service *catalogue.Service, how batch.Outcome, found []site.Output,
) batch.Outcome {
	if how.End != batch.EndDone {
		return how
	}
	d, err := s.dossier(j)
	if err != nil || len(d.Request.Keep) == 0 {
		return how
	}
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(d.Request.Keep)) {
		out := slices.ContainsFunc(service.Arguments, func(a catalogue.Argument) bool {
			return a.Name == name &&
				a.Type.Out()
		})
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
			s.log.Warn("storing an output failed", "job", j.ID, "argument", name, "handle", k.ID, "error", err)
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

// keepOutput stores one output. It copies the content, because a leftover program may still write
// to the file.
func (s *Server) keepOutput(j *site.Job, r *site.Request, k site.Keep, o *site.Output) error {
	if o.SHA256 == "" {
		return errors.New("it could not be read")
	}
	d := keptAs(r, k, o.SHA256, o.Size, o.Layout, string(j.ID))
	if known, err := s.depot.Get(k.ID); err == nil && known.SHA256 == d.SHA256 { // stored before the server was killed
		return nil
	}
	if err := s.depot.Room(&d); err != nil { // before copying
		return err
	}
	for try := 1; ; try++ {
		if err := s.addOutput(j.ID, o); err != nil {
			return err
		}
		_, err := s.depot.Put(d)
		if !errors.Is(err, blobs.ErrUnknown) || try == storeTries {
			return err
		}
	}
}

// storeTries is how often an output is stored again if its content is evicted at once, because many
// others are being stored.
const storeTries = 3

func (s *Server) addOutput(id batch.JobID, o *site.Output) error {
	f, _, err := s.data.OpenOutput(id, o.Argument)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = s.content.Add(f, blobs.Want{SHA256: o.SHA256, Size: o.Size})
	return err
}
