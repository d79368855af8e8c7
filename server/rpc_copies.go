package server

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"connectrpc.com/connect"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/rpcface"
	"github.com/seed-9b8f70bb/drover/server/depot"
)

// serverAt is the ServerService of another server.
func (f *peerFace) serverAt(url string) droverv1connect.ServerServiceClient {
	return droverv1connect.NewServerServiceClient(&http.Client{Transport: f.transport}, url, connect.WithReadMaxBytes(rpcface.LargestMessage))
}

// findData asks another server for data: nil if it does not have them, and what it
// remembers of them.
func (f *peerFace) findData(ctx context.Context, url, id string) (d *depot.Data, gone string, err error) {
	res, err := f.serverAt(url).GetData(ctx, &droverv1.GetDataRequest{Ids: []string{id}})
	if err != nil {
		return nil, "", fmt.Errorf("ask for data: %w", err)
	}
	for _, g := range res.GetGone() {
		if words(longestText, "message", g.GetMessage()) == nil {
			gone = g.GetMessage()
		}
	}
	for _, m := range res.GetData() {
		out := dataIn(m)
		return &out, "", nil
	}
	return nil, gone, nil
}

// readData returns the content of another server's data from offset on. What fails is
// told by Read.
func (f *peerFace) readData(ctx context.Context, url, id string, offset int64) io.ReadCloser {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := f.serverAt(url).DownloadData(ctx, &droverv1.DownloadDataRequest{Id: id, Offset: offset})
	return &dataStream{stream: stream, err: err, cancel: cancel}
}

// dataStream is a stream of pieces as a reader.
type dataStream struct {
	stream *connect.ServerStreamForClient[droverv1.DownloadDataResponse]
	rest   []byte
	err    error
	cancel context.CancelFunc
}

// Read is io.Reader's.
func (c *dataStream) Read(p []byte) (int, error) {
	for len(c.rest) == 0 && c.err == nil {
		if c.stream.Receive() {
			c.rest = c.stream.Msg().GetData()
			continue
		}
		if c.err = c.stream.Err(); c.err == nil {
			c.err = io.EOF
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	if n > 0 {
		return n, nil
	}
	return 0, c.err
}

// Close is io.Closer's.
func (c *dataStream) Close() error {
	c.cancel()
	if c.stream == nil {
		return nil
	}
	return c.stream.Close()
}
