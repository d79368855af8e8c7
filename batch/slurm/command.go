package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/external"
)

// The limits of one command.
const (
	defaultTimeout = external.DefaultTimeout // Slurm's programs give up later, with other messages
	maxOutput      = 256 << 20               // bytes: a queue of a million jobs
	maxErrors      = 4 << 10                 // bytes
)

// run runs a client program and returns what it prints. It uses UTC and an environment
// without Slurm options of other users. Errors are *external.UnreachableError,
// *external.RefusedError, or that of ctx.
func (c *Cluster) run(ctx context.Context, input []byte, args ...string) (out string, err error) {
	limit := c.cfg.Timeout
	if limit == 0 {
		limit = defaultTimeout
	}
	own, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stdout, stderr := &bounded{limit: maxOutput}, &bounded{limit: maxErrors}
	err = c.execute(own, args, input, stdout, stderr)
	notes := strings.TrimSpace(stderr.text.String())
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s: %w", args[0], context.Cause(ctx))
	case own.Err() != nil:
		return "", &external.UnreachableError{Command: args[0], Sent: true, Text: fmt.Sprintf("no answer within %v",
			limit)}
	case stdout.over:
		why := fmt.Sprintf("more than %d bytes of output", maxOutput)
		return "", &external.UnreachableError{Command: args[0], Sent: true, Text: why}
	case errors.As(err, &exit):
		return stdout.text.String(), failure(args[0], exit.ExitCode(), notes)
	case err != nil:
		return "", &external.UnreachableError{Command: args[0], Text: err.Error()}
	}
	return stdout.text.String(), nil
}

// environment is that of a client program. Jobs inherit the environment of sbatch, so
// that one keeps the site's time zone and language.
func (c *Cluster) environment(inherited bool) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "USER", "LOGNAME", "LD_LIBRARY_PATH"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	if c.cfg.Conf != "" {
		env = append(env, "SLURM_CONF="+c.cfg.Conf)
	}
	if !inherited {
		env = append(env, "TZ=UTC", "LC_ALL=C")
	}
	return env
}

// bounded is an io.Writer that keeps the first bytes.
type bounded struct {
	text  bytes.Buffer
	limit int
	over  bool // more was written
}

// Write never fails.
func (b *bounded) Write(p []byte) (int, error) {
	if left := b.limit - b.text.Len(); len(p) > left {
		b.over = true
		b.text.Write(p[:left])
	} else {
		b.text.Write(p)
	}
	return len(p), nil
}

// pipeSize is what fits into a pipe without a reader, on any system, in bytes.
const pipeSize = 4 << 10

// drainTime is how long output is read after a program was killed: its children can
// still hold the pipes.
const drainTime = time.Second

// paths caches the paths of programs by PATH and name. A lookup costs more than the
// start of a submission.
var paths sync.Map

// find returns the path of a program; forget removes it from the cache.
func (c *Cluster) find(name string) (path string, forget func(), err error) {
	if c.cfg.Dir != "" {
		return c.cfg.Dir + "/" + name, func() {}, nil
	}
	key := os.Getenv("PATH") + "\x00" + name
	if path, known := paths.Load(key); known {
		return path.(string), func() { paths.Delete(key) }, nil
	}
	if path, err = exec.LookPath(name); err == nil {
		paths.Store(key, path)
	}
	return path, func() { paths.Delete(key) }, err
}

// execute runs a program until it ends, and kills it when the context ends. It reads the
// output itself and fills the input pipe before the start: any time beside sbatch's own
// delays the next submission. Programs run in the root directory, because the server's
// own can be deleted.
func (c *Cluster) execute(ctx context.Context, args []string, input []byte, stdout, stderr io.Writer) error {
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
	ours := p.ours // they can be closed before the function below runs
	stop := context.AfterFunc(ctx, func() {
		_ = cmd.Process.Kill() // it may have ended
		for _, f := range ours {
			_ = f.SetReadDeadline(time.Now().Add(drainTime))
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

// pipes are those of a program: our ends and its ends.
type pipes struct {
	ours, its files
}

// input returns what the program reads: a filled pipe if the text fits, as scripts do.
func (p *pipes) input(text []byte) (io.Reader, error) {
	if len(text) == 0 || len(text) > pipeSize {
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

// output makes a pipe for what the program prints and returns our end.
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

// close closes all files, once.
func (f *files) close() {
	for _, file := range *f {
		_ = file.Close() // nothing was written
	}
	*f = nil
}

// FormatError says that the output of a program has an unknown format.
type FormatError struct {
	Source string // the program, or the file
	Field  string
	Value  string
}

// Error names the source, the field and the beginning of the value.
func (e *FormatError) Error() string {
	return fmt.Sprintf("output of %s: %s: unexpected value %.60q", e.Source, e.Field, e.Value)
}

// The messages of Slurm's programs, from slurm_errno.c of 20.11 to 24.05.
var (
	// unreachable: the controller was not reached.
	unreachable = []string{
		"Unable to contact slurm controller",
		"Unable to contact slurm controller (connect failure)",
		"Connection refused",
		"Host is unreachable",
		"No route to host",
		"Could not establish a configuration source",
		"failed to fetch config",
		"Slurm backup controller in standby mode",
		"Protocol authentication error",
		"Munge",
	}
	// interrupted: the controller may have received the request.
	interrupted = []string{
		"Zero Bytes were transmitted or received",
		"Socket timed out on send/recv operation",
		"Unexpected message received",
		"Connection reset",
		"Transport endpoint",
		"Header lengths are longer than data received",
		"Insane message length",
	}
	// transient: refusals that pass.
	transient = []string{
		"Resource temporarily unavailable",
		"temporarily unable to accept job",
		"temporarily unavailable",
		"job submit limit",
		"AssocMaxSubmitJobLimit",
		"MaxSubmitJob",
		"Too many jobs",
		"MaxJobCount",
		"reached maximum",
		"in the process of updating",
		"Slurmctld is currently being",
		"Job is in transistional state",
		"Job is in transitional state",
		"Requested partition configuration not available now",
		"Required partition not available (inactive or drain)",
		"Job/step already completing",
	}
	// gone: the job does not wait, or is unknown.
	gone = []string{
		"Invalid job id", "already finished", "no longer pending", "already completing", "Job is not pending",
	}
)

// failure makes an error of the exit code and the messages of a program that failed.
func failure(command string, code int, notes string) error {
	why := reason(notes)
	switch {
	case containsAny(notes, interrupted):
		return &external.UnreachableError{Command: command, Sent: true, Text: why}
	case containsAny(notes, unreachable):
		return &external.UnreachableError{Command: command, Text: why}
	case code == 127 || code < 0: // not found, or killed
		return &external.UnreachableError{Command: command, Sent: true, Text: fmt.Sprintf("exit status %d: %s", code,
			why)}
	}
	return &external.RefusedError{
		Command: command, Code: code, Text: why, Again: containsAny(notes, transient), Gone: containsAny(why, gone),
	}
}

func containsAny(text string, phrases []string) bool {
	for _, p := range phrases {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// reason returns the most specific line of a program's messages: the last error, without
// the program's name.
func reason(notes string) string {
	best := ""
	for line := range strings.Lines(notes) {
		line = strings.TrimSpace(line)
		_, text, ok := strings.Cut(line, "error: ")
		switch {
		case ok:
			best = text
		case best == "":
			best = line
		}
	}
	if best == "" {
		return "no message"
	}
	const longest = 300
	return best[:min(len(best), longest)]
}
