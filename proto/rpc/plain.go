package rpc

import (
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Route is a path beside the services, for plain HTTP.
type Route struct {
	Pattern string // of http.ServeMux
	Handler http.HandlerFunc
}

// statuses are those that Connect gives its codes.
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

// Status returns the HTTP status of a reason.
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

// Refuse answers over plain HTTP with a problem: an ErrorDetail in JSON.
func Refuse(w http.ResponseWriter, status int, p *problem.Problem) {
	text, err := protojson.Marshal(DetailOf(p))
	if err != nil { // a text that is not UTF-8
		text = []byte(`{"reason":"internal","message":"the problem cannot be told"}`)
	}
	h := w.Header()
	for _, about := range []string{"Content-Length", "ETag", "Last-Modified"} { // what was to be sent instead
		h.Del(about)
	}
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(text) // who asks may have gone
}
