package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/files"
	"github.com/seed-9b8f70bb/drover/server/files/depot"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// handles returns the names of the arguments that are given by handle, ascending.
func handles(r *site.Request) []string {
	var names []string
	for name, v := range r.Arguments {
		if v.File().Data != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// resolve fills in the arguments that a request names by handle. For an estimate it trusts what the
// request says of data that are not here.
func (s *Server) resolve(r *site.Request) error {
	for _, name := range handles(r) {
		err := s.resolveOne(r, name, func(id string) (depot.Data, error) { return s.depot.Get(id) })
		if err != nil && !(isUnknownData(err) && r.Arguments[name].File().SHA256 != "") {
			return s.noData("request.arguments."+name, r.Arguments[name].File().Data, err)
		}
	}
	return nil
}

// resolveOne fills in one argument, with the data that look returns.
func (s *Server) resolveOne(r *site.Request, name string, look func(id string) (depot.Data, error)) error {
	v := r.Arguments[name]
	f := v.File()
	field := "request.arguments." + name
	if !depot.IsID(f.Data) {
		return badHandle(field, f.Data)
	}
	d, err := look(f.Data)
	if err != nil {
		return err
	}
	if f.SHA256 != "" && f.SHA256 != d.SHA256 || f.Size != 0 && f.Size != d.Size {
		return &problem.Problem{
			Reason: problem.BadValue, Field: field,
			Accepted: "a handle alone, or with the sha256 and size_bytes that its data have",
			Message:  fmt.Sprintf("argument %s: data %s have %d bytes and the sha256 %s", name, d.ID, d.Size, d.SHA256),
		}
	}
	f.SHA256, f.Size = d.SHA256, d.Size
	if f.Name == "" {
		f.Name = d.Name
	}
	if v, err = s.asArray(r, name, v, &d); err != nil {
		return err
	}
	r.Arguments[name] = v.WithFile(f)
	r.Sticky = r.Sticky || d.Mode == depot.Sticky
	return nil
}

// asArray returns a handle as the vector or matrix of its data, if the argument needs one and the
// request does not describe it. A description in the request must match the data.
func (s *Server) asArray(r *site.Request, name string, v catalogue.Value, d *depot.Data) (catalogue.Value, error) {
	element, known := catalogue.ElementNamed(d.Element)
	is := catalogue.Layout{Element: element, Dims: d.Dimensions}
	said := v.Layout()
	if v.Type().Rank() == 0 {
		if service, err := s.cfg.Catalogue.Service(r.Service); known && err == nil {
			for i := range service.Arguments {
				if a := &service.Arguments[i]; a.Name == name && a.Type.Rank() > 0 {
					return catalogue.Array(v.File(), is), nil
				}
			}
		}
		return v, nil
	}
	bytes, ok := said.Bytes()
	if known && said.Element == is.Element && slices.Equal(said.Dims, is.Dims) || !known && ok && bytes == d.Size {
		return v, nil
	}
	what := fmt.Sprintf("%d bytes", d.Size)
	if known {
		what = is.String()
	}
	return v, &problem.Problem{
		Reason: problem.WrongDimensions, Field: "request.arguments." + name, Accepted: what,
		Message: fmt.Sprintf("argument %s: %v, but data %s are %s", name, said, d.ID, what),
	}
}

// usesDepot reports whether a request reads or keeps data under handles.
func usesDepot(r *site.Request) bool { return len(handles(r)) > 0 || len(r.Keep) > 0 }

// dataHold is what a submission holds in the depot until it is accepted or refused.
type dataHold struct {
	job  string
	pins []string // SHA-256 of content that must not be evicted meanwhile
	kept []string // handles that it created
}

// holdData fills in the arguments that a submission names by handle, and stores inputs that it keeps. It
// returns nil if there are none, and for a repeated submission, because its data may be gone. The caller
// must end the hold.
func (s *Server) holdData(ctx context.Context, id batch.JobID, r *site.Request) (*dataHold, error) {
	if !usesDepot(r) {
		return nil, nil
	}
	if known, err := s.knows(ctx, id); err != nil || known {
		return nil, err
	}
	u := &dataHold{job: string(id)}
	for _, name := range handles(r) {
		err := s.resolveOne(r, name, func(id string) (depot.Data, error) { return s.takeData(u, id) })
		if err != nil {
			s.endHold(u, id, false)
			return nil, s.noData("request.arguments."+name, r.Arguments[name].File().Data, err)
		}
	}
	if err := s.keepInput(u, r); err != nil {
		s.endHold(u, id, false)
		return nil, err
	}
	return u, nil
}

// takeData records that a submission uses data.
func (s *Server) takeData(u *dataHold, id string) (depot.Data, error) {
	d, err := s.depot.Use(id, u.job)
	if err != nil {
		return d, err
	}
	if _, err := s.content.Pin(d.SHA256); err != nil { // just evicted
		return d, depot.ErrUnknown
	}
	u.pins = append(u.pins, d.SHA256)
	return d, nil
}

// endHold releases what a submission holds. A refused submission leaves nothing behind.
func (s *Server) endHold(u *dataHold, id batch.JobID, accepted bool) {
	if u == nil {
		return
	}
	var errs []error
	for _, sha := range u.pins {
		errs = append(errs, s.content.Unpin(sha))
	}
	if !accepted && !s.knownAfterAll(id) {
		errs = append(errs, s.depot.Unused(u.job))
		for _, kept := range u.kept {
			_, _, err := s.depot.Remove(kept)
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		s.log.Warn("releasing data failed", "job", id, "error", err)
	}
}

// knownAfterAll reports whether another call accepted the same submission.
func (s *Server) knownAfterAll(id batch.JobID) (known bool) {
	err := s.see(s.life, func() { known = s.core.Knows(id) })
	return known || err != nil // decided after a restart
}

// keepInput stores inputs under the handles that the request gives them.
func (s *Server) keepInput(u *dataHold, r *site.Request) error {
	if len(r.Keep) == 0 {
		return nil
	}
	service, err := s.cfg.Catalogue.Service(r.Service)
	if err != nil {
		return nil //nolint:nilerr // the core reports it
	}
	values, err := service.Bind(r.Arguments)
	if err != nil {
		return nil //nolint:nilerr // the core reports it, too
	}
	types := make(map[string]catalogue.Type)
	for i := range service.Arguments {
		if a := &service.Arguments[i]; a.Type.In() || a.Type.Out() {
			types[a.Name] = a.Type
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Keep)) {
		k := r.Keep[name]
		field := "request.keep." + name
		if types[name] == 0 {
			return &problem.Problem{
				Reason: problem.BadValue, Field: field, Accepted: oneOf(slices.Sorted(maps.Keys(types))),
				Message: fmt.Sprintf("service %s has no file, vector or matrix %.70q to keep", r.Service, name),
			}
		}
		if types[name].Out() { // stored when it is written
			continue
		}
		v, given := values.Get(name)
		if !given {
			return &problem.Problem{
				Reason: problem.BadValue, Field: field, Accepted: "an argument of the request",
				Message: fmt.Sprintf("cannot keep argument %s: it is not given", name),
			}
		}
		if err := files.CheckContent(s.content, name, v.File()); err != nil {
			return err
		}
		_, err := s.depot.Get(k.ID)
		d := keptAs(r, k, v.File().SHA256, v.File().Size, v.Layout(), u.job)
		d.Name = v.File().Name
		if _, e := s.depot.Put(d); e != nil {
			p := problemOf(e)
			if p == nil {
				return e
			}
			out := *p
			out.Field = field
			return &out
		}
		if err != nil {
			u.kept = append(u.kept, k.ID)
		}
	}
	return nil
}

// keptAs returns the data that a request keeps an argument as.
func keptAs(r *site.Request, k site.Keep, sha string, size int64, l catalogue.Layout, job string) depot.Data {
	d := depot.Data{ID: k.ID, SHA256: sha, Size: size, Mode: depot.Mode(k.Mode), Owner: r.Owner, Job: job}
	if len(l.Dims) > 0 {
		d.Element, d.Dimensions = l.Element.String(), l.Dims
	}
	return d
}

// jobLocks serializes calls about the same job.
type jobLocks struct {
	mu    sync.Mutex
	taken map[batch.JobID]chan struct{} // closed when the turn ends
}

// take waits for the lock of a job, which the caller holds until it calls done.
func (t *jobLocks) take(ctx context.Context, id batch.JobID) (done func(), err error) {
	for {
		before := t.begin(id)
		if before == nil {
			return func() { t.end(id) }, nil
		}
		select {
		case <-before:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// begin takes the lock, or returns a channel that is closed when the current holder is done.
func (t *jobLocks) begin(id batch.JobID) (before chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if before := t.taken[id]; before != nil {
		return before
	}
	if t.taken == nil {
		t.taken = make(map[batch.JobID]chan struct{})
	}
	t.taken[id] = make(chan struct{})
	return nil
}

func (t *jobLocks) end(id batch.JobID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.taken[id])
	delete(t.taken, id)
}
