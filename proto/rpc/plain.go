package rpc

import (
	"errors"
	"io"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Route is a path beside the services, for plain HTTP.
type Route struct {
	// Pattern is one of http.ServeMux: "GET /v1/data/{id}".
	Pattern string
	// Handler answers a request. An error that it returns before it has written
	// anything becomes the answer: an ErrorDetail in JSON, under the status of its
	// reason or that of WithStatus.
	Handler func(http.ResponseWriter, *http.Request) error
}

// WithStatus returns err for a route's answer under a status of its own.
func WithStatus(status int, err error) error { return &statusError{error: err, status: status} }

type statusError struct {
	error
	status int
}

func (e *statusError) Unwrap() error { return e.error }

// route returns the handler of a route: it does around a request what interceptors
// do around a call.
func (c *calls) route(r Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		began := time.Now()
		answer := &answer{ResponseWriter: w}
		err := c.recovered(r.Pattern, func() error { return r.Handler(answer, req) })
		c.log.Debug("call", "method", req.Method, "path", req.URL.Path, "duration", time.Since(began), "error", err)
		if err == nil {
			return
		}
		p := c.problemOf(r.Pattern, err)
		if answer.begun {
			panic(http.ErrAbortHandler) // the client must not take what it has for the whole
		}
		status := Status(p.Reason)
		if s, ok := errors.AsType[*statusError](err); ok {
			status = s.status
		}
		Refuse(w, status, p)
	})
}

// answer remembers whether anything of an answer is written.
type answer struct {
	http.ResponseWriter
	begun bool
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	a.begun = true
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) {
	a.begun = true
	return a.ResponseWriter.Write(b)
}

// ReadFrom implements io.ReaderFrom, so that the kernel can copy a file.
func (a *answer) ReadFrom(r io.Reader) (int64, error) {
	a.begun = true
	return io.Copy(a.ResponseWriter, r)
}

// Unwrap serves http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// statuses are the HTTP statuses that Connect gives its codes.
var statuses = map[connect.Code]int{
	connect.CodeInvalidArgument:    http.StatusBadRequest,
	connect.CodeFailedPrecondition: http.StatusBadRequest,
	connect.CodeNotFound:           http.StatusNotFound,
	connect.CodeAlreadyExists:      http.StatusConflict,
	connect.CodeAborted:            http.StatusConflict,
	connect.CodeResourceExhausted:  http.StatusTooManyRequests,
	connect.CodeUnimplemented:      http.StatusNotImplemented,
	connect.CodeUnavailable:        http.StatusServiceUnavailable,
	connect.CodeDeadlineExceeded:   http.StatusGatewayTimeout,
}

// Status returns the HTTP status of a reason, 500 for one that this program does
// not know.
func Status(r problem.Reason) int {
	switch r {
	case problem.TooLarge:
		return http.StatusRequestEntityTooLarge
	case problem.DiskFull:
		return http.StatusInsufficientStorage
	}
	if status, ok := statuses[Code(r)]; ok {
		return status
	}
	return http.StatusInternalServerError
}

// Refuse answers over plain HTTP with a problem: an ErrorDetail in JSON. Routes
// return errors instead; Refuse is for a wrapper of a http.ResponseWriter.
func Refuse(w http.ResponseWriter, status int, p *problem.Problem) {
	text, err := protojson.Marshal(DetailOf(p))
	if err != nil { // DetailOf returns valid UTF-8; a defect
		text = []byte(`{"reason":"internal","message":"the error cannot be encoded"}`)
	}
	h := w.Header()
	for _, about := range []string{"Content-Length", "ETag", "Last-Modified"} { // of the answer that this one replaces
		h.Del(about)
	}
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may have gone
}
