package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// The limits of a command of Slurm's.
const (
	DefaultTimeout = 10 * time.Second // clients give up after longer, and differently
	mostOutput     = 256 << 20        // bytes: a queue of a million jobs
	mostError      = 4 << 10
)

// Commands runs Slurm's client programs. Each has a timeout of its own, an
// environment without other people's options, and UTC, so that an instant in its
// output is one.
type Commands struct {
	Conf    string        // path of slurm.conf; "": the programs' own
	Dir     string        // where the programs are; "": looked up in PATH
	Timeout time.Duration // of each command; 0: DefaultTimeout

	// Where jobs are looked up that the controller has forgotten.
	Database bool   // accounting_storage/slurmdbd
	JobComp  string // file of jobcomp/filetxt
}

// run runs a program with input and returns what it prints. Errors are
// *UnreachableError and *RefusedError, or that of ctx.
func (c *Commands) run(ctx context.Context, input []byte, args ...string) (out string, err error) {
	limit := c.Timeout
	if limit == 0 {
		limit = DefaultTimeout
	}
	own, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stdout, stderr := &bounded{most: mostOutput}, &bounded{most: mostError}
	err = c.execute(own, args, input, stdout, stderr)
	notes := strings.TrimSpace(stderr.text.String())
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s: %w", args[0], context.Cause(ctx))
	case own.Err() != nil:
		return "", &UnreachableError{Command: args[0], Sent: true, Text: fmt.Sprintf("no answer within %v", limit)}
	case stdout.over:
		return "", &UnreachableError{Command: args[0], Sent: true, Text: fmt.Sprintf("more than %d bytes of output", mostOutput)}
	case errors.As(err, &exit):
		return stdout.text.String(), failure(args[0], exit.ExitCode(), notes)
	case err != nil:
		return "", &UnreachableError{Command: args[0], Text: err.Error()}
	}
	return stdout.text.String(), nil
}

// environment is what a client program gets. A job inherits sbatch's, so that has
// no time zone of ours.
func (c *Commands) environment(inherited bool) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "USER", "LOGNAME", "LD_LIBRARY_PATH"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	if c.Conf != "" {
		env = append(env, "SLURM_CONF="+c.Conf)
	}
	if !inherited {
		env = append(env, "TZ=UTC", "LC_ALL=C")
	}
	return env
}

// bounded keeps the first bytes that are written.
type bounded struct {
	text bytes.Buffer
	most int
	over bool
}

// Write is io.Writer's. It takes everything.
func (b *bounded) Write(p []byte) (int, error) {
	if room := b.most - b.text.Len(); len(p) > room {
		b.over = true
		b.text.Write(p[:room])
	} else {
		b.text.Write(p)
	}
	return len(p), nil
}
