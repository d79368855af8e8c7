package server

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// piece is part of a file.
type piece struct {
	data   []byte // valid until the next one
	offset int64
	size   int64 // of the whole file, where it is known
}

// chunk is the size of the pieces in which files are sent, bytes.
const chunk = 256 << 10

// sendFile sends what a file has from offset on, until its end, that of ctx or that
// of the server.
func (s *Server) sendFile(ctx context.Context, f io.ReaderAt, offset, size int64, send func(piece) error) error {
	buf := make([]byte, chunk)
	for first := true; ; first = false {
		n, err := f.ReadAt(buf, offset)
		// Even an empty file has a piece: it tells the size.
		if n > 0 || first {
			if err := send(piece{data: buf[:n], offset: offset, size: size}); err != nil {
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
