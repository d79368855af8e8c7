package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"

	"github.com/seed-9b8f70bb/drover/client/submission"
)

// arrived is what a server has of some content.
type arrived struct {
	Complete bool  `proto:"complete"`
	Have     int64 `proto:"have_bytes"` // of its beginning
	Arriving bool  `proto:"arriving"`   // another upload of it is under way
}

// lull is between two looks at content that somebody else sends, or after a break.
const lull = 200 * time.Millisecond

// bring has a file's content reach a server: what is there already is not sent, and
// a broken connection is gone on after, as long as each try brings it further, or
// something of it is there and patience lasts.
func (c *Client) bring(ctx context.Context, server string, f *file, see func(sent int64)) error {
	var (
		most  int64 // of it was there
		since = c.now()
		anew  bool // it was refused as a whole, and begun once more
		last  error
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
			return last // it comes no further
		case err == nil && at.Arriving && !late:
			// Who sends it may be this client, whose connection has broken without the
			// server's knowing it; or somebody whose work can be had for nothing.
			last = nil
		case err == nil:
			if at.Arriving {
				at.Have = 0 // to a file of our own
			}
			if err = c.upload(ctx, server, f, at.Have, see); err == nil {
				return nil
			}
			e, _ := errors.AsType[*problem.Problem](err)
			switch {
			case e == nil:
				return err // a file that cannot be read
			case e.Field == "sha256" && at.Have > 0 && !anew:
				// What was there before was not the beginning of this: it is gone now.
				anew, most, since = true, 0, c.now()
				continue
			case submission.FailureOf(err).Kind != submission.Silent && e.Field != "offset":
				return err
			}
			last = err
		case most == 0 || late: // nothing speaks for this server
			return err
		default:
			last = err
		}
		if err := rest(ctx, lull); err != nil {
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

// upload sends what is missing of a file's content.
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

// rest waits, unless ctx ends.
func rest(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// skip goes to an offset of content that is at its beginning.
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
