package files

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
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/files/blobs"
)

// inout is the directory with the original content of in-out arguments: each attempt gets a copy.
const inout = "inout"

// Input is a file of a request, or the block of a vector or matrix.
type Input struct {
	catalogue.File
	Changes bool // the job gets a copy that it can change
}

// path returns the path within the job's directory.
func (i Input) path(argument string) string {
	if i.Changes {
		return filepath.Join(inout, argument)
	}
	return inputPath(argument, i.Name)
}

// inputPath returns the path of an input file within the job's directory. A file
// without a name has that of its argument.
func inputPath(argument, name string) string {
	if name == "" {
		name = argument
	}
	return filepath.Join("in", argument, name)
}

// Input returns the path at which a job finds an input file.
func (d *Dir) Input(id batch.JobID, argument, name string) string {
	return filepath.Join(d.Job(id), inputPath(argument, name))
}

// OpenInput opens an input file as the client sent it.
func (d *Dir) OpenInput(id batch.JobID, argument, name string) (*os.File, error) {
	f, err := os.Open(filepath.Join(d.Job(id), inout, argument))
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.Open(d.Input(id, argument, name))
	}
	return f, err
}

// Stage creates a directory with the inputs of a new job, as hard links to the content. Adopt makes
// it the job's. The error about an input is a *problem.Problem.
func (d *Dir) Stage(content *blobs.Store, inputs map[string]Input) (string, error) {
	for name, in := range inputs {
		if err := CheckContent(content, name, in.File); err != nil {
			return "", err
		}
	}
	dir, err := os.MkdirTemp(d.jobs, ".new-*")
	if err != nil {
		return "", fmt.Errorf("job directory: %w", err)
	}
	for name, in := range inputs {
		path := filepath.Join(dir, in.path(name))
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = content.Link(in.SHA256, path)
		}
		if errors.Is(err, blobs.ErrUnknown) {
			err = missing(name, in.File)
		}
		if err == nil {
			err = SyncDirs(filepath.Dir(path), filepath.Dir(filepath.Dir(path)), dir)
		}
		if err != nil {
			return "", errors.Join(err, d.Remove(dir))
		}
	}
	return dir, nil
}

// CheckContent returns a *problem.Problem if the content of an argument is not here.
func CheckContent(content *blobs.Store, argument string, f catalogue.File) error {
	if !blobs.IsSHA256(f.SHA256) {
		return &problem.Problem{
			Reason: problem.BadValue, Field: "request.arguments." + argument,
			Accepted: "a file with its sha256, 64 lower-case hexadecimal digits",
			Message:  fmt.Sprintf("argument %s: sha256 %.70q", argument, f.SHA256),
		}
	}
	b, err := content.Find(f.SHA256)
	if err != nil {
		return missing(argument, f)
	}
	if b.Size != f.Size {
		return &problem.Problem{
			Reason: problem.BadValue, Field: "request.arguments." + argument,
			Accepted: fmt.Sprintf("size_bytes of %d", b.Size),
			Message:  fmt.Sprintf("argument %s: size of %d bytes, but the content has %d", argument, f.Size, b.Size),
		}
	}
	return nil
}

func missing(argument string, f catalogue.File) *problem.Problem {
	return &problem.Problem{
		Reason: problem.UnknownContent, Field: "request.arguments." + argument,
		Accepted: "content that was uploaded to this server",
		Message:  fmt.Sprintf("argument %s: no content %s here", argument, f.SHA256),
		Hint:     "upload the file to this server, then submit again",
	}
}

// CopyInout copies the in-out arguments for an attempt, once. An attempt that resumes from a
// checkpoint keeps the copies of its predecessor.
//
//	inout/c ──copy──▶ work/c ◀──changes── the program
//	   (read only)       └── the output
//
// The file "begun" then names the attempt: Slurm can ask for the program of an attempt
// that already runs.
func (d *Dir) CopyInout(ctx context.Context, key batch.Key, resumes bool) error {
	if err := d.copyInout(ctx, key, resumes); err != nil {
		return fmt.Errorf("copy arguments that the job changes: %w", err)
	}
	return nil
}

func (d *Dir) copyInout(ctx context.Context, key batch.Key, resumes bool) error {
	from := filepath.Join(d.Job(key.Job), inout)
	entries, err := os.ReadDir(from)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && resumes:
		return nil
	case err != nil:
		return err
	}
	begun, attempt := filepath.Join(d.Job(key.Job), "begun"), journal.Name(key.Epoch, key.Attempt)
	if marked(begun, attempt) {
		return nil
	}
	work := d.Work(key.Job)
	if err := os.MkdirAll(work, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		if err := d.copyFile(ctx, filepath.Join(from, e.Name()), filepath.Join(work, e.Name())); err != nil {
			return err
		}
	}
	if err := SyncDirs(work, d.Job(key.Job)); err != nil {
		return err
	}
	return mark(begun, attempt)
}

// copyFile replaces to, whatever it is, by a copy of from.
func (d *Dir) copyFile(ctx context.Context, from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() // read-only
	// The copy grows outside of the program's directory, which never shows a part of it.
	out, err := os.OpenFile(filepath.Join(filepath.Dir(filepath.Dir(to)), "copying"),
		os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
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
	if err := d.Remove(to); err != nil {
		return err
	}
	return os.Rename(out.Name(), to)
}

// copyAll copies until ctx ends, in chunks that the kernel copies by itself.
func copyAll(ctx context.Context, to io.Writer, from io.Reader) error {
	const chunk = 64 << 20
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch _, err := io.CopyN(to, from, chunk); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// mark records durably that a step was done for an attempt: Slurm continues an attempt after this
// host has lost power, and its files must not be cleared then.
func mark(name, attempt string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(attempt)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return SyncDirs(filepath.Dir(name))
}

// marked reports whether mark was called for the attempt, and for none since.
func marked(name, attempt string) bool {
	text, err := os.ReadFile(name)
	return err == nil && string(text) == attempt
}
