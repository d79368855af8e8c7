package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/seed-9b8f70bb/drover/client/submission"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

const (
	// longestLull is how long a connection may bring a file no further before it
	// counts as broken: HTTP/1.1 has no pings.
	longestLull = 30 * time.Second
	// largestDetail bounds an error's text, bytes.
	largestDetail = 64 << 10
)

// errNoPlain is a server without plain HTTP: it wants to be called.
var errNoPlain = errors.New("no plain HTTP here")

// put sends a file's content, from an offset on.
func (f *face) put(ctx context.Context, server string, c *file, content io.Reader, offset int64) error {
	ctx, call := begin(ctx, "server", server)
	ctx, w := watchOver(ctx)
	defer w.end()
	body := &watched{Reader: content, w: w}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, server+"/v1/content/"+c.sha256, body)
	if err != nil {
		return call.failed(err)
	}
	if req.ContentLength = c.size - offset; req.ContentLength == 0 {
		req.Body = http.NoBody
	}
	if offset > 0 {
		req.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", offset, c.size-1, c.size))
	}
	req.Header.Set("Expect", "100-continue") // so that a refusal is heard before anything is sent
	res, err := f.caller.Files().Do(req)
	if failed := body.failed(); failed != nil {
		return fmt.Errorf("read %s: %w", c.name, failed)
	}
	if err != nil {
		return call.broken(err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusOK || res.StatusCode == http.StatusCreated {
		_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, largestDetail)) // so that the connection is used again
		return nil
	}
	if err := call.told(res); !errors.Is(err, errNoPlain) {
		return err
	}
	return call.failed(connect.NewError(connect.CodeUnimplemented, errNoPlain))
}

// get calls write with each piece of a job's output, from an offset on.
func (f *face) get(ctx context.Context, server, id, argument string, offset int64, write func([]byte) error) error {
	return f.fetch(ctx, server, "/v1/jobs/"+url.PathEscape(id)+"/outputs/"+url.PathEscape(argument), offset, write)
}

// fetch calls write with each piece of what is at a path, from an offset on.
func (f *face) fetch(ctx context.Context, server, path string, offset int64, write func([]byte) error) error {
	ctx, call := begin(ctx, "server", server)
	ctx, w := watchOver(ctx)
	defer w.end()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server+path, http.NoBody)
	if err != nil {
		return call.failed(err)
	}
	if offset > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	res, err := f.caller.Files().Do(req)
	if err != nil {
		return call.broken(err)
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusRequestedRangeNotSatisfiable && res.Header.Get("Content-Range") == fmt.Sprintf("bytes */%d", offset):
		return nil // there is no more of it
	case res.StatusCode == http.StatusPartialContent && offset > 0:
	case res.StatusCode != http.StatusOK || offset > 0:
		return call.told(res)
	}
	body := &watched{Reader: res.Body, w: w}
	buffer := make([]byte, piece)
	for {
		n, err := body.Read(buffer)
		if n > 0 {
			if err := write(buffer[:n]); err != nil {
				return local(err)
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return call.broken(err)
		}
	}
}

// broken is the failure of a transfer whose connection was not made, or broke.
func (c *call) broken(err error) error {
	if !c.sent.Load() {
		return c.failed(err)
	}
	return c.failed(connect.NewError(connect.CodeUnavailable, err))
}

// told returns what a server says in place of what was asked for.
func (c *call) told(res *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(res.Body, largestDetail))
	var detail droverv1.ErrorDetail
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(text, &detail); err == nil && detail.GetReason() != "" {
		e := errorOf(&detail)
		e.kind, e.err = kindOf(e), errors.New(e.Message)
		return e
	}
	switch res.StatusCode {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return errNoPlain
	case http.StatusTemporaryRedirect: // it went this moment
		return &Error{
			Reason: ReasonUnreachable, Retryable: true, kind: submission.Busy, Message: fmt.Sprintf("the job has gone from %s", c.url),
		}
	}
	return c.failed(connect.NewError(connect.CodeUnavailable, fmt.Errorf("HTTP status %s", res.Status)))
}

// watch ends a transfer that comes no further.
type watch struct {
	end   context.CancelFunc
	timer *time.Timer
}

func watchOver(ctx context.Context) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(longestLull, func() { cancel(os.ErrDeadlineExceeded) })
	return ctx, &watch{timer: timer, end: func() { timer.Stop(); cancel(nil) }}
}

// watched tells that a transfer comes further.
type watched struct {
	io.Reader
	w   *watch
	mu  sync.Mutex
	err error // of reading; guarded by mu
}

func (r *watched) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *watched) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err == nil {
		r.w.timer.Reset(longestLull)
	} else {
		r.w.timer.Stop() // what follows is the server's work
		if !errors.Is(err, io.EOF) {
			r.mu.Lock()
			r.err = err
			r.mu.Unlock()
		}
	}
	return n, err
}
