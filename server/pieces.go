package server

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/files"
)

// chunk is the size of the pieces in which files are sent, bytes.
const chunk = 256 << 10

// sendFile sends what a file has from offset on, until its end, that of ctx or that
// of the server.
func (s *Server) sendFile(ctx context.Context, f io.ReaderAt, offset, size int64, send func(files.Piece) error) error {
	buf := make([]byte, chunk)
	for first := true; ; first = false {
		n, err := f.ReadAt(buf, offset)
		// Even an empty file has a piece: it tells the size.
		if n > 0 || first {
			if err := send(files.Piece{Data: buf[:n], Offset: offset, Size: size}); err != nil {
				return err
			}
		}
		offset += int64(n)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("send a file: %w", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.closing:
			return errStopping
		default:
		}
	}
}

func badOffset(offset int64) *problem.Problem {
	return &problem.Problem{Reason: problem.OutOfRange, Field: "offset", Accepted: "0 or more", Message: fmt.Sprintf("offset: %d", offset)}
}
