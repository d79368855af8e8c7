package server

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/files/blobs"
	"github.com/seed-9b8f70bb/drover/server/site"
)

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
	f, _, err := s.openOutput(id, o.Argument)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = s.content.Add(f, blobs.Want{SHA256: o.SHA256, Size: o.Size})
	return err
}
