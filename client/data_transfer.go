package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// PutOptions are the options of PutData.
type PutOptions struct {
	Site  string   // target; empty for the site with the most free space
	Mode  DataMode // empty for DataPersistent
	Name  string   // base name that a program sees; empty for the file's own
	Owner string   // empty for the client's own
	ID    string   // a lower-case UUIDv7; empty for a new one. Repeating a call with the same data changes nothing
	// Sending receives how much has been sent to a site; may be nil. See the Arg
	// Sending.
	Sending func(name string, sent, size int64)
}

// PutData stores content at a site under a handle. Content that the site already has is
// not sent.
//
// The error is a *problem.Problem if no site takes the data. With problem.Unknown the
// data was sent and not answered: repeating the call with the same ID and site finds
// out.
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
		// every other site would say the same
		if last = err; e.Reason == problem.DataConflict || e.Reason == problem.BadValue {
			break
		}
	}
	return nil, last
}

// deposit returns the data to put, without what follows from its content.
func (c *Client) deposit(content DataContent, o *PutOptions) (*Data, *file, error) {
	mode, err := ParseDataMode(string(o.Mode))
	if err != nil {
		return nil, nil, err
	}
	switch {
	case content.err != nil:
		return nil, nil, content.err
	case content.file == nil:
		return nil, nil, &problem.Problem{
			Reason: problem.BadValue, Field: "content", Accepted: "DataFile, DataBytes, DataBlock, ...",
			Message: "no content",
		}
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

// depots returns the sites to try, in order.
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
			Message: fmt.Sprintf("no site that is up can store data of %d bytes", size),
			Hint:    "drover site NAME shows how much a site can store",
		}
	}
	return targets, nil
}

// roomiest returns the sites that can store this many bytes, by free space, then by
// name. A site with too little free space can evict data.
func roomiest(sites []Site, size int64) []submission.Target {
	sites = slices.DeleteFunc(slices.Clone(sites), func(s Site) bool {
		return s.Status == nil || s.Status.Draining || s.Status.Degraded || s.Status.Data.Quota < size ||
			s.Status.Data.Quota == 0 ||
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

// mostTries bounds how often content that was evicted is sent again.
const mostTries = 3

// putAt puts data at one site.
func (c *Client) putAt(
	ctx context.Context, at submission.Target, d *Data, f *file, see func(sent int64),
) (*Data, error) {
	for try := 1; ; try++ {
		if err := c.ensureContent(ctx, at.Address, f, see); err != nil {
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
		case problem.ReasonOf(err) == problem.UnknownContent && try < mostTries: // it was evicted meanwhile
			continue
		case silent:
			return nil, &problem.Problem{
				Reason: problem.Unknown, Message: fmt.Sprintf("whether site %s has data %s is unknown: %v", at.Site,
					d.ID, err), Cause: err,
				Hint: fmt.Sprintf("repeat the call with site %s and ID %s to find out", at.Site, d.ID),
			}
		}
		return nil, lastOf(err)
	}
}

// lastOf returns the problem of the last try, without what the retries add.
func lastOf(err error) error {
	if e, ok := errors.AsType[*problem.Problem](err); ok {
		return e
	}
	return err
}

// CopyData copies data to a site from another one, and returns the copy. It returns data
// that is already there as it is, and refuses to copy sticky data.
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

// copyTo has a server copy data, as long as each try makes progress or patience lasts.
// It gives up at once if no connection can be made.
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
		if kind == submission.Refused || kind == submission.Absent || kind == submission.Unsent && most < 0 ||
			tried >= c.cfg.Patience {
			return nil, err
		}
		c.log.Debug("copy failed, retrying", "data", id, "server", server, "error", err)
		if err := sleep(ctx, pollPause); err != nil {
			return nil, err
		}
	}
}

// longestLook bounds the pause between two searches for data.
const longestLook = 5 * time.Second

// GetData copies the content of data to w from a site that has it, and verifies it.
// After a broken connection it resumes, at another site if there is one.
func (c *Client) GetData(ctx context.Context, id string, w io.Writer) (*Data, error) {
	return c.getData(ctx, id, &download{w: w, hash: sha256.New()})
}

func (c *Client) getData(ctx context.Context, id string, d *download) (*Data, error) {
	since, pauses := c.now(), &backoff.ExponentialBackOff{
		InitialInterval: pollPause, Multiplier: 2, MaxInterval: longestLook,
	}
	pauses.Reset()
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
				since = c.now()
				pauses.Reset()
			}
			c.log.Debug("data download failed", "data", id, "site", from.Site, "at", d.at, "error", last)
		}
		if last == nil || c.now().Sub(since) >= micros(c.cfg.LongPatience) {
			return nil, last
		}
		if err := sleep(ctx, pauses.NextBackOff()); err != nil {
			return nil, err
		}
	}
}

// getFrom copies what is missing from one site.
func (c *Client) getFrom(ctx context.Context, from *Data, d *download) error {
	if err := d.tell(Output{
		Element: from.Element, Dimensions: from.Dimensions, Size: from.Size, SHA256: from.SHA256,
	}); err != nil {
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
			Message: fmt.Sprintf("site %s ended data %s after %d of %d bytes", from.Site, from.ID, d.at, from.Size),
		}}
	}
	if got := hex.EncodeToString(d.hash.Sum(nil)); got != from.SHA256 {
		return submission.Failure{Kind: submission.Refused, Err: &problem.Problem{
			Reason: problem.Internal, Field: "sha256", Hint: "get it again",
			Message: fmt.Sprintf("data %s from site %s does not match its checksum: %s, expected %s", from.ID,
				from.Site, got, from.SHA256),
		}}
	}
	return nil
}

// SaveData copies the content of data to path, which is replaced only by the complete
// content. A vector or matrix becomes a .npy file if the path ends in .npy, and the raw
// block otherwise.
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

// lookUp returns what is known about data, by its handle or a prefix of it.
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

// Only returns the data with this prefix of a handle. It fails if there is none or more
// than one, or if a site that does not answer could have another one. Copies of the same
// data count once.
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
				Message: fmt.Sprintf("%q fits data %s at %s, %s at %s, and possibly more", prefix, found.ID, found.Site,
					d.ID, d.Site),
			}
		}
	}
	switch {
	case found == nil && len(l.Missing) == 0:
		return nil, unknownData(prefix)
	case len(l.Missing) > 0:
		e := &problem.Problem{
			Reason: problem.Unreachable, Field: "data_id", Retryable: true,
			Message: fmt.Sprintf("site %s does not answer: whether %q fits data there is unknown", l.Missing[0].Site,
				prefix),
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
		Hint: "drover data list shows the handles",
	}
}
