package rpc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
	"github.com/seed-9b8f70bb/drover/server/files"
	"github.com/seed-9b8f70bb/drover/server/files/blobs"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// Headers with the progress of an upload, in bytes.
const (
	uploadOffset = "Upload-Offset"
	uploadLength = "Upload-Length"
)

// httpHandler serves files over plain HTTP.
type httpHandler struct{ handler }

func (h httpHandler) routes() []rpc.Route {
	return []rpc.Route{
		{Pattern: "HEAD /v1/content/{sha256}", Handler: h.headContent},
		{Pattern: "PUT /v1/content/{sha256}", Handler: h.putContent},
		{Pattern: "GET /v1/jobs/{id}/outputs/{argument}", Handler: h.getOutput},
		{Pattern: "GET /v1/jobs/{id}/stdout", Handler: h.getStream(files.Stdout)},
		{Pattern: "GET /v1/jobs/{id}/stderr", Handler: h.getStream(files.Stderr)},
		{Pattern: "GET /v1/data/{id}", Handler: h.getData},
	}
}

// headContent reports how much of a content has arrived.
func (h httpHandler) headContent(w http.ResponseWriter, r *http.Request) error {
	size := int64(0)
	if text := r.URL.Query().Get("size"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return &problem.Problem{
				Reason: problem.BadValue, Field: "size", Accepted: "bytes",
				Message: fmt.Sprintf("size: %.70q", text),
			}
		}
		size = n
	}
	sha := r.PathValue("sha256")
	have, err := h.s.ContentProgress(sha, size)
	if err != nil {
		return err
	}
	if have.Complete {
		w.Header().Set("Content-Length", strconv.FormatInt(have.Size, 10))
		w.Header().Set("ETag", strconv.Quote(sha))
		return nil
	}
	setProgress(w, have)
	w.WriteHeader(http.StatusNotFound)
	return nil
}

func setProgress(w http.ResponseWriter, have blobs.Progress) {
	w.Header().Set(uploadOffset, strconv.FormatInt(have.Have, 10))
	if have.Size > 0 {
		w.Header().Set(uploadLength, strconv.FormatInt(have.Size, 10))
	}
}

// maxRefusedBody is how many bytes of a refused upload are read to the end, so that the
// client sees the answer and not a closed connection.
const maxRefusedBody = 64 << 20

// putContent stores a content or a part of it.
func (h httpHandler) putContent(w http.ResponseWriter, r *http.Request) error {
	want, err := wanted(r)
	if err != nil {
		return err
	}
	status := http.StatusCreated
	if have, err := h.s.ContentProgress(want.SHA256, 0); err == nil && have.Complete {
		status = http.StatusOK
	}
	body := &bodyReader{Reader: r.Body}
	b, err := h.s.Upload(body, want)
	if err != nil && body.err != nil {
		err = &problem.Problem{
			Reason: problem.BadValue, Field: "body", Accepted: "as many bytes as announced", Retryable: true,
			Message: fmt.Sprintf("the upload was interrupted: %v", body.err), Hint: "HEAD returns how much has arrived",
		}
	}
	if body.err == nil && r.Header.Get("Expect") == "" {
		// Many clients do not read the answer before they have sent the whole body.
		rest := b.Size
		if err != nil {
			rest = maxRefusedBody
		}
		if _, readErr := io.Copy(io.Discard, io.LimitReader(r.Body, rest)); err == nil {
			err = readErr
		}
	}
	var (
		part   *blobs.PartError
		offset *blobs.OffsetError
	)
	switch {
	case errors.As(err, &part):
		setProgress(w, blobs.Progress{Have: part.Have, Size: want.Size})
		w.WriteHeader(http.StatusAccepted)
		return nil
	case errors.As(err, &offset):
		setProgress(w, blobs.Progress{Have: offset.Have, Size: want.Size})
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
	_, _ = w.Write(text) // the client may have disconnected
	return nil
}

// bodyReader records why reading a request's body failed.
type bodyReader struct {
	io.Reader
	err error // nil at EOF
}

// Read implements io.Reader.
func (b *bodyReader) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

// wanted returns the content that a PUT request announces.
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
			Reason: problem.BadValue, Field: "Content-Range",
			Accepted: "bytes FIRST-LAST/SIZE, with as many bytes as the body",
			Message:  fmt.Sprintf("Content-Range: %.70q, Content-Length %d", text, r.ContentLength),
		}
	}
	want.Size, want.Offset, want.Part = size, first, last+1 < size
	return want, nil
}

// getOutput sends an output of a job.
func (h httpHandler) getOutput(w http.ResponseWriter, r *http.Request) error {
	job, here, err := h.job(w, r)
	if !here {
		return err
	}
	f, sha, err := h.s.OpenOutput(&job, r.PathValue("argument"))
	if err != nil {
		return err
	}
	defer f.Close()
	if sha != "" {
		w.Header().Set("ETag", strconv.Quote(sha))
	}
	sendFile(w, r, "application/octet-stream", f)
	return nil
}

// getStream sends a job's stdout or stderr up to its current end.
func (h httpHandler) getStream(stream string) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		job, here, err := h.job(w, r)
		if !here {
			return err
		}
		const contentType = "text/plain; charset=utf-8"
		f, err := h.s.OpenStream(job.ID, stream)
		if err != nil {
			return err
		}
		if f == nil { // the job has not started
			sendFile(w, r, contentType, bytes.NewReader(nil))
			return nil
		}
		defer f.Close()
		sendFile(w, r, contentType, f)
		return nil
	}
}

// getData sends the content of data under a handle.
func (h httpHandler) getData(w http.ResponseWriter, r *http.Request) error {
	f, d, err := h.s.OpenData(r.PathValue("id"))
	if err != nil {
		return err
	}
	defer f.Close()
	w.Header().Set("ETag", strconv.Quote(d.SHA256))
	sendFile(w, r, "application/octet-stream", f)
	return nil
}

// job returns the job in the request's path if it is here. Otherwise it redirects the client to the
// job's site or returns the reason why that is impossible.
func (h httpHandler) job(w http.ResponseWriter, r *http.Request) (job site.Job, here bool, err error) {
	job, err = h.s.Job(r.Context(), r.PathValue("id"))
	if err != nil {
		return site.Job{}, false, err
	}
	if job.State != site.Gone {
		return job, true, nil
	}
	url, err := h.s.Peer("job_id", job.MovedTo())
	if err != nil {
		return site.Job{}, false, rpc.WithStatus(http.StatusMisdirectedRequest, &problem.Problem{
			Reason: problem.UnknownSite, Field: "job_id", Accepted: "a site of the grid", Retryable: true,
			Message: fmt.Sprintf("job %s has moved to site %s, whose address is unknown here", job.ID, job.MovedTo()),
			Hint:    "ask an agent's FindJob",
		})
	}
	http.Redirect(w, r, strings.TrimSuffix(url, "/")+r.URL.EscapedPath(), http.StatusTemporaryRedirect)
	return site.Job{}, false, nil
}

// sendFile sends a file or the requested range of it.
func sendFile(w http.ResponseWriter, r *http.Request, contentType string, f io.ReadSeeker) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(&rangeWriter{ResponseWriter: w}, r, "", time.Time{}, f)
}

// rangeWriter replaces the text of net/http for an invalid range by a problem.
type rangeWriter struct {
	http.ResponseWriter
	refused bool
}

// WriteHeader implements http.ResponseWriter.
func (w *rangeWriter) WriteHeader(status int) {
	if w.refused = status == http.StatusRequestedRangeNotSatisfiable; w.refused {
		rpc.Refuse(w.ResponseWriter, status, &problem.Problem{
			Reason: problem.OutOfRange, Field: "Range",
			Accepted: "a range within the file: " + w.Header().Get("Content-Range"),
			Message:  "the range is empty",
		})
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *rangeWriter) Write(p []byte) (int, error) {
	if w.refused {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// ReadFrom implements io.ReaderFrom, so that the kernel can copy the file.
func (w *rangeWriter) ReadFrom(r io.Reader) (int64, error) {
	if w.refused {
		return io.Copy(io.Discard, r)
	}
	return io.Copy(w.ResponseWriter, r)
}
