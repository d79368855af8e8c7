package server

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/files/blobs"
	"github.com/seed-9b8f70bb/drover/server/files/depot"
)

// openContent opens the depot, then the content store: data under a handle is pinned before the
// content store evicts anything.
func (s *Server) openContent(dir string) error {
	l := &s.cfg.Limits
	d, damaged, err := depot.Open(depot.Config{
		Dir: filepath.Join(dir, "depot"), Quota: int64(l.Data),
		OwnerQuota: int64(l.DataOwner),
	})
	if err != nil {
		return err
	}
	for _, err := range damaged {
		s.log.Error("data handle skipped", "error", err)
	}
	content, err := blobs.Open(blobs.Config{
		Dir: filepath.Join(dir, "content"), Largest: int64(l.File), Capacity: int64(l.Content), Pinned: d.Contents(),
	})
	if err != nil {
		return err
	}
	lost, err := d.Attach(content)
	for i := range lost {
		s.log.Error("data content lost", "handle", lost[i].ID, "sha256", lost[i].SHA256)
	}
	s.content, s.depot = content, d
	return err
}

// releaseOldData ends the use of data by jobs of an earlier server process that have ended or were
// never accepted. It runs before anything else uses the core.
func (s *Server) releaseOldData() error {
	for _, job := range s.depot.Users() {
		if err := s.recall(batch.JobID(job)); err != nil {
			return err
		}
		j, err := s.core.Job(batch.JobID(job))
		switch {
		case err != nil:
			err = s.depot.Unused(job)
		case j.State.Final():
			err = s.depot.Ended(job)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dataUsed removes the volatile data that a job used, after it has left the site or has ended;
// called by the loop.
func (s *Server) dataUsed(id batch.JobID) {
	job := string(id)
	if !s.depot.IsUser(job) {
		return
	}
	s.spawn(func() {
		if err := s.depot.Ended(job); err != nil { // retried after a restart
			s.log.Error("removing volatile data failed", "job", job, "error", err)
		}
	})
}

// PutData stores content under a handle.
func (s *Server) PutData(d depot.Data) (depot.Data, error) {
	if s.leaving.Load() {
		return depot.Data{}, errStopping
	}
	if s.disk.degraded() {
		return depot.Data{}, errDiskFull
	}
	if err := s.checkData(&d); err != nil {
		return depot.Data{}, err
	}
	b, err := s.content.Find(d.SHA256)
	if err != nil {
		return depot.Data{}, noContent(&d)
	}
	if d.Size != 0 && d.Size != b.Size {
		return depot.Data{}, &problem.Problem{
			Reason: problem.BadValue, Field: "data.content.size_bytes", Accepted: fmt.Sprintf("%d, or none", b.Size),
			Message: fmt.Sprintf("size of %d bytes, but the content has %d", d.Size, b.Size),
		}
	}
	d.Size = b.Size
	if err := checkBlock(&d); err != nil {
		return depot.Data{}, err
	}
	out, err := s.depot.Put(d)
	if errors.Is(err, blobs.ErrUnknown) { // it was evicted meanwhile
		err = noContent(&d)
	}
	return out, err
}

func noContent(d *depot.Data) *problem.Problem {
	return &problem.Problem{
		Reason: problem.UnknownContent, Field: "data.content.sha256",
		Accepted: "content that was uploaded to this server",
		Message:  fmt.Sprintf("no content %s here", d.SHA256), Hint: "upload it to this server, then put it again",
	}
}

// maxOwner is the maximal length of a data owner's name, in bytes.
const maxOwner = 255

// checkData refuses invalid data, whatever the content.
func (s *Server) checkData(d *depot.Data) error {
	bad := func(field, accepted, value string) error {
		return &problem.Problem{
			Reason: problem.BadValue, Field: "data." + field, Accepted: accepted,
			Message: fmt.Sprintf("%s: %.70q", field, value),
		}
	}
	switch {
	case !depot.IsID(d.ID):
		return badHandle("data.id", d.ID)
	case !blobs.IsSHA256(d.SHA256):
		return bad("content.sha256", "64 lower-case hexadecimal digits", d.SHA256)
	case d.Size < 0:
		return bad("content.size_bytes", "0 (unknown) or more", fmt.Sprint(d.Size))
	case d.Mode == "":
		return bad("mode", "volatile, sticky, persistent", "")
	case len(d.Owner) > maxOwner || strings.ContainsFunc(d.Owner, unicode.IsControl):
		return bad("owner", fmt.Sprintf("at most %d bytes without control characters", maxOwner), d.Owner)
	case !catalogue.IsBaseName(d.Name):
		return bad("content.name", fmt.Sprintf("a base name of at most %d bytes without control characters, or none",
			catalogue.MaxFileName), d.Name)
	}
	return nil
}

// checkBlock refuses an array with content of another size than of its dimensions.
func checkBlock(d *depot.Data) error {
	if d.Element == "" && len(d.Dimensions) == 0 {
		return nil
	}
	e, known := catalogue.ElementNamed(d.Element)
	l := catalogue.Layout{Element: e, Dims: d.Dimensions}
	bytes, ok := l.Bytes()
	if known && ok && bytes == d.Size && (len(d.Dimensions) == 1 || len(d.Dimensions) == 2) {
		return nil
	}
	return &problem.Problem{
		Reason: problem.WrongDimensions, Field: "data.dimensions",
		Accepted: "an element and 1 or 2 dimensions that have the size of the content; or neither, for a file",
		Message:  fmt.Sprintf("%v in %d bytes", l, d.Size),
	}
}

func badHandle(field, id string) *problem.Problem {
	return &problem.Problem{
		Reason: problem.BadValue, Field: field, Accepted: "a handle: a lower-case UUIDv7",
		Message: fmt.Sprintf("%s: %.70q", field, id),
	}
}

// GetData returns the named data that are here, and what is known of the others.
func (s *Server) GetData(ids []string) (here []depot.Data, gone []*depot.GoneError, err error) {
	for i, id := range ids {
		if !depot.IsID(id) {
			return nil, nil, badHandle(fmt.Sprintf("ids[%d]", i), id)
		}
		d, err := s.depot.Get(id)
		var was *depot.GoneError
		switch {
		case err == nil:
			here = append(here, d)
		case errors.As(err, &was):
			gone = append(gone, was)
		}
	}
	return here, gone, nil
}

// RemoveData removes data; nil if they are not here.
func (s *Server) RemoveData(id string) (*depot.Data, error) {
	if s.leaving.Load() {
		return nil, errStopping
	}
	if !depot.IsID(id) {
		return nil, badHandle("id", id)
	}
	was, ok, err := s.depot.Remove(id)
	if err != nil || !ok {
		return nil, err
	}
	return &was, nil
}

// OpenData opens the content of data.
func (s *Server) OpenData(id string) (*os.File, depot.Data, error) {
	if !depot.IsID(id) {
		return nil, depot.Data{}, badHandle("id", id)
	}
	f, d, err := s.depot.Content(id)
	if err != nil {
		return nil, depot.Data{}, s.noData("id", id, err)
	}
	return f, d, nil
}

// ListData returns a page of the data here, in order of their handles.
func (s *Server) ListData(filter, after string, limit int) (page []depot.Data, more bool, err error) {
	match, err := dataFilter(filter)
	if err != nil {
		return nil, false, err
	}
	page, more = s.depot.List(after, limit, match)
	return page, more, nil
}

// noData returns the problem of a request for data that are not here; it returns other errors
// unchanged.
func (s *Server) noData(field, id string, err error) error {
	var gone *depot.GoneError
	p := &problem.Problem{
		Reason: problem.UnknownData, Field: field, Accepted: "a handle of data that are at this site",
		Message: fmt.Sprintf("no data %s at site %s", id, s.cfg.Name),
		Hint:    "drover data list shows where they are; CopyData copies them here",
	}
	switch {
	case errors.As(err, &gone):
		p.Message = s.DescribeGone(gone)
	case !errors.Is(err, depot.ErrUnknown):
		return err
	}
	return p
}

// DescribeGone describes what became of data that were here.
func (s *Server) DescribeGone(g *depot.GoneError) string {
	return fmt.Sprintf("%v, at site %s", g, s.cfg.Name)
}

// dataProblem converts an error of the depot to a problem for clients; nil for other errors.
func dataProblem(err error) *problem.Problem {
	var (
		conflict *depot.ConflictError
		quota    *depot.QuotaError
	)
	switch {
	case errors.As(err, &conflict):
		return &problem.Problem{
			Reason: problem.DataConflict, Field: "data.id", Accepted: "a new handle for each data",
			Message: conflict.Error(),
			Hint:    "data never change: put new content under a new handle",
		}
	case errors.As(err, &quota):
		return &problem.Problem{
			Reason: problem.DataQuota, Field: "data.content.size_bytes",
			Accepted: fmt.Sprintf("at most %d bytes", max(quota.Quota-quota.Fixed, 0)),
			Message:  quota.Error(),
			Hint: "remove data that are no longer needed (drover data rm), or use another site: " +
				"drover site NAME shows the free space",
		}
	}
	return nil
}

// dataFilter parses the filter of a list of data.
func dataFilter(text string) (func(*depot.Data) bool, error) {
	want := make(map[string]string)
	for _, term := range strings.Fields(text) {
		key, value, ok := strings.Cut(term, "=")
		_, twice := want[key]
		known := cmp.Or(key == "id", key == "owner", key == "mode", key == "name")
		mode := depot.Mode(value)
		if !ok || value == "" || twice || !known || key == "mode" && mode != depot.Volatile && mode != depot.Sticky &&
			mode != depot.Persistent {
			return nil, &problem.Problem{
				Reason: problem.BadValue, Field: "filter", Message: fmt.Sprintf("filter: %.70q", term),
				Accepted: "key=value terms separated by spaces, each key once, of id, owner, mode (volatile, sticky, " +
					"persistent), name",
			}
		}
		want[key] = value
	}
	is := func(key, value string) bool { return want[key] == "" || want[key] == value }
	return func(d *depot.Data) bool {
		return strings.HasPrefix(d.ID, want["id"]) && is("owner", d.Owner) && is("mode", string(d.Mode)) &&
			is("name", d.Name)
	}, nil
}

// Upload stores the content that r returns.
func (s *Server) Upload(r io.Reader, want blobs.Want) (blobs.Blob, error) {
	if s.leaving.Load() {
		return blobs.Blob{}, errStopping
	}
	if err := checkContent(want); err != nil {
		return blobs.Blob{}, err
	}
	return s.content.Add(r, want)
}

// ContentProgress returns how much of a content has arrived, in bytes.
func (s *Server) ContentProgress(sha string, size int64) (blobs.Progress, error) {
	if sha == "" {
		return blobs.Progress{}, badSHA256(sha, "64 lower-case hexadecimal digits")
	}
	if err := checkContent(blobs.Want{SHA256: sha, Size: size}); err != nil {
		return blobs.Progress{}, err
	}
	return s.content.Have(sha, size), nil
}

func checkContent(want blobs.Want) error {
	switch {
	case want.SHA256 != "" && !blobs.IsSHA256(want.SHA256):
		return badSHA256(want.SHA256, "64 lower-case hexadecimal digits, or none")
	case want.Size < 0:
		return &problem.Problem{
			Reason: problem.OutOfRange, Field: "size_bytes", Accepted: "0 (unknown) or more",
			Message: fmt.Sprintf("size_bytes: %d", want.Size),
		}
	case want.Offset < 0:
		return badOffset(want.Offset)
	case want.Offset > 0 && (want.SHA256 == "" || want.Size == 0):
		return &problem.Problem{
			Reason: problem.BadValue, Field: "offset",
			Accepted: "0, or with sha256 and size_bytes what StatContent says",
			Message:  fmt.Sprintf("offset %d without a sha256", want.Offset),
		}
	case want.Offset > want.Size:
		return &problem.Problem{
			Reason: problem.OutOfRange, Field: "offset", Accepted: "0 to size_bytes",
			Message: fmt.Sprintf("offset %d of %d bytes", want.Offset, want.Size),
		}
	}
	return nil
}

func badSHA256(sha, accepted string) *problem.Problem {
	return &problem.Problem{
		Reason: problem.BadValue, Field: "sha256", Accepted: accepted,
		Message: fmt.Sprintf("sha256: %.70q", sha),
	}
}
