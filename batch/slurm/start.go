package slurm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// mostPiped is how much fits into a pipe that nobody reads, on any system.
const mostPiped = 4 << 10

// closing is how long somebody else may have the pipes of a program that was killed.
const closing = time.Second

// found is where programs are, by PATH and name: to look there for each submission
// costs more than to begin it.
var found sync.Map

// find returns the path of a program. What cannot be started is to be forgotten.
func (c *Commands) find(name string) (path string, forget func(), err error) {
	if c.Dir != "" {
		return c.Dir + "/" + name, func() {}, nil
	}
	key := os.Getenv("PATH") + "\x00" + name
	if path, known := found.Load(key); known {
		return path.(string), func() { found.Delete(key) }, nil
	}
	if path, err = exec.LookPath(name); err == nil {
		found.Store(key, path)
	}
	return path, func() { found.Delete(key) }, err
}

// execute runs a program until it ends, or is killed because the context ends. It
// reads what the program prints itself, and fills the program's input before: all
// that a submission costs beside sbatch is taken from the next one. Programs run at the
// root: the directory that the server was started in is none of theirs, and may be gone.
func (c *Commands) execute(ctx context.Context, args []string, input []byte, stdout, stderr io.Writer) error {
	path, forget, err := c.find(args[0])
	if err != nil {
		return err
	}
	cmd := &exec.Cmd{
		Path: path, Args: args, Env: c.environment(args[0] == "sbatch"), Dir: "/",
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	var p pipes
	defer func() { p.ours.close(); p.its.close() }()
	stdin, err := p.input(input)
	if err != nil {
		return err
	}
	out, err := p.output(&cmd.Stdout)
	if err != nil {
		return err
	}
	notes, err := p.output(&cmd.Stderr)
	if err != nil {
		return err
	}
	cmd.Stdin = stdin
	if err := cmd.Start(); err != nil {
		forget()
		return err
	}
	p.its.close()
	ours := p.ours // they may be closed meanwhile
	stop := context.AfterFunc(ctx, func() {
		_ = cmd.Process.Kill() // it may have ended
		for _, f := range ours {
			_ = f.SetReadDeadline(time.Now().Add(closing))
		}
	})
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(stderr, notes) })
	_, read := io.Copy(stdout, out)
	reading.Wait()
	err = cmd.Wait()
	stop()
	return errors.Join(err, read)
}

// pipes are those of a program.
type pipes struct {
	ours, its files
}

// input returns what a program reads: a pipe that is full before it starts, if the
// input is as short as scripts are.
func (p *pipes) input(text []byte) (io.Reader, error) {
	if len(text) == 0 || len(text) > mostPiped {
		return bytes.NewReader(text), nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.its = append(p.its, r)
	_, err = w.Write(text)
	return r, errors.Join(err, w.Close())
}

// output makes a pipe for what a program prints, and returns the end to read.
func (p *pipes) output(to *io.Writer) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.ours, p.its = append(p.ours, r), append(p.its, w)
	*to = w
	return r, nil
}

type files []*os.File

// close closes all, once.
func (f *files) close() {
	for _, file := range *f {
		_ = file.Close() // nothing was written
	}
	*f = nil
}
