package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/files"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// The range of the polling interval of a file. The interval doubles while the file does not grow.
const (
	shortestPoll = 20 * time.Millisecond
	longestPoll  = 500 * time.Millisecond
)

// ReadLogs sends a job's output stream. With Follow it returns when the job has ended and
// everything was sent.
func (s *Server) ReadLogs(ctx context.Context, want files.Logs, send func(files.Piece) error) error {
	id, err := site.CheckID(want.Job)
	if err != nil {
		return err
	}
	j, changes, cancel, err := s.subscribe(ctx, id)
	if err != nil {
		return err
	}
	defer cancel()
	tail := files.NewTail(s.data.Dir, &j, want.Stream, want.Offset)
	defer tail.Close()
	timer := time.NewTimer(shortestPoll)
	defer timer.Stop()
	pauses := &backoff.ExponentialBackOff{InitialInterval: shortestPoll, Multiplier: 2, MaxInterval: longestPoll}
	for {
		n, err := tail.Read(ctx, &j, send)
		// j is from before the read: if the job had ended by then, the read was complete.
		if err != nil || j.State.Final() || j.State == site.Absent || !want.Follow {
			return err
		}
		if n > 0 {
			pauses.Reset()
		}
		timer.Reset(pauses.NextBackOff())
		select {
		case <-timer.C:
		case j = <-changes:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.closing:
			if j, err = s.await(ctx, changes); err != nil {
				return err
			}
		}
	}
}

// OpenStream opens stdout or stderr of a job, nil if the file does not exist yet.
func (s *Server) OpenStream(id batch.JobID, stream string) (*os.File, error) {
	f, err := s.data.OpenStream(id, stream)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, files.UnreadableStream(stream)
	}
	return f, nil
}

// sendFile sends a file from offset on, until its end, or until ctx or the server ends.
func (s *Server) sendFile(ctx context.Context, f io.ReaderAt, offset int64, send func(files.Piece) error) error {
	return files.Send(ctx, f, offset, func(p files.Piece) error {
		select {
		case <-s.closing:
			return errStopping
		default:
			return send(p)
		}
	})
}

func badOffset(offset int64) *problem.Problem {
	return &problem.Problem{
		Reason: problem.OutOfRange, Field: "offset", Accepted: "0 or more",
		Message: fmt.Sprintf("offset: %d", offset),
	}
}
