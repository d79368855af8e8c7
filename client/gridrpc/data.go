package gridrpc

import (
	"context"
	"io"

	"github.com/seed-9b8f70bb/drover/client"
)

// Data management as in GFD-R-P.186. docs/gridrpc.md has its C functions beside ours. A
// *client.Data is the handle, and can be an argument of a call. Errors are *CodeError.

// managed makes a data call of a grid.
func managed[T any](
	ctx context.Context, g *Grid, call func(ctx context.Context, c *client.Client) (T, error),
) (T, error) {
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

// PutData stores content at a site (grpc_data_init and grpc_data_transfer). See
// client.Client.PutData.
func (g *Grid) PutData(ctx context.Context, content client.DataContent, o client.PutOptions) (*client.Data, error) {
	return managed(ctx, g, func(ctx context.Context, c *client.Client) (*client.Data, error) {
		return c.PutData(ctx, content, o)
	})
}

// LoadData returns the data with a handle, Data.ID (grpc_data_load).
func (g *Grid) LoadData(ctx context.Context, id string) (*client.Data, error) {
	list, err := managed(ctx, g, func(ctx context.Context, c *client.Client) (*client.DataList, error) {
		return c.FindData(ctx, id)
	})
	if err != nil {
		return nil, err
	}
	return &list.Data[0], nil
}

// DataInfo returns where data is, and its description (grpc_data_getinfo).
func (g *Grid) DataInfo(ctx context.Context, d *client.Data) (*client.DataList, error) {
	return managed(ctx, g, func(ctx context.Context, c *client.Client) (*client.DataList, error) {
		return c.FindData(ctx, handle(d))
	})
}

// TransferData copies data to another site ahead of a call (grpc_data_transfer). It
// returns when the copy is complete.
func (g *Grid) TransferData(ctx context.Context, d *client.Data, site string) (*client.Data, error) {
	return managed(ctx, g, func(ctx context.Context, c *client.Client) (*client.Data, error) {
		return c.CopyData(ctx, handle(d), site)
	})
}

// GetData copies the content of data to w (grpc_data_transfer, to the client).
func (g *Grid) GetData(ctx context.Context, d *client.Data, w io.Writer) error {
	_, err := managed(ctx, g, func(ctx context.Context, c *client.Client) (*client.Data, error) {
		return c.GetData(ctx, handle(d), w)
	})
	return err
}

// SaveData copies the content of data to a file (grpc_data_transfer, to the client).
func (g *Grid) SaveData(ctx context.Context, d *client.Data, path string) error {
	_, err := managed(ctx, g, func(ctx context.Context, c *client.Client) (*client.Data, error) {
		return c.SaveData(ctx, handle(d), path)
	})
	return err
}

// FreeData removes data from all sites (grpc_data_free), and returns the sites that had
// it.
func (g *Grid) FreeData(ctx context.Context, d *client.Data) (sites []string, err error) {
	return managed(ctx, g, func(ctx context.Context, c *client.Client) ([]string, error) {
		return c.RemoveData(ctx, handle(d))
	})
}

// handle returns the handle of data, "" for nil.
func handle(d *client.Data) string {
	if d == nil {
		return ""
	}
	return d.ID
}
