package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
)

// Config is what Open needs. Dir and Groups.Name are required.
type Config struct {
	// Dir is the host's own directory, which is made if it is not there.
	Dir string
	// Groups says where the control groups are made.
	Groups cgroup.Config
	// Processors is how many processors of the host all tasks together run on; 0 is all.
	// Where it cannot be had, they run anywhere, and the log says why.
	Processors int
	// Leased has tasks live on a lease, see Renew, and die with their supervisor.
	Leased bool
	// Program is the command that calls supervisor.Serve. Default: as of
	// supervisor.Connect.
	Program []string
	// Ended, if not nil, is called with the end of every task, from a goroutine of
	// its own, before Wait returns.
	Ended func(ID, attempt.Status)
	// Logger may be nil.
	Logger hclog.Logger
}

// ErrBusy is returned when another process has the directory.
var ErrBusy = errors.New("another process has this node's directory")

// Host runs tasks. Its methods may be called from several goroutines.
type Host struct {
	cfg    Config
	log    hclog.Logger
	lock   *os.File
	groups *cgroup.Host
	client *supervisor.Client
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup
	cpus   []int       // what tasks run on that have no processors of their own; none is all
	doubt  atomic.Bool // a start has failed: see Fit

	trying sync.Mutex // one at a time; see Fit

	mu     sync.Mutex
	closed bool
	tasks  map[ID]*pending // those that are being settled, or run
}

// Open takes the directory, connects to its supervisor, takes over what that runs,
// and kills whatever else predecessors have left.
func Open(ctx context.Context, cfg Config) (*Host, error) {
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	h := &Host{cfg: cfg, log: cfg.Logger, tasks: make(map[ID]*pending)}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	if err := h.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("node: %w", err), h.Close())
	}
	return h, nil
}

func (h *Host) open(ctx context.Context) (err error) {
	if err := os.MkdirAll(h.attempts(), 0o700); err != nil {
		return err
	}
	if h.lock, err = os.OpenFile(filepath.Join(h.cfg.Dir, "node.lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	if err := syscall.Flock(int(h.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrBusy
		}
		return err
	}
	if err := h.detect(); err != nil {
		return err
	}
	h.confine()
	h.client, err = supervisor.Connect(supervisor.Config{
		Dir: h.cfg.Dir, Program: h.cfg.Program, Leased: h.cfg.Leased, Logger: h.log,
	})
	if err != nil {
		return err
	}
	if err := h.recover(ctx); err != nil {
		return err
	}
	if err := h.Sweep(time.Now()); err != nil {
		return err
	}
	h.work.Go(h.keepSwept)
	return nil
}

// Close leaves what runs running, on its lease if it has one: who waits for a task
// hears that it is detached.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	if h.client != nil {
		h.client.Close()
	}
	h.work.Wait()
	var all []error
	if h.groups != nil {
		all = append(all, h.groups.Close())
	}
	if h.lock != nil {
		all = append(all, h.lock.Close())
	}
	return errors.Join(all...)
}

// Offers returns how tasks are held to what they get.
func (h *Host) Offers() cgroup.Offers { return h.groups.Offers() }

// Renew renews the lease, see supervisor.Client.Renew.
func (h *Host) Renew(ctx context.Context, t attempt.Token, d time.Duration) (next attempt.Token, held bool, err error) {
	return h.client.Renew(ctx, t, d)
}

// Running returns the processes of the tasks that run, in order.
func (h *Host) Running() []*Task {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []*Task
	for _, t := range h.tasks {
		if t.process != nil {
			all = append(all, t.process)
		}
	}
	slices.SortFunc(all, func(a, b *Task) int { return a.id.Compare(b.id) })
	return all
}

// Find returns the process of a task that runs, or nil.
func (h *Host) Find(id ID) *Task {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.tasks[id]; t != nil {
		return t.process
	}
	return nil
}

func (h *Host) attempts() string { return filepath.Join(h.cfg.Dir, "attempts") }

func (h *Host) dir(id ID) string { return filepath.Join(h.attempts(), id.dir()) }
