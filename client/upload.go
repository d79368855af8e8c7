package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed-9b8f70bb/drover/client/submission"
)

// arrived is what a server has of some content.
type arrived struct {
	complete bool
	have     int64 // bytes of its beginning
	old      bool  // it has never heard of such questions
	arriving bool  // somebody else sends more of it at this moment
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
		if err == nil && at.complete {
			see(f.size)
			return nil
		}
		grown := err == nil && at.have > most
		if grown {
			most, since = at.have, c.now()
		}
		late := c.now().Sub(since) >= micros(c.cfg.Patience)
		switch {
		case err == nil && last != nil && !grown && (most == 0 || late):
			return last // it comes no further
		case err == nil && at.arriving && !late:
			// Who sends it may be this client, whose connection has broken without the
			// server's knowing it; or somebody whose work can be had for nothing.
			last = nil
		case err == nil:
			if at.arriving {
				at.have = 0 // to a file of our own
			}
			if err = c.face.upload(ctx, server, f, at, see); err == nil {
				return nil
			}
			e, _ := errors.AsType[*Error](err)
			switch {
			case e == nil:
				return err // a file that cannot be read
			case e.Field == "sha256" && at.have > 0 && !anew:
				// What was there before was not the beginning of this: it is gone now.
				anew, most, since = true, 0, c.now()
				continue
			case e.kind != submission.Silent && e.Field != "offset":
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
	return c.face.stat(ctx, server, f)
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
