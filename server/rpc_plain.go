package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
	"github.com/seed-9b8f70bb/drover/server/files/blobs"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// Headers that say how much of some content has arrived, and how large it is.
const (
	uploadOffset = "Upload-Offset"
	uploadLength = "Upload-Length"
)

// plain gives and takes files as any HTTP client expects it. Like face it
// translates and decides nothing.
type plain struct{ s *Server }

func (p plain) routes() []rpc.Route {
	return []rpc.Route{
		{Pattern: "HEAD /v1/content/{sha256}", Handler: p.headContent},
		{Pattern: "PUT /v1/content/{sha256}", Handler: p.putContent},
		{Pattern: "GET /v1/jobs/{id}/outputs/{argument}", Handler: p.getOutput},
		{Pattern: "GET /v1/jobs/{id}/stdout", Handler: p.getStream(stdout)},
		{Pattern: "GET /v1/jobs/{id}/stderr", Handler: p.getStream(stderr)},
		{Pattern: "GET /v1/data/{id}", Handler: p.getData},
	}
}

// headContent says how much of some content is here.
func (p plain) headContent(w http.ResponseWriter, r *http.Request) error {
	size := int64(0)
	if text := r.URL.Query().Get("size"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return &problem.Problem{Reason: problem.BadValue, Field: "size", Accepted: "bytes", Message: fmt.Sprintf("size: %.70q", text)}
		}
		size = n
	}
	sha := r.PathValue("sha256")
	have, err := p.s.have(sha, size)
	if err != nil {
		return err
	}
	if have.Complete {
		w.Header().Set("Content-Length", strconv.FormatInt(have.Size, 10))
		w.Header().Set("ETag", strconv.Quote(sha))
		return nil
	}
	arrived(w, have)
	w.WriteHeader(http.StatusNotFound)
	return nil
}

// arrived notes how much of some content there is.
func arrived(w http.ResponseWriter, have blobs.Progress) {
	w.Header().Set(uploadOffset, strconv.FormatInt(have.Have, 10))
	if have.Size > 0 {
		w.Header().Set(uploadLength, strconv.FormatInt(have.Size, 10))
	}
}

// putContent stores content, or a part of it.
func (p plain) putContent(w http.ResponseWriter, r *http.Request) error {
	want, err := wanted(r)
	if err != nil {
		return err
	}
	status := http.StatusCreated
	if _, err := p.s.content.Find(want.SHA256); err == nil {
		status = http.StatusOK
	}
	body := &sender{Reader: r.Body}
	b, err := p.s.upload(body, want)
	if err != nil && body.err != nil {
		err = &problem.Problem{
			Reason: problem.BadValue, Field: "body", Accepted: "as many bytes as were announced", Retryable: true,
			Message: fmt.Sprintf("the content has broken off: %v", body.err), Hint: "HEAD says how much has arrived",
		}
	}
	if err == nil && r.Header.Get("Expect") == "" {
		// Many clients read no answer before they have sent everything.
		_, err = io.Copy(io.Discard, io.LimitReader(r.Body, b.Size))
	}
	var (
		part   *blobs.PartError
		offset *blobs.OffsetError
	)
	switch {
	case errors.As(err, &part):
		arrived(w, blobs.Progress{Have: part.Have, Size: want.Size})
		w.WriteHeader(http.StatusAccepted)
		return nil
	case errors.As(err, &offset):
		arrived(w, blobs.Progress{Have: offset.Have, Size: want.Size})
		return rpc.WithStatus(http.StatusRequestedRangeNotSatisfiable, err)
	case err != nil:
		return err
	}
	text, err := protojson.Marshal(&droverv1.File{Sha256: b.SHA256, SizeBytes: b.Size})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // who asks may have gone
	return nil
}

// sender reads what a client sends, and remembers what came of that.
type sender struct {
	io.Reader
	err error // but for the end
}

// Read is io.Reader's.
func (s *sender) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// wanted reads what is said of content that is sent.
func wanted(r *http.Request) (blobs.Want, error) {
	want := blobs.Want{SHA256: r.PathValue("sha256"), Size: max(r.ContentLength, 0)}
	text := r.Header.Get("Content-Range")
	if text == "" {
		return want, nil
	}
	var first, last, size int64
	n, err := fmt.Sscanf(text, "bytes %d-%d/%d", &first, &last, &size)
	length := last - first + 1
	if err != nil || n != 3 || fmt.Sprintf("bytes %d-%d/%d", first, last, size) != text ||
		first < 0 || length < 1 || last >= size || r.ContentLength >= 0 && r.ContentLength != length {
		return want, &problem.Problem{
			Reason: problem.BadValue, Field: "Content-Range", Accepted: "bytes FIRST-LAST/SIZE, as many as are sent",
			Message: fmt.Sprintf("Content-Range: %.70q, Content-Length %d", text, r.ContentLength),
		}
	}
	want.Size, want.Offset, want.Part = size, first, last+1 < size
	return want, nil
}

// getOutput gives a file that a job has written.
func (p plain) getOutput(w http.ResponseWriter, r *http.Request) error {
	job, here, err := p.job(w, r)
	if !here {
		return err
	}
	argument := r.PathValue("argument")
	if err := p.s.checkOutput(&job, argument); err != nil {
		return err
	}
	f, _, err := p.s.openOutput(job.ID, argument)
	if errors.Is(err, fs.ErrNotExist) { // forgotten meanwhile
		err = notWritten(argument)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	for _, o := range job.Run.Outputs {
		if o.Argument == argument && o.SHA256 != "" {
			w.Header().Set("ETag", strconv.Quote(o.SHA256))
		}
	}
	p.serve(w, r, "application/octet-stream", f)
	return nil
}

// getStream gives what a job has written to a stream up to now.
func (p plain) getStream(name string) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		job, here, err := p.job(w, r)
		if !here {
			return err
		}
		const content = "text/plain; charset=utf-8"
		f, _, err := openWritten(p.s.data.job(job.ID), name)
		switch {
		case errors.Is(err, fs.ErrNotExist): // not begun
			p.serve(w, r, content, bytes.NewReader(nil))
		case err != nil:
			return noStream(name)
		default:
			defer f.Close()
			p.serve(w, r, content, f)
		}
		return nil
	}
}

// job returns the job that is asked for, and whether it is here. When it is
// elsewhere, job has answered where, or returns why not.
func (p plain) job(w http.ResponseWriter, r *http.Request) (job record, here bool, err error) {
	job, err = p.s.job(r.Context(), r.PathValue("id"))
	if err != nil {
		return record{}, false, err
	}
	if job.State != site.Gone {
		return job, true, nil
	}
	url, err := p.s.peer("job_id", job.MovedTo())
	if err != nil {
		problem, _ := asProblem(err)
		problem.Message = fmt.Sprintf("job %s has gone to site %s, and nobody here knows where that is", job.ID, job.MovedTo())
		problem.Hint = "ask an agent's FindJob"
		return record{}, false, rpc.WithStatus(http.StatusMisdirectedRequest, problem)
	}
	http.Redirect(w, r, strings.TrimSuffix(url, "/")+r.URL.EscapedPath(), http.StatusTemporaryRedirect)
	return record{}, false, nil
}

// serve gives a file, or a range of it.
func (p plain) serve(w http.ResponseWriter, r *http.Request, kind string, f io.ReadSeeker) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(&ranges{ResponseWriter: w}, r, "", time.Time{}, f)
}

// ranges has a range that is not there refused like everything else.
type ranges struct {
	http.ResponseWriter
	refused bool
}

// WriteHeader is http.ResponseWriter's.
func (w *ranges) WriteHeader(status int) {
	if w.refused = status == http.StatusRequestedRangeNotSatisfiable; w.refused {
		rpc.Refuse(w.ResponseWriter, status, &problem.Problem{
			Reason: problem.OutOfRange, Field: "Range", Accepted: "a range of what there is: " + w.Header().Get("Content-Range"),
			Message: "there is nothing in this range",
		})
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write is http.ResponseWriter's.
func (w *ranges) Write(p []byte) (int, error) {
	if w.refused {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// ReadFrom is io.ReaderFrom's: the system copies files by itself.
func (w *ranges) ReadFrom(r io.Reader) (int64, error) {
	if w.refused {
		return io.Copy(io.Discard, r)
	}
	return io.Copy(w.ResponseWriter, r)
}
