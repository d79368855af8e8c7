package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"

	"github.com/seed-9b8f70bb/drover/client/submission"
)

// LogOptions selects what Logs reads.
type LogOptions = rpc.LogOptions

// Logs copies what a job has written to w. After a broken connection it goes on
// where it was. A job that moves has written nothing before. What another attempt
// writes that begins anew follows what was heard of the one before.
func (c *Client) Logs(ctx context.Context, id string, o LogOptions, w io.Writer) error {
	at := o.Offset
	return c.pursue(ctx, id, c.tries(c.cfg.LongPatience), func(ctx context.Context, server string, heard func(uint32)) error {
		// Asked first, so that a server that does not answer is noticed: a log can
		// be silent for as long as it likes.
		job, err := c.jobAt(ctx, server, id)
		if err != nil {
			return err
		}
		heard(job.Epoch)
		o.Offset = at
		err = c.conn.ReadLogs(ctx, server, id, o, func(from int64, piece []byte) error {
			heard(0)
			n, err := w.Write(piece)
			at = from + int64(n) // from is 0 once more when the job has begun anew
			return err
		})
		if err != nil {
			return err
		}
		if job, err = c.jobAt(ctx, server, id); err != nil {
			return err
		}
		if o.Follow && !job.State.Final() {
			return &problem.Problem{
				Reason: problem.Unreachable, Retryable: true,
				Message: fmt.Sprintf("site %s has ended the log of job %s before the job", job.Site, id),
			}
		}
		return nil
	}, nil)
}

// Download copies what a job has written for an argument to w, and checks it: a file,
// or of a vector or matrix the block (see Block). After a broken connection it goes on
// where it was.
func (c *Client) Download(ctx context.Context, id, argument string, w io.Writer) error {
	return c.fetch(ctx, id, argument, &download{w: w, hash: sha256.New()})
}

// fetch brings what a job has written for an argument.
func (c *Client) fetch(ctx context.Context, id, argument string, d *download) error {
	return c.pursue(ctx, id, c.tries(c.cfg.LongPatience), func(ctx context.Context, server string, heard func(uint32)) error {
		job, err := c.jobAt(ctx, server, id)
		if err != nil {
			return err
		}
		return c.downloadAt(ctx, server, job, argument, d, func() { heard(job.Epoch) })
	}, nil)
}

// downloadAt brings what is missing of a file from the server of its job.
func (c *Client) downloadAt(ctx context.Context, server string, job *Job, argument string, d *download, heard func()) error {
	err := c.conn.GetOutput(ctx, server, job.ID, argument, d.at, func(piece []byte) error {
		heard()
		if err := d.start(job, argument); err != nil {
			return err
		}
		_, err := d.Write(piece)
		return err
	})
	if err == nil {
		err = d.start(job, argument) // there may be nothing in it
	}
	if d.wrong != nil {
		return d.wrong
	}
	if err != nil {
		return err
	}
	for _, o := range job.Outputs {
		if got := hex.EncodeToString(d.hash.Sum(nil)); o.Argument == argument && o.SHA256 != "" && o.SHA256 != got {
			return submission.Failure{Kind: submission.Refused, Err: &problem.Problem{
				Reason: problem.Internal, Field: argument, Hint: "download it again",
				Message: fmt.Sprintf("output %s of job %s does not match its checksum: %s, expected %s", argument, job.ID, got, o.SHA256),
			}}
		}
	}
	return nil
}

// download counts and digests what is written to w.
type download struct {
	w    io.Writer
	hash hash.Hash
	at   int64

	begin func(o Output) error // is told what comes, before it does; nil: nobody is
	begun bool
	wrong error // what begin has against it
}

// start tells once what comes.
func (d *download) start(job *Job, argument string) error {
	if d.begin == nil || d.begun {
		return d.wrong
	}
	of := Output{Argument: argument}
	if i := slices.IndexFunc(job.Outputs, func(o Output) bool { return o.Argument == argument }); i >= 0 {
		of = job.Outputs[i]
	}
	return d.tell(of)
}

// tell tells what comes, if it was not told before.
func (d *download) tell(of Output) error {
	if d.begin != nil && !d.begun {
		d.begun = true
		d.wrong = d.begin(of)
	}
	return d.wrong
}

func (d *download) Write(p []byte) (int, error) {
	n, err := d.w.Write(p)
	d.at += int64(n)
	_, _ = d.hash.Write(p[:n]) // never fails
	return n, err
}

// Save downloads what a job has written for an argument to path, which is replaced
// only by the whole of it. A vector or matrix becomes one of NumPy's files if the path
// ends in .npy, and else the block alone.
func (c *Client) Save(ctx context.Context, id, argument, path string) error {
	return save("output "+argument, path, func(w io.Writer) error { return c.fetch(ctx, id, argument, toFile(w, path)) })
}

// save replaces path by what bring writes, if that is all of it.
func save(what, path string, bring func(w io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("save %s: %w", what, &fs.PathError{Op: "replace", Path: path, Err: syscall.EISDIR})
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("save %s: %w", what, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("save %s: %w", what, err), os.Remove(f.Name()))
		}
	}()
	if err := errors.Join(bring(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
