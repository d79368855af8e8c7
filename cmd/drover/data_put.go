package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-9b8f70bb/drover/client"
)

type dataPutCmd struct {
	Path  string `arg:"" help:"The file; - is stdin. One of NumPy's, .npy, becomes a vector or a matrix."`
	Site  string `complete:"site" help:"Where to; default: the site with the most free room."`
	Mode  string `enum:"volatile,sticky,persistent" default:"persistent" help:"How long they stay: until the first job that used them has ended (volatile); until they are removed, there and nowhere else (sticky); until they are removed, or the site needs the room (persistent)."`
	Name  string `help:"The file name that programs see; default: that of the file."`
	Owner string `help:"Who asks; default: USER."`
	ID    string `name:"id" help:"The handle of data whose putting was not answered, to try it again; with --site."`
}

func (c *dataPutCmd) Run(a *app) (err error) {
	if c.ID != "" && !isJobID(c.ID) {
		return &usageError{message: fmt.Sprintf("--id %q, accepted: a handle, as data put prints it", c.ID)}
	}
	path, spooled, err := c.source(a.ctx, a.stdin)
	if err != nil {
		return err
	}
	if spooled {
		defer func() { err = errors.Join(err, os.Remove(path)) }()
	}
	content, err := contentAt(path)
	if err != nil {
		return err
	}
	if c.Name == "" && spooled {
		c.Name = "stdin"
	}
	if c.Name == "" {
		c.Name = filepath.Base(path)
	}
	grid, err := a.grid()
	if err != nil {
		return err
	}
	line := &progress{app: a}
	d, err := grid.PutData(a.ctx, content, client.PutOptions{
		Site: c.Site, Mode: client.DataMode(c.Mode), Name: c.Name, Owner: c.Owner, ID: c.ID, Sending: line.sending,
	})
	line.clear()
	if err != nil {
		return err
	}
	if a.terminal && !a.flags.JSON && !a.flags.Quiet {
		_, _ = fmt.Fprintf(a.stderr, "at %s: %s, %s\n", d.Site, kindOfData(d), d.Mode)
	}
	return a.printData(d, d.ID)
}

// source returns the file whose content is put. What can be read only once, a pipe, is
// copied to a file that is to be removed.
func (c *dataPutCmd) source(ctx context.Context, stdin io.Reader) (path string, spooled bool, err error) {
	if c.Path == "-" {
		path, err = spool(ctx, func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil })
		return path, err == nil, err
	}
	info, err := os.Stat(c.Path)
	switch {
	case err != nil:
		return "", false, err
	case info.IsDir():
		return "", false, &usageError{message: fmt.Sprintf("%s is a directory, accepted: a file", c.Path), hint: "tar makes one file of it"}
	case info.Mode().IsRegular():
		return c.Path, false, nil
	}
	path, err = spool(ctx, func() (io.ReadCloser, error) { return os.Open(c.Path) })
	return path, err == nil, err
}

// contentAt returns the content of a file.
func contentAt(path string) (client.DataContent, error) {
	if strings.EqualFold(filepath.Ext(path), ".npy") {
		b, err := client.OpenNPY(path)
		return client.DataBlock(b), err
	}
	return client.DataFile(path), nil
}

// spool copies a stream to a file, which is read more than once. An interrupt ends it,
// also while nothing comes, or nobody writes to a pipe: whoever reads is left behind.
func spool(ctx context.Context, open func() (io.ReadCloser, error)) (path string, err error) {
	f, err := os.CreateTemp("", "drover-data-*")
	if err != nil {
		return "", err
	}
	copied := make(chan error, 1)
	go func() {
		from, err := open()
		if err == nil {
			_, err = io.Copy(f, from)
			_ = from.Close() // all of it was read
		}
		copied <- err
	}()
	select {
	case err = <-copied:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}
