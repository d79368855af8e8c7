package client

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"reflect"

	"github.com/seed-9b8f70bb/drover/proto/problem"

	"github.com/seed-9b8f70bb/drover/client/npy"
)

// Destination is where an output of a job goes: a file, a variable or an io.Writer.
type Destination struct {
	argument string
	done     bool
	path     string
	memory   any // what Fetch takes
	writer   *onward
}

// Fetch brings the output of a job to its destination, once: after a success it does
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

// onward writes to w what lies beyond what it has written before, so that a file
// that is brought again after a failure is not written twice.
type onward struct {
	w    io.Writer
	past int64 // written
	at   int64 // of this time
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

// destinationOf returns where what comes out for an argument goes, nil for what it cannot
// go to.
func destinationOf(about *Argument, v any) *Destination {
	if s := slotOf(v); s != nil {
		// Whether it would take what comes is known before anything is sent.
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

// Fetch brings what a job has written for an argument to memory, and checks it: into a
// *[]byte a file or a vector of uint8, into a *[]float64 (or another type of elements)
// a vector, into a *Dense[float64] a matrix. What was there before is replaced when all
// has come.
func (c *Client) Fetch(ctx context.Context, id, argument string, into any) error {
	s := slotOf(into)
	if s == nil {
		return &problem.Problem{
			Reason: problem.WrongType, Field: argument, Accepted: "a *[]byte, a *[]float64 or another type of elements, or a *Dense of one",
			Message: fmt.Sprintf("output %s into a %T", argument, into),
		}
	}
	if err := c.fetch(ctx, id, argument, &download{w: s, hash: sha256.New(), begin: s.begin}); err != nil {
		return err
	}
	return s.end()
}

// toFile returns what brings an output to the file that is to be at path.
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
