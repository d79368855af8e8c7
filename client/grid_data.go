package client

import (
	"context"
	"io"
)

// This file is GridRPC's data management (GFD-R-P.186) in Go's manner; docs/gridrpc.md
// has its functions beside ours. A *Data is the handle, and may be an argument of a
// call. Errors are *CodeError.

// managed makes a call of a grid about data.
func managed[T any](ctx context.Context, g *Grid, call func(ctx context.Context, c *Client) (T, error)) (T, error) {
	var none T
	ctx, leave, err := g.enter(ctx)
	if err != nil {
		return none, err
	}
	defer leave()
	answer, err := call(ctx, g.client)
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	}
	return none, coded(err, nil)
}

// PutData has content stay at a site (grpc_data_init and grpc_data_transfer). See
// Client.PutData.
func (g *Grid) PutData(ctx context.Context, content DataContent, o PutOptions) (*Data, error) {
	return managed(ctx, g, func(ctx context.Context, c *Client) (*Data, error) { return c.PutData(ctx, content, o) })
}

// LoadData returns the data of a handle that somebody has written down, Data.ID
// (grpc_data_load).
func (g *Grid) LoadData(ctx context.Context, id string) (*Data, error) {
	return managed(ctx, g, func(ctx context.Context, c *Client) (*Data, error) {
		if err := checkHandle("data_id", id); err != nil {
			return nil, err
		}
		return c.lookUp(ctx, id)
	})
}

// DataInfo tells where data are, and what (grpc_data_getinfo).
func (g *Grid) DataInfo(ctx context.Context, d *Data) (*DataList, error) {
	return managed(ctx, g, func(ctx context.Context, c *Client) (*DataList, error) { return c.FindData(ctx, d.handle()) })
}

// TransferData brings data to another site, before a call needs them there
// (grpc_data_transfer). It returns when they are there.
func (g *Grid) TransferData(ctx context.Context, d *Data, site string) (*Data, error) {
	return managed(ctx, g, func(ctx context.Context, c *Client) (*Data, error) { return c.CopyData(ctx, d.handle(), site) })
}

// GetData copies the content of data to w (grpc_data_transfer, to the client).
func (g *Grid) GetData(ctx context.Context, d *Data, w io.Writer) error {
	_, err := managed(ctx, g, func(ctx context.Context, c *Client) (*Data, error) { return c.GetData(ctx, d.handle(), w) })
	return err
}

// SaveData copies the content of data to a file (grpc_data_transfer, to the client).
func (g *Grid) SaveData(ctx context.Context, d *Data, path string) error {
	_, err := managed(ctx, g, func(ctx context.Context, c *Client) (*Data, error) { return c.SaveData(ctx, d.handle(), path) })
	return err
}

// FreeData removes data from all sites (grpc_data_free), and returns those that had
// them.
func (g *Grid) FreeData(ctx context.Context, d *Data) (sites []string, err error) {
	return managed(ctx, g, func(ctx context.Context, c *Client) ([]string, error) { return c.RemoveData(ctx, d.handle()) })
}

// handle returns the handle of data, "" of none.
func (d *Data) handle() string {
	if d == nil {
		return ""
	}
	return d.ID
}
