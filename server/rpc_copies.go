package server

import (
	"context"
	"fmt"
	"io"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/server/files/depot"
)

// findData asks another server for data: nil if it does not have them, and what it
// remembers of them.
func (f *peerFace) findData(ctx context.Context, url, id string) (d *depot.Data, gone string, err error) {
	res, err := f.public(url).GetData(ctx, &droverv1.GetDataRequest{Ids: []string{id}})
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
	stream, err := f.public(url).DownloadData(ctx, &droverv1.DownloadDataRequest{Id: id, Offset: offset})
	return &pieceStream[droverv1.DownloadDataResponse]{stream: stream, piece: (*droverv1.DownloadDataResponse).GetData, err: err, cancel: cancel}
}
