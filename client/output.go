package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"syscall"

	"github.com/seed-9b8f70bb/drover/client/npy"
	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// LogOptions selects what Logs reads.
type LogOptions = rpc.LogOptions

// Logs copies a log of a job to w. After a broken connection it resumes. A job that
// moves has written nothing before its move. The output of a new attempt follows that of
// the one before.
func (c *Client) Logs(ctx context.Context, id string, o LogOptions, w io.Writer) error {
	at := o.Offset
	return c.pursue(ctx, id, c.tries(c.cfg.LongPatience),
		func(ctx context.Context, server string, progress func(uint32)) error {
			// This notices a server that does not answer: a log can be silent for any time.
			job, err := c.jobAt(ctx, server, id)
			if err != nil {
				return err
			}
			progress(job.Epoch)
			o.Offset = at
			err = c.conn.ReadLogs(ctx, server, id, o, func(from int64, piece []byte) error {
				progress(0)
				n, err := w.Write(piece)
				at = from + int64(n) // from is 0 again when the job was restarted
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
					Message: fmt.Sprintf("site %s ended the log of job %s before the job ended", job.Site, id),
				}
			}
			return nil
		}, nil)
}

// Download copies an output of a job to w, and verifies it: a file, or the block of a
// vector or matrix. After a broken connection it resumes.
func (c *Client) Download(ctx context.Context, id, argument string, w io.Writer) error {
	return c.fetch(ctx, id, argument, &download{w: w, hash: sha256.New()})
}

// fetch downloads an output from wherever the job is.
func (c *Client) fetch(ctx context.Context, id, argument string, d *download) error {
	return c.pursue(ctx, id, c.tries(c.cfg.LongPatience),
		func(ctx context.Context, server string, progress func(uint32)) error {
			job, err := c.jobAt(ctx, server, id)
			if err != nil {
				return err
			}
			return c.downloadAt(ctx, server, job, argument, d, func() { progress(job.Epoch) })
		}, nil)
}

// downloadAt downloads the rest of an output from the server of its job.
func (c *Client) downloadAt(
	ctx context.Context, server string, job *Job, argument string, d *download, progress func(),
) error {
	err := c.conn.GetOutput(ctx, server, job.ID, argument, d.at, func(piece []byte) error {
		progress()
		if err := d.start(job, argument); err != nil {
			return err
		}
		_, err := d.Write(piece)
		return err
	})
	if err == nil {
		err = d.start(job, argument) // the output may be empty
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
				Message: fmt.Sprintf("output %s of job %s does not match its checksum: %s, expected %s", argument,
					job.ID, got, o.SHA256),
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

	begin func(o Output) error // is called before the content arrives; may be nil
	begun bool
	wrong error // the error of begin
}

// start calls begin once, with the output's description.
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

// tell calls begin unless it was called before.
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

// Save downloads an output to path, which is replaced only by the complete content. A
// vector or matrix becomes a .npy file if the path ends in .npy, and the raw block
// otherwise.
func (c *Client) Save(ctx context.Context, id, argument, path string) error {
	return save("output "+argument, path, func(w io.Writer) error {
		return c.fetch(ctx, id, argument, toFile(w, path))
	})
}

// save replaces path by what bring writes, if it succeeds.
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

// Destination is where an output of a job goes: a file, a variable or an io.Writer.
type Destination struct {
	argument string
	done     bool
	path     string
	memory   any // for Client.Fetch
	writer   *onward
}

// Fetch downloads the output of a job to its destination, once: after a success it does
// nothing.
func (o *Destination) Fetch(ctx context.Context, c *Client, job string) error {
	if o.done {
		return nil
	}
	var err error
	switch {
	case o.memory != nil:
		err = c.Fetch(ctx, job, o.argument, o.memory)
	case o.writer != nil:
		o.writer.at = 0
		err = c.Download(ctx, job, o.argument, o.writer)
	default:
		err = c.Save(ctx, job, o.argument, o.path)
	}
	o.done = err == nil
	return err
}

// onward skips what it has written to w before: content that is downloaded again after a
// failure is not written twice.
type onward struct {
	w    io.Writer
	past int64 // bytes written to w
	at   int64 // position in the present download
}

func (o *onward) Write(p []byte) (int, error) {
	known := min(max(o.past-o.at, 0), int64(len(p)))
	o.at += known
	if int(known) == len(p) {
		return len(p), nil
	}
	n, err := o.w.Write(p[known:])
	o.at += int64(n)
	o.past += int64(n)
	return int(known) + n, err
}

// destinationOf returns the destination that a value names for an output, nil if the
// value does not fit.
func destinationOf(about *Argument, v any) *Destination {
	if s := slotOf(v); s != nil {
		// A value that cannot take the output is refused before anything is sent.
		if s.begin(Output{Element: about.Element, Dimensions: make([]int64, about.Type.dimensions())}) != nil {
			return nil
		}
		return &Destination{argument: about.Name, memory: v}
	}
	if w, ok := v.(io.Writer); ok && !about.Type.Sent() {
		return &Destination{argument: about.Name, writer: &onward{w: w}}
	}
	if of := reflect.ValueOf(v); of.Kind() == reflect.String {
		return &Destination{argument: about.Name, path: of.String()}
	}
	return nil
}

// Fetch downloads an output of a job into a variable, and verifies it: a file or a
// vector of uint8 into a *[]byte, a vector into a *[]float64 (or another type of
// elements), a matrix into a *Dense[float64]. The variable changes only when the
// download is complete.
func (c *Client) Fetch(ctx context.Context, id, argument string, into any) error {
	s := slotOf(into)
	if s == nil {
		return &problem.Problem{
			Reason: problem.WrongType, Field: argument,
			Accepted: "a *[]byte, a *[]float64 or another type of elements, or a *Dense of one",
			Message:  fmt.Sprintf("output %s into a %T", argument, into),
		}
	}
	if err := c.fetch(ctx, id, argument, &download{w: s, hash: sha256.New(), begin: s.begin}); err != nil {
		return err
	}
	return s.end()
}

// toFile returns the download of an output to the file that will be at path.
func toFile(w io.Writer, path string) *download {
	return &download{w: w, hash: sha256.New(), begin: func(o Output) error {
		if len(o.Dimensions) == 0 || !isNPY(path) {
			return nil
		}
		header, err := npy.Append(nil, string(o.Element), o.Dimensions)
		if err == nil {
			_, err = w.Write(header)
		}
		return err
	}}
}

// slot is a variable for an output. It changes only when the output is complete.
type slot interface {
	// begin checks whether the output fits. An output without an element type is a file.
	begin(o Output) error
	Write(p []byte) (int, error)
	// end sets the variable if the output is complete.
	end() error
}

// slotOf returns the slot of a pointer, nil if no output fits its type.
func slotOf(v any) slot {
	switch v := v.(type) {
	case *[]byte: // a file, or a vector of uint8
		if v != nil {
			return &bytesSlot{to: v}
		}
	case *[]float64:
		return vectorSlot(v)
	case *[]float32:
		return vectorSlot(v)
	case *[]int64:
		return vectorSlot(v)
	case *[]int32:
		return vectorSlot(v)
	case *[]complex128:
		return vectorSlot(v)
	case dense:
		return v.slot()
	}
	return nil
}

func vectorSlot[T Element](v *[]T) slot {
	if v == nil {
		return nil
	}
	return &arraySlot[T]{vector: v}
}

// mismatch is the error of an output that does not fit its variable.
func mismatch(o Output, accepted string) error {
	is := "a file"
	if o.Element != "" {
		is = arrayText(o.Element, o.Dimensions)
	}
	return &problem.Problem{
		Reason: problem.WrongType, Field: o.Argument, Accepted: accepted, Message: fmt.Sprintf("output %s is %s",
			o.Argument, is),
	}
}

// bytesSlot takes a file, or a vector of bytes.
type bytesSlot struct {
	to      *[]byte
	content bytes.Buffer
}

func (s *bytesSlot) begin(o Output) error {
	if o.Element != "" && (o.Element != Uint8 || len(o.Dimensions) != 1) {
		return mismatch(o, "a file or a vector of uint8, for a *[]byte")
	}
	s.content.Grow(int(max(0, min(o.Size, 1<<26)))) // bounded, because the size is what the site claims
	return nil
}

func (s *bytesSlot) Write(p []byte) (int, error) { return s.content.Write(p) }

func (s *bytesSlot) end() error {
	*s.to = s.content.Bytes()
	return nil
}

// arraySlot takes a vector or a matrix.
type arraySlot[T Element] struct {
	gathered[T]

	vector     *[]T
	matrix     *Dense[T]
	rows, cols int
}

func (s *arraySlot[T]) begin(o Output) error {
	b := Block{Element: elementType[T](), Dimensions: o.Dimensions}
	kind, want := "vector", 1
	if s.matrix != nil {
		kind, want = "matrix", 2
	}
	size, err := b.Bytes()
	if o.Element != b.Element || len(o.Dimensions) != want {
		return mismatch(o, fmt.Sprintf("a %s of %s", kind, b.Element))
	}
	if err != nil || size != o.Size || size > math.MaxInt {
		return &problem.Problem{
			Reason: problem.Internal, Field: o.Argument,
			Message: fmt.Sprintf("output %s is %s, and has %d bytes", o.Argument, arrayText(o.Element, o.Dimensions),
				o.Size),
		}
	}
	s.rows, s.cols = int(o.Dimensions[0]), int(o.Dimensions[want-1])
	s.data = make([]T, size/b.Element.Size())
	return nil
}

func (s *arraySlot[T]) end() error {
	switch {
	case s.n < len(s.data):
		return &problem.Problem{
			Reason: problem.Internal, Hint: "fetch it again", Message: fmt.Sprintf("%d elements of %d arrived", s.n,
				len(s.data)),
		}
	case s.matrix != nil:
		*s.matrix = Dense[T]{Rows: s.rows, Cols: s.cols, Data: s.data}
	default:
		*s.vector = s.data
	}
	return nil
}
