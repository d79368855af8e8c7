package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"

	"github.com/seed-9b8f70bb/drover/client/submission"
)

// longestLook bounds the pause between two looks for data, after it has doubled.
const longestLook = 5 * time.Second

// GetData copies the content of data to w, from a site that has them, and checks it.
// After a broken connection it goes on where it was, at another site if that has them
// too.
func (c *Client) GetData(ctx context.Context, id string, w io.Writer) (*Data, error) {
	return c.getData(ctx, id, &download{w: w, hash: sha256.New()})
}

func (c *Client) getData(ctx context.Context, id string, d *download) (*Data, error) {
	var (
		since = c.now()
		pause = lull
	)
	for {
		list, err := c.FindData(ctx, id)
		if err != nil {
			return nil, err
		}
		var last error
		for i := range list.Data {
			from := &list.Data[i]
			before := d.at
			if last = c.getFrom(ctx, from, d); last == nil {
				return from, nil
			}
			switch {
			case ctx.Err() != nil:
				return nil, context.Cause(ctx)
			case submission.FailureOf(last).Kind == submission.Refused && problem.ReasonOf(last) != problem.UnknownData:
				return nil, last
			}
			if d.at > before {
				since, pause = c.now(), lull
			}
			c.log.Debug("data broke off", "data", id, "site", from.Site, "at", d.at, "error", last)
		}
		if last == nil || c.now().Sub(since) >= micros(c.cfg.LongPatience) {
			return nil, last
		}
		if err := rest(ctx, pause); err != nil {
			return nil, err
		}
		pause = min(2*pause, longestLook)
	}
}

// getFrom brings what is missing from one site.
func (c *Client) getFrom(ctx context.Context, from *Data, d *download) error {
	if err := d.tell(Output{Element: from.Element, Dimensions: from.Dimensions, Size: from.Size, SHA256: from.SHA256}); err != nil {
		return rpc.Local(err)
	}
	err := c.conn.GetStored(ctx, from.address, from.ID, d.at, func(piece []byte) error {
		_, err := d.Write(piece)
		return err
	})
	if err != nil {
		return err
	}
	if d.at != from.Size {
		return submission.Failure{Kind: submission.Silent, Err: &problem.Problem{
			Reason: problem.Unreachable, Retryable: true,
			Message: fmt.Sprintf("site %s has ended data %s after %d of %d bytes", from.Site, from.ID, d.at, from.Size),
		}}
	}
	if got := hex.EncodeToString(d.hash.Sum(nil)); got != from.SHA256 {
		return submission.Failure{Kind: submission.Refused, Err: &problem.Problem{
			Reason: problem.Internal, Field: "sha256", Hint: "get it again",
			Message: fmt.Sprintf("data %s from site %s does not match its checksum: %s, expected %s", from.ID, from.Site, got, from.SHA256),
		}}
	}
	return nil
}

// SaveData copies the content of data to path, which is replaced only by all of it. A
// vector or matrix becomes one of NumPy's files if the path ends in .npy, and else the
// block alone.
func (c *Client) SaveData(ctx context.Context, id, path string) (d *Data, err error) {
	err = save("data "+id, path, func(w io.Writer) error {
		var err error
		d, err = c.getData(ctx, id, toFile(w, path))
		return err
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// lookUp returns what is known of data by their handle or, if that is allowed, by its
// beginning.
func (c *Client) lookUp(ctx context.Context, id string) (*Data, error) {
	if checkHandle("", id) == nil {
		list, err := c.FindData(ctx, id)
		if err != nil {
			return nil, err
		}
		if len(list.Data) == 0 {
			return nil, unknownData(id)
		}
		return &list.Data[0], nil
	}
	list, err := c.ListData(ctx, DataFilter{ID: id})
	if err != nil {
		return nil, err
	}
	return list.Only(id)
}

// Only returns the data whose handle begins like this, and an error when these are
// none, several, or when a site that does not answer could have others. Copies of the
// same data are one.
func (l *DataList) Only(prefix string) (*Data, error) {
	var found *Data
	for i := range l.Data {
		d := &l.Data[i]
		switch {
		case found == nil || found.ID == d.ID && found.Copy:
			found = d
		case found.ID != d.ID:
			return nil, &problem.Problem{
				Reason: problem.Ambiguous, Field: "data_id", Hint: "give more of the handle",
				Message: fmt.Sprintf("%q fits data %s at %s, %s at %s, and maybe more", prefix, found.ID, found.Site, d.ID, d.Site),
			}
		}
	}
	switch {
	case found == nil && len(l.Missing) == 0:
		return nil, unknownData(prefix)
	case len(l.Missing) > 0:
		e := &problem.Problem{
			Reason: problem.Unreachable, Field: "data_id", Retryable: true,
			Message: fmt.Sprintf("site %s does not answer: whether %q fits data there is unknown", l.Missing[0].Site, prefix),
		}
		if found != nil {
			e.Hint = "the whole handle is " + found.ID + ", if those are the ones"
		}
		return nil, e
	}
	return found, nil
}

func unknownData(id string) *problem.Problem {
	return &problem.Problem{
		Reason: problem.UnknownData, Field: "data_id", Message: fmt.Sprintf("no site has data %q", id),
		Hint: "drover data list shows what there is",
	}
}
