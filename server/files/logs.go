package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// The output streams of a job, which are also the names of their files.
const (
	Stdout = "stdout"
	Stderr = "stderr"
)

// Logs selects what to read of a job's output stream.
type Logs struct {
	Job    string
	Stream string // Stdout or Stderr
	Offset int64  // bytes
	Follow bool   // continue until the job has ended
}

// Piece is a part of a file.
type Piece struct {
	Data   []byte // valid until the next piece
	Offset int64  // of Data in the file, bytes
}

// chunk is the size of a Piece, in bytes.
const chunk = 256 << 10

// Send sends a file from offset on, until its end.
func Send(ctx context.Context, f io.ReaderAt, offset int64, send func(Piece) error) error {
	buf := make([]byte, chunk)
	for {
		n, err := f.ReadAt(buf, offset)
		if n > 0 {
			if err := send(Piece{Data: buf[:n], Offset: offset}); err != nil {
				return err
			}
		}
		offset += int64(n)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("send a file: %w", err)
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

// Tail reads an output stream of a job, which grows and need not exist yet.
type Tail struct {
	dir     *Dir
	stream  string
	offset  int64
	buf     []byte
	file    *os.File
	attempt batch.Key // the attempt that is being read
	done    bool      // all that this attempt has written was sent, and another one follows
}

// NewTail returns a Tail of a job's stream. Close frees it.
func NewTail(dir *Dir, j *site.Job, stream string, offset int64) *Tail {
	return &Tail{dir: dir, stream: stream, offset: offset, buf: make([]byte, chunk), attempt: j.Key()}
}

// Read sends what was written since the last call and returns the number of bytes. The
// job is passed because it can have got another attempt since. The output of a new
// attempt replaces that of the one before and is sent from its beginning, unless the
// attempt resumes from a checkpoint: then it is appended.
func (t *Tail) Read(ctx context.Context, j *site.Job, send func(Piece) error) (int64, error) {
	switch resumes := j.Past != nil && j.Past.Stops > 0; {
	case j.Key() == t.attempt:
	case resumes:
		t.attempt = j.Key()
	case j.Started != batch.Never: // its streams are there
		t.attempt, t.offset, t.done = j.Key(), 0, false
	case t.done:
		return 0, nil
	default: // the last of the attempt before
		t.done = true
	}
	return t.copy(ctx, send)
}

func (t *Tail) copy(ctx context.Context, send func(Piece) error) (sent int64, err error) {
	if t.file == nil {
		t.file, err = t.dir.OpenStream(t.attempt.Job, t.stream)
		if errors.Is(err, fs.ErrNotExist) {
			return 0, nil
		}
		if err != nil {
			return 0, UnreadableStream(t.stream)
		}
	}
	for {
		n, err := t.file.ReadAt(t.buf, t.offset)
		if n > 0 {
			if err := send(Piece{Data: t.buf[:n], Offset: t.offset}); err != nil {
				return sent, err
			}
			t.offset += int64(n)
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

// Close closes the file.
func (t *Tail) Close() {
	if t.file != nil {
		_ = t.file.Close() // it was only read
	}
}

// UnreadableStream is the error about a stream that the job has replaced by something
// that is not a file, or made unreadable.
func UnreadableStream(stream string) *problem.Problem {
	return &problem.Problem{
		Reason: problem.UnknownOutput, Field: "stream", Accepted: "a stream that is still a file",
		Message: fmt.Sprintf("the job's %s cannot be read: the job has replaced or locked the file", stream),
	}
}
