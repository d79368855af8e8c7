package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/files"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// How often a file is looked at for more: at first, and when nothing comes.
const (
	eager = 20 * time.Millisecond
	tired = 500 * time.Millisecond
)

// ReadLogs sends what a job has written to a stream. With follow it ends when
// the job has ended and all was sent.
func (s *Server) ReadLogs(ctx context.Context, want files.Logs, send func(files.Piece) error) error {
	if want.Offset < 0 {
		return badOffset(want.Offset)
	}
	id, err := site.CheckID(want.Job)
	if err != nil {
		return err
	}
	j, changes, cancel, err := s.subscribe(ctx, id)
	if err != nil {
		return err
	}
	defer cancel()
	t := tail{dir: s.data.job(id), name: want.Stream, at: want.Offset, buf: make([]byte, chunk), of: j.Key()}
	defer t.close()
	timer := time.NewTimer(eager)
	defer timer.Stop()
	for pause := eager; ; {
		n, err := t.follow(ctx, &j, send)
		// Whether the job had ended was known before the file was read, so that
		// nothing came after it.
		if err != nil || j.State.Final() || j.State == site.Absent || !want.Follow {
			return err
		}
		if pause = min(2*pause, tired); n > 0 {
			pause = eager
		}
		timer.Reset(pause)
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

// tail reads a file that grows and may not be there yet.
type tail struct {
	dir  string
	name string
	at   int64
	buf  []byte
	file *os.File
	of   batch.Key // the attempt whose it is
	done bool      // all that this attempt has written was sent: another one follows
}

// follow is copy for a job that may have got another attempt meanwhile. What that writes
// comes in place of what was there when it begins, unless it goes on from a checkpoint:
// it is sent from its beginning.
func (t *tail) follow(ctx context.Context, j *site.Job, send func(files.Piece) error) (int64, error) {
	switch goesOn := j.Past != nil && j.Past.Stops > 0; {
	case j.Key() == t.of:
	case goesOn:
		t.of = j.Key()
	case j.Started != batch.Never: // its streams are there
		t.of, t.at, t.done = j.Key(), 0, false
	case t.done:
		return 0, nil
	default: // the last of the attempt before
		t.done = true
	}
	return t.copy(ctx, send)
}

// copy sends what there is and returns how much that was.
func (t *tail) copy(ctx context.Context, send func(files.Piece) error) (sent int64, err error) {
	if t.file == nil {
		t.file, _, err = openWritten(t.dir, t.name)
		if errors.Is(err, fs.ErrNotExist) {
			return 0, nil
		}
		if err != nil {
			return 0, noStream(t.name)
		}
	}
	for {
		n, err := t.file.ReadAt(t.buf, t.at)
		if n > 0 {
			if err := send(files.Piece{Data: t.buf[:n], Offset: t.at}); err != nil {
				return sent, err
			}
			t.at += int64(n)
			sent += int64(n)
		}
		switch {
		case errors.Is(err, io.EOF):
			return sent, nil
		case err != nil:
			return sent, fmt.Errorf("read log: %w", err)
		case ctx.Err() != nil:
			return sent, ctx.Err()
		}
	}
}

// OpenStream opens stdout or stderr of a job, nil if there is none yet.
func (s *Server) OpenStream(id batch.JobID, stream string) (*os.File, error) {
	f, _, err := openWritten(s.data.job(id), stream)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, noStream(stream)
	}
	return f, nil
}

// noStream refuses to read what is no file, or was locked away.
func noStream(name string) *problem.Problem {
	return &problem.Problem{
		Reason: problem.UnknownOutput, Field: "stream", Accepted: "a stream that is still a file",
		Message: fmt.Sprintf("the %s of the job cannot be read: the job has put something else in its place, or locked it away", name),
	}
}

func (t *tail) close() {
	if t.file != nil {
		_ = t.file.Close() // it was only read
	}
}
