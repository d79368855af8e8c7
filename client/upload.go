package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// arrived is how much of some content a server has.
type arrived struct {
	Complete bool  `proto:"complete"`
	Have     int64 `proto:"have_bytes"` // of its beginning
	Arriving bool  `proto:"arriving"`   // another upload of it is under way
}

// pollPause is the pause between two looks at content that another client sends, or
// after a broken connection.
const pollPause = 200 * time.Millisecond

// ensureContent has content at a server. It does not send what the server has already.
// After a broken connection it resumes, as long as each try makes progress, or something
// has arrived and patience lasts.
func (c *Client) ensureContent(ctx context.Context, server string, f *file, see func(sent int64)) error {
	var (
		most      int64 // bytes that have arrived
		since     = c.now()
		restarted bool // it was refused as a whole, and sent again from the beginning
		last      error
	)
	for {
		at, err := c.statAt(ctx, server, f)
		if err == nil && at.Complete {
			see(f.size)
			return nil
		}
		grown := err == nil && at.Have > most
		if grown {
			most, since = at.Have, c.now()
		}
		late := c.now().Sub(since) >= micros(c.cfg.Patience)
		switch {
		case err == nil && last != nil && !grown && (most == 0 || late):
			return last // no progress
		case err == nil && at.Arriving && !late:
			// The sender may be this client, over a broken connection that the server
			// does not notice yet, or another client, which saves the upload.
			last = nil
		case err == nil:
			if at.Arriving {
				at.Have = 0 // a separate upload
			}
			if err = c.upload(ctx, server, f, at.Have, see); err == nil {
				return nil
			}
			e, _ := errors.AsType[*problem.Problem](err)
			switch {
			case e == nil:
				return err // a file that cannot be read
			case e.Field == "sha256" && at.Have > 0 && !restarted:
				// What was there was not the beginning of this content; the server has
				// dropped it.
				restarted, most, since = true, 0, c.now()
				continue
			case submission.FailureOf(err).Kind != submission.Silent && e.Field != "offset":
				return err
			}
			last = err
		case most == 0 || late: // nothing has shown that this server works
			return err
		default:
			last = err
		}
		if err := sleep(ctx, pollPause); err != nil {
			return err
		}
	}
}

func (c *Client) statAt(ctx context.Context, server string, f *file) (arrived, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	at, err := as[arrived](c.conn.StatContent(ctx, server, f.sha256, f.size))
	if err != nil {
		return arrived{}, err
	}
	at.Have = min(at.Have, f.size)
	return *at, nil
}

// upload sends the missing part of a file's content.
func (c *Client) upload(ctx context.Context, server string, f *file, have int64, see func(sent int64)) error {
	offset := min(have, max(f.size-1, 0)) // HTTP cannot send an empty range
	opened, err := f.open()
	if err != nil {
		return err
	}
	defer opened.Close()
	if err := skip(opened, offset); err != nil {
		return fmt.Errorf("read %s: %w", f.name, err)
	}
	return c.conn.Put(ctx, server, rpc.Upload{Name: f.name, SHA256: f.sha256, Size: f.size, Offset: offset},
		&counted{Reader: opened, n: offset, see: see})
}

// sleep waits, unless ctx ends.
func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// skip moves to an offset of content that is at its beginning.
func skip(r io.Reader, offset int64) error {
	if s, ok := r.(io.Seeker); ok {
		_, err := s.Seek(offset, io.SeekStart)
		return err
	}
	if n, err := io.CopyN(io.Discard, r, offset); err != nil {
		return fmt.Errorf("%d bytes of %d are there: %w", n, offset, err)
	}
	return nil
}

// Sending reports how much of a file Submit and Call have sent to a site, in bytes. A
// file may be sent again, to another site; content that a site already has counts as
// sent at once.
func Sending(see func(name string, sent, size int64)) Arg {
	return func(r *request) { r.sending = see }
}

// progress returns the function that receives how much of a file has been sent.
func (r *request) progress(f *file) func(sent int64) {
	if r.sending == nil {
		return func(int64) {}
	}
	return func(sent int64) { r.sending(f.name, sent, f.size) }
}

// counted reports how much has been read, starting at n bytes.
type counted struct {
	io.Reader
	n   int64
	see func(n int64)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	c.see(c.n)
	return n, err
}
