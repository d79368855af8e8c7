package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/proto/problem"

	"github.com/seed-9b8f70bb/drover/client/submission"
)

// PutOptions says how data are put.
type PutOptions struct {
	Site  string   // where to; empty for the one with the most room
	Mode  DataMode // empty for DataPersistent
	Name  string   // base name that a program sees; empty for that of the file
	Owner string   // empty for the client's own
	ID    string   // a lower-case UUIDv7; empty for a fresh one. The same data again change nothing
	// Sending is told how much has been sent to a site; may be nil. See Sending.
	Sending func(name string, sent, size int64)
}

// PutData has content stay at a site under a handle. What a site has of the content
// already is not sent there.
//
// The error is an *problem.Problem when no site takes it; with problem.Unknown the data were sent
// and not answered: the same ID again, at the same site, is then the way to find out.
func (c *Client) PutData(ctx context.Context, content DataContent, o PutOptions) (*Data, error) {
	d, f, err := c.deposit(content, &o)
	if err != nil {
		return nil, err
	}
	if err := f.identify(ctx); err != nil {
		return nil, fmt.Errorf("read %s: %w", cmp.Or(f.name, "data"), err)
	}
	d.SHA256, d.Size = f.sha256, f.size
	sites, err := c.depots(ctx, o.Site, f.size)
	if err != nil {
		return nil, err
	}
	see := func(sent int64) {
		if o.Sending != nil {
			o.Sending(f.name, sent, f.size)
		}
	}
	var last error
	for _, at := range sites {
		put, err := c.putAt(ctx, at, d, f, see)
		e, ok := errors.AsType[*problem.Problem](err)
		if !ok || e.Reason == problem.Unknown || ctx.Err() != nil {
			return put, err
		}
		c.log.Debug("data not put", "data", d.ID, "site", at.Site, "error", err)
		if last = err; e.Reason == problem.DataConflict || e.Reason == problem.BadValue { // it would be so everywhere
			break
		}
	}
	return nil, last
}

// deposit returns data as they are to be put, but for what their content says.
func (c *Client) deposit(content DataContent, o *PutOptions) (*Data, *file, error) {
	mode, err := ParseDataMode(string(o.Mode))
	if err != nil {
		return nil, nil, err
	}
	switch {
	case content.err != nil:
		return nil, nil, content.err
	case content.file == nil:
		return nil, nil, &problem.Problem{Reason: problem.BadValue, Field: "content", Accepted: "DataFile, DataBytes, DataBlock, ...", Message: "no content"}
	}
	f := *content.file
	if o.Name != "" {
		f.name = o.Name
	}
	if o.ID == "" {
		if o.ID, err = newHandle(); err != nil {
			return nil, nil, err
		}
	}
	if err := checkHandle("data.id", o.ID); err != nil {
		return nil, nil, err
	}
	d := &Data{ID: o.ID, Name: f.name, Mode: mode, Owner: cmp.Or(o.Owner, c.cfg.Owner)}
	if f.block != nil {
		d.Element, d.Dimensions = f.block.Element, f.block.Dimensions
	}
	return d, &f, nil
}

// depots returns where to put data, in the order in which to try.
func (c *Client) depots(ctx context.Context, only string, size int64) ([]submission.Target, error) {
	if only != "" {
		address, err := c.addressOf(ctx, only)
		return []submission.Target{{Site: only, Address: address}}, err
	}
	sites, err := c.Sites(ctx)
	if err != nil {
		return nil, err
	}
	targets := roomiest(sites, size)
	if len(targets) == 0 {
		return nil, &problem.Problem{
			Reason: problem.NoSite, Field: "site", Retryable: true,
			Message: fmt.Sprintf("no site that is up keeps data of %d bytes", size), Hint: "drover site NAME shows how much a site keeps",
		}
	}
	return targets, nil
}

// roomiest returns the sites that could keep so many bytes, those with the most free
// room first, ties by name. Where there is not enough of it, something may make room.
func roomiest(sites []Site, size int64) []submission.Target {
	sites = slices.DeleteFunc(slices.Clone(sites), func(s Site) bool {
		return s.Status == nil || s.Status.Draining || s.Status.Degraded || s.Status.Data.Quota < size || s.Status.Data.Quota == 0 ||
			s.MaxFile > 0 && s.MaxFile < size
	})
	slices.SortFunc(sites, func(a, b Site) int {
		return cmp.Or(cmp.Compare(b.Status.Data.free(), a.Status.Data.free()), cmp.Compare(a.Name, b.Name))
	})
	var targets []submission.Target
	for _, s := range sites {
		targets = append(targets, submission.Target{Site: s.Name, Address: s.Address})
	}
	return targets
}

// mostTries bounds how often what was there a moment ago is brought again.
const mostTries = 3

// putAt puts data at one site.
func (c *Client) putAt(ctx context.Context, at submission.Target, d *Data, f *file, see func(sent int64)) (*Data, error) {
	for try := 1; ; try++ {
		if err := c.bring(ctx, at.Address, f, see); err != nil {
			return nil, err
		}
		silent := false
		put, err := retryServer(ctx, c, func(ctx context.Context) (*Data, error) {
			got, err := as[Data](c.conn.PutData(ctx, at.Address, d))
			silent = staysSilent(silent, err)
			return got, err
		})
		switch {
		case err == nil:
			return put, nil
		case problem.ReasonOf(err) == problem.UnknownContent && try < mostTries: // it had to make room meanwhile
			continue
		case silent:
			return nil, &problem.Problem{
				Reason: problem.Unknown, Message: fmt.Sprintf("whether site %s has data %s is unknown: %v", at.Site, d.ID, err), Cause: err,
				Hint: fmt.Sprintf("put them again at site %s with the ID %s to find out", at.Site, d.ID),
			}
		}
		return nil, lastOf(err)
	}
}

// lastOf returns the last *problem.Problem of one that was tried for as long as patience lasted.
func lastOf(err error) error {
	if e, ok := errors.AsType[*problem.Problem](err); ok {
		return e
	}
	return err
}

// CopyData brings data to a site, from one that has them, and returns the copy. Data
// that are there already are returned as they are. Those that are sticky are refused.
func (c *Client) CopyData(ctx context.Context, id, site string) (*Data, error) {
	if err := checkHandle("data_id", id); err != nil {
		return nil, err
	}
	address, err := c.addressOf(ctx, site)
	if err != nil {
		return nil, err
	}
	return c.copyTo(ctx, address, id, func(int64, int64) {})
}

// copyTo has a server bring data, for as long as each try brings it further or
// patience lasts. One that cannot be reached at all is given up at once.
func (c *Client) copyTo(ctx context.Context, server, id string, see func(have, size int64)) (*Data, error) {
	most, since := int64(-1), c.now()
	for {
		d, err := as[Data](c.conn.CopyData(ctx, server, id, func(have, size int64) {
			if have > most {
				most, since = have, c.now()
			}
			see(have, size)
		}))
		if err == nil {
			return d, nil
		}
		kind := submission.FailureOf(err).Kind
		tried := time.Duration(c.now().Sub(since)) * time.Microsecond
		if kind == submission.Refused || kind == submission.Absent || kind == submission.Unsent && most < 0 || tried >= c.cfg.Patience {
			return nil, err
		}
		c.log.Debug("copying again", "data", id, "server", server, "because", err)
		if err := rest(ctx, lull); err != nil {
			return nil, err
		}
	}
}
