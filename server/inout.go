package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// input is a file of a request, or the block of a vector or matrix.
type input struct {
	catalogue.File
	changes bool // the job gets a copy that it may change
}

// path is where it lies, relative to the job's directory.
func (i input) path(argument string) string {
	if i.changes {
		return filepath.Join(inout, argument)
	}
	return inputPath(argument, i.Name)
}

// inout is the directory of what goes in and comes out again, as it came: an attempt
// that begins anew begins with that.
const inout = "inout"

// inputPath is relative to the job's directory. A file without a name of its own
// is called as its argument.
func inputPath(argument, name string) string {
	if name == "" {
		name = argument
	}
	return filepath.Join("in", argument, name)
}

// openInput opens what a job was sent, as it came.
func (d *dataDir) openInput(id batch.JobID, argument, name string) (*os.File, error) {
	f, err := os.Open(filepath.Join(d.job(id), inout, argument))
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.Open(d.input(id, argument, name))
	}
	return f, err
}

// begin gives an attempt its copies of what goes in and comes out again, once. One that
// goes on from a checkpoint keeps those of the attempt before.
//
//	inout/c ──copy──▶ work/c ◀──changes── the program
//	   (read only)       └── what comes out
//
// Which attempt they are for is written down behind them: under Slurm the same one may
// be asked for again when it runs already.
func (d *dataDir) begin(ctx context.Context, key batch.Key, goesOn bool) error {
	from := filepath.Join(d.job(key.Job), inout)
	all, err := os.ReadDir(from)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && goesOn:
		return nil
	case err != nil:
		return fmt.Errorf("what the job is to change: %w", err)
	}
	begun, attempt := filepath.Join(d.job(key.Job), "begun"), journal.Name(key.Epoch, key.Attempt)
	if noted(begun, attempt) {
		return nil
	}
	work := d.work(key.Job)
	if err := os.MkdirAll(work, 0o700); err != nil {
		return fmt.Errorf("what the job is to change: %w", err)
	}
	for _, e := range all {
		if err := d.copyInput(ctx, filepath.Join(from, e.Name()), filepath.Join(work, e.Name())); err != nil {
			return fmt.Errorf("what the job is to change: %w", err)
		}
	}
	if err = syncDirs(work, d.job(key.Job)); err == nil {
		err = note(begun, attempt)
	}
	if err != nil {
		return fmt.Errorf("what the job is to change: %w", err)
	}
	return nil
}

// copyInput puts a copy of a file in place of whatever an attempt before has left there.
func (d *dataDir) copyInput(ctx context.Context, from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() // it was only read
	// Beside the program's directory: nobody sees a part of it there.
	out, err := os.OpenFile(filepath.Join(filepath.Dir(filepath.Dir(to)), "copying"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(out.Name()))
		}
	}()
	if err := errors.Join(copyAll(ctx, out, in), out.Sync(), out.Close()); err != nil {
		return err
	}
	if err := d.remove(to); err != nil {
		return err
	}
	return os.Rename(out.Name(), to)
}

// copyAll copies until ctx ends, in pieces that the system copies by itself.
func copyAll(ctx context.Context, to io.Writer, from io.Reader) error {
	const piece = 64 << 20
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch _, err := io.CopyN(to, from, piece); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
