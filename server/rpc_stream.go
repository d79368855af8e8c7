package server

import (
	"context"
	"io"

	"connectrpc.com/connect"
)

// pieceStream is a stream of pieces from another server as a reader.
type pieceStream[M any] struct {
	stream *connect.ServerStreamForClient[M] // nil if there is an err
	piece  func(*M) []byte                   // of a message
	rest   []byte
	err    error
	cancel context.CancelFunc
}

// Read is io.Reader's.
func (c *pieceStream[M]) Read(p []byte) (int, error) {
	for len(c.rest) == 0 && c.err == nil {
		if c.stream.Receive() {
			c.rest = c.piece(c.stream.Msg())
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
func (c *pieceStream[M]) Close() error {
	c.cancel()
	if c.stream == nil {
		return nil
	}
	return c.stream.Close()
}
