package supervisor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/process"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/rpc"
)

// ConnectPatience bounds the time in which Connect reaches or starts a supervisor. One that
// is dying keeps the lock for a moment.
const ConnectPatience = 15 * time.Second

var (
	// ErrClosed is returned by a client that was closed.
	ErrClosed = errors.New("supervisor client closed")
	// ErrBarred is wrapped, beside exec.ErrNeverRan, when the server holds the claim of an
	// attempt.
	ErrBarred = errors.New("the server has claimed this attempt")
	// ErrFollowed is wrapped when this client already spawns or follows an attempt.
	ErrFollowed = errors.New("it is followed already")
)

// Config configures Connect.
type Config struct {
	// Dir is the site's data directory, which must exist.
	Dir string
	// Program is the command that calls Serve; --dir DIR and --ready-fd N are appended.
	// Default: the binary of this process, with "supervise".
	Program []string
	// Leased makes programs live on a lease, see Renew, and die with their
	// supervisor: --leased is appended to Program.
	Leased bool
	// Logger logs the state of supervisors. Default: none.
	Logger hclog.Logger
}

// Client spawns programs through the supervisor of a data directory, and follows them. It
// starts a supervisor if there is none, and when one dies. Its methods may be called from
// several goroutines.
type Client struct {
	cfg    Config
	log    hclog.Logger
	remote remote
	ctx    context.Context // ends with Close
	cancel context.CancelCauseFunc
	loop   sync.WaitGroup

	mu        sync.Mutex
	link      *link         // nil while there is no connection
	changed   chan struct{} // closed when link changes
	processes map[attempt.Name]*Attempt
	children  []int // supervisors started here and not reaped yet
}

// link is one connection.
type link struct {
	down chan struct{} // closed at its end
	drop func()        // ends it, which causes a new connection
}

// Connect connects to the supervisor of cfg.Dir, and starts it if necessary.
func Connect(cfg Config) (*Client, error) {
	var err error
	if cfg.Dir, err = filepath.Abs(cfg.Dir); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if cfg.Program == nil {
		cfg.Program = []string{"/proc/self/exe", "supervise"}
	}
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	c := &Client{
		cfg: cfg, log: cfg.Logger.Named("supervisor"), remote: newRemote(cfg.Dir),
		changed: make(chan struct{}), processes: make(map[attempt.Name]*Attempt),
	}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	first := make(chan error, 1)
	c.loop.Go(func() { c.run(first) })
	if err := <-first; err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Close ends the connection and leaves programs running: their attempts are detached.
func (c *Client) Close() {
	c.cancel(ErrClosed)
	c.loop.Wait()
	c.remote.conns.close()
	c.mu.Lock()
	all := c.processes
	c.processes = make(map[attempt.Name]*Attempt)
	c.mu.Unlock()
	for _, p := range all {
		p.Detach()
	}
}

// Spawn runs an attempt with its file in dir, and returns once the program is executed. If
// only the last element of dir is missing, it is created. The call may be repeated: the
// attempt runs at most once. While no supervisor can be reached, Spawn waits.
//
// An error means that the attempt does not run and never will: exec.ErrNeverRan if another
// attempt may, with ErrBarred if the server holds the claim. If the outcome is unknown, Spawn
// returns an Attempt: detached when ctx ends first, lost when the attempt's file cannot be
// read.
func (c *Client) Spawn(ctx context.Context, spec exec.Spec, dir string) (*Attempt, error) {
	return c.SpawnIn(ctx, spec, dir, Placement{})
}

// Placement is the control groups and the lease of a program.
type Placement struct {
	// Groups are the cgroup.procs files of the control groups that the program is in from its
	// first instruction; an attempt that cannot enter them never runs. The processes left in
	// them when the program has ended are killed.
	Groups []string
	// Token must be covered by the lease, see Renew.
	Token attempt.Token
}

// SpawnIn is Spawn in control groups and on a lease. attempt.ErrNoLease means that the lease
// does not cover the call and nothing was done: the caller may repeat it with the next token.
func (c *Client) SpawnIn(ctx context.Context, spec exec.Spec, dir string, where Placement) (*Attempt, error) {
	program, err := processSpec(spec)
	if err != nil {
		return nil, err
	}
	what := attempt.Spec{Spec: program, Groups: where.Groups, Token: where.Token}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("attempt directory: %w", err)
	}
	p, err := c.follow(attempt.Name{Key: spec.Key, Dir: dir})
	if err != nil {
		return nil, err
	}
	var st attempt.Status
	err = c.ask(ctx, func(ctx context.Context) (err error) {
		st, err = c.remote.Spawn(ctx, p.attempt, what)
		return err
	})
	switch {
	case err == nil:
	case rpc.Refused(err):
		p.Detach()
		return nil, err
	case ctx.Err() != nil || errors.Is(err, ErrClosed):
		p.Detach()
		return p, nil //nolint:nilerr // another client may find out whether it runs
	default:
		p.lose(err)
		return p, nil
	}
	if err := spawnError(st); err != nil {
		p.Detach()
		return nil, err
	}
	p.attached(st)
	return p, nil
}

// spawnError returns why an attempt does not run, or nil.
func spawnError(st attempt.Status) error {
	switch st.Condition {
	case attempt.Barred:
		return fmt.Errorf("%w: %w", exec.ErrNeverRan, ErrBarred)
	case attempt.NeverRan:
		return fmt.Errorf("%w: %s", exec.ErrNeverRan, st.Reason)
	case attempt.Failed:
		return &exec.ExecuteError{Errno: syscall.Errno(st.Code), Reason: st.Reason}
	}
	return nil
}

// Attach returns what became of an attempt, and follows it if it runs: only then the Attempt
// is not nil. While no supervisor can be reached, it waits.
func (c *Client) Attach(ctx context.Context, key batch.Key, dir string) (attempt.Status, *Attempt, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return attempt.Status{}, nil, fmt.Errorf("attempt directory: %w", err)
	}
	p, err := c.follow(attempt.Name{Key: key, Dir: dir})
	if err != nil {
		return attempt.Status{}, nil, err
	}
	var st attempt.Status
	err = c.ask(ctx, func(ctx context.Context) (err error) {
		st, err = c.remote.Attach(ctx, p.attempt)
		return err
	})
	if err != nil || st.Condition != attempt.Running {
		p.Detach()
		return st, nil, err
	}
	p.attached(st)
	return st, p, nil
}

// follow registers an attempt before any news about it can arrive.
func (c *Client) follow(a attempt.Name) (*Attempt, error) {
	p := &Attempt{client: c, attempt: a, ended: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ctx.Err() != nil:
		return nil, fmt.Errorf("%w: %w", exec.ErrNeverRan, ErrClosed)
	case c.processes[a] != nil:
		return nil, fmt.Errorf("attempt %s: %w", a.Mark(), ErrFollowed)
	}
	c.processes[a] = p
	return p, nil
}

func (c *Client) unfollow(p *Attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.processes[p.attempt] == p {
		delete(c.processes, p.attempt)
	}
}

// following returns the followed attempts, in order of the jobs' IDs.
func (c *Client) following() []*Attempt {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*Attempt, 0, len(c.processes))
	for _, p := range c.processes {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *Attempt) int { return a.attempt.Compare(b.attempt) })
	return all
}

// processSpec makes all paths absolute, and resolves the command in this process's PATH. A
// command that is not found is left to the supervisor, because the attempt has to be claimed
// before it can fail.
func processSpec(spec exec.Spec) (process.Spec, error) {
	out := process.Spec{Args: spec.Args, Env: spec.Env, Append: spec.Append}
	if path, err := process.Look(spec.Args[0]); err == nil {
		out.Path = path
	}
	for to, from := range map[*string]string{&out.Dir: spec.Dir, &out.Stdout: spec.Stdout, &out.Stderr: spec.Stderr} {
		if from == "" {
			continue
		}
		path, err := filepath.Abs(from)
		if err != nil {
			return process.Spec{}, fmt.Errorf("working directory: %w", err)
		}
		*to = path
	}
	return out, nil
}
