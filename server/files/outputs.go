package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// OpenOutput opens a regular file that a job has written, and returns its size.
func (d *Dir) OpenOutput(id batch.JobID, argument string) (*os.File, int64, error) {
	return openRegular(d.Work(id), argument)
}

// OpenStream opens Stdout or Stderr of a job.
func (d *Dir) OpenStream(id batch.JobID, name string) (*os.File, error) {
	f, _, err := openRegular(d.Job(id), name)
	return f, err
}

// openRegular opens a regular file in a job's directory. The program can have replaced
// the file by a link, or by a pipe that never ends.
func openRegular(dir, name string) (*os.File, int64, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file", name)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// Outputs returns the outputs that a job has written, with their hashes. Outputs that
// cannot be read are logged.
func (d *Dir) Outputs(ctx context.Context, id batch.JobID, service *catalogue.Service, log hclog.Logger) []site.Output {
	var found []site.Output
	for i := range service.Arguments {
		a := &service.Arguments[i]
		if !a.Type.Out() {
			continue
		}
		f, size, err := d.OpenOutput(id, a.Name)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				log.Warn("output cannot be read", "job", id, "argument", a.Name, "error", err)
			}
			continue
		}
		o := site.Output{Argument: a.Name, Size: size}
		hash := sha256.New()
		if _, err := io.Copy(hash, &contextReader{ctx: ctx, r: f}); err == nil {
			o.SHA256 = hex.EncodeToString(hash.Sum(nil))
		} else if ctx.Err() == nil {
			log.Warn("output cannot be read", "job", id, "argument", a.Name, "error", err)
		}
		_ = f.Close() // it was only read
		found = append(found, o)
	}
	return found
}

// contextReader reads until ctx ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// ClearOutputs removes the outputs of earlier attempts, once per attempt, so that they
// are not taken for those of this attempt. The file "cleared" then names the attempt:
// a batch system can ask for the program of an attempt that already runs.
func (d *Dir) ClearOutputs(key batch.Key, service *catalogue.Service) error {
	cleared, attempt := filepath.Join(d.Job(key.Job), "cleared"), journal.Name(key.Epoch, key.Attempt)
	if marked(cleared, attempt) {
		return nil
	}
	root, err := os.OpenRoot(d.Work(key.Job))
	if errors.Is(err, fs.ErrNotExist) { // no attempt has run yet
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	for i := range service.Arguments {
		if a := &service.Arguments[i]; a.Type.Out() {
			err = errors.Join(err, root.RemoveAll(a.Name))
		}
	}
	if err != nil {
		return err
	}
	return mark(cleared, attempt)
}
