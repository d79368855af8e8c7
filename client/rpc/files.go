package rpc

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

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

const (
	// LongestSilence bounds how long a transfer makes no progress before its
	// connection counts as broken: HTTP/1.1 has no pings.
	LongestSilence = 30 * time.Second
	// largestDetail bounds the body of an error, bytes.
	largestDetail = 64 << 10
	// piece is how much of a file is passed on at once, bytes.
	piece = 256 << 10
)

// Upload is content, or the rest of it.
type Upload struct {
	Name   string // for errors
	SHA256 string
	Size   int64 // of the whole content, bytes
	Offset int64 // of the first byte that is sent
}

// Put sends content from its offset on. The error is neither a problem nor a
// failure if the content cannot be read.
func (c *Conn) Put(ctx context.Context, server string, u Upload, content io.Reader) error {
	ctx, call := begin(ctx, "server", server)
	ctx, w := watchOver(ctx)
	defer w.end()
	body := &watched{Reader: content, w: w}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, server+"/v1/content/"+u.SHA256, body)
	if err != nil {
		return call.failed(err)
	}
	if req.ContentLength = u.Size - u.Offset; req.ContentLength == 0 {
		req.Body = http.NoBody
	}
	if u.Offset > 0 {
		req.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", u.Offset, u.Size-1, u.Size))
	}
	req.Header.Set("Expect", "100-continue") // a refusal arrives before the content is sent
	res, err := c.caller.Files().Do(req)
	if failed := body.failed(); failed != nil {
		if err == nil {
			_ = res.Body.Close()
		}
		return fmt.Errorf("read %s: %w", u.Name, failed)
	}
	if err != nil {
		return call.broken(err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusOK || res.StatusCode == http.StatusCreated {
		_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, largestDetail)) // the connection can be reused
		return nil
	}
	return call.refused(res)
}

// GetOutput calls write with each piece of a job's output, from an offset on.
func (c *Conn) GetOutput(
	ctx context.Context, server, job, argument string, offset int64, write func([]byte) error,
) error {
	return c.get(ctx, server, "/v1/jobs/"+url.PathEscape(job)+"/outputs/"+url.PathEscape(argument), offset, write)
}

// GetStored calls write with each piece of stored data, from an offset on.
func (c *Conn) GetStored(ctx context.Context, server, id string, offset int64, write func([]byte) error) error {
	return c.get(ctx, server, "/v1/data/"+url.PathEscape(id), offset, write)
}

func (c *Conn) get(ctx context.Context, server, path string, offset int64, write func([]byte) error) error {
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
	res, err := c.caller.Files().Do(req)
	if err != nil {
		return call.broken(err)
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusRequestedRangeNotSatisfiable &&
		res.Header.Get("Content-Range") == fmt.Sprintf("bytes */%d", offset):
		return nil // the content ends here
	case res.StatusCode == http.StatusPartialContent && offset > 0:
	case res.StatusCode != http.StatusOK || offset > 0:
		return call.refused(res)
	}
	body := &watched{Reader: res.Body, w: w}
	buffer := make([]byte, piece)
	for {
		n, err := body.Read(buffer)
		if n > 0 {
			if err := write(buffer[:n]); err != nil {
				return Local(err)
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

// broken returns the failure of a transfer without a connection, or
// broke.
func (c *call) broken(err error) error {
	if !c.sent.Load() {
		return c.failed(err)
	}
	return c.failed(connect.NewError(connect.CodeUnavailable, err))
}

// refused returns the problem in a server's answer.
func (c *call) refused(res *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(res.Body, largestDetail))
	var detail droverv1.ErrorDetail
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(text, &detail); err == nil &&
		detail.GetReason() != "" {
		return rpc.ProblemOf(&detail)
	}
	switch res.StatusCode {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return c.failed(connect.NewError(connect.CodeUnimplemented, errors.New(res.Status)))
	case http.StatusTemporaryRedirect: // the job has just moved
		return &problem.Problem{
			Reason: problem.Unreachable, Retryable: true, Message: fmt.Sprintf("the job has moved away from %s", c.url),
		}
	}
	return c.failed(connect.NewError(connect.CodeUnavailable, fmt.Errorf("HTTP status %s", res.Status)))
}

// watch ends a transfer that makes no progress.
type watch struct {
	end   context.CancelFunc
	timer *time.Timer
}

func watchOver(ctx context.Context) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(LongestSilence, func() { cancel(os.ErrDeadlineExceeded) })
	return ctx, &watch{timer: timer, end: func() { timer.Stop(); cancel(nil) }}
}

func (w *watch) progress() { w.timer.Reset(LongestSilence) }

// late marks the error of a transfer that the watch has ended.
func (*watch) late(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), os.ErrDeadlineExceeded) {
		return connect.NewError(connect.CodeDeadlineExceeded, err)
	}
	return err
}

// watched reports the progress of a transfer to its watch.
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
		r.w.progress()
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
