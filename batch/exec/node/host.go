package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
)

// Config configures Open. Dir and Groups.Name are required.
type Config struct {
	// Dir is the host's own directory, created if it does not exist.
	Dir string
	// Groups says where the control groups are created.
	Groups cgroup.Config
	// Processors is the number of processors that all tasks together run on; 0 is all. If the
	// host cannot confine them, they run on any, and the log says why.
	Processors int
	// Leased makes tasks live on a lease, see Renew, and die with their supervisor.
	Leased bool
	// Program is the command that calls supervisor.Serve. Default: that of supervisor.Connect.
	Program []string
	// Ended, if not nil, is called with the end of every task, from a goroutine of
	// its own, before Wait returns.
	Ended func(ID, attempt.Status)
	// Logger may be nil.
	Logger hclog.Logger
}

// ErrBusy is returned when another process holds the directory.
var ErrBusy = errors.New("another process holds this node's directory")

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
	cpus   []int       // that tasks without own processors run on; none means all
	doubt  atomic.Bool // a launch has failed: see Fit

	trying sync.Mutex // one at a time; see Fit

	mu     sync.Mutex
	closed bool
	tasks  map[ID]*pending // those that are being settled, or run
}

// Open locks the directory, connects to its supervisor, adopts its running tasks, and kills
// all other processes that predecessors have left.
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

// Close leaves tasks running, on their lease if they have one: they are detached.
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

// Offers returns how the host enforces the limits of tasks.
func (h *Host) Offers() cgroup.Offers { return h.groups.Offers() }

// Renew renews the lease, see supervisor.Client.Renew.
func (h *Host) Renew(ctx context.Context, t attempt.Token, d time.Duration) (next attempt.Token, held bool, err error) {
	return h.client.Renew(ctx, t, d)
}

// Running returns the running tasks, in order.
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

// Find returns a running task, or nil.
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

// groupsName is the file, in the host's directory, that records the parents of the control
// groups: a daemon that is restarted by hand is usually in another control group, and must
// still find its predecessor's.
const groupsName = "groups.json"

type placesFile struct {
	V      int      `json:"v"`
	Places []string `json:"places"`
}

// detect detects the abilities of the host, and the groups of predecessors.
func (h *Host) detect() (err error) {
	cfg := h.cfg.Groups
	if cfg.Former, err = readPlaces(h.cfg.Dir); err != nil {
		return err
	}
	if h.groups, err = cgroup.Detect(cfg); err != nil {
		return err
	}
	places := h.groups.Places()
	for _, dir := range cfg.Former {
		// One that this process cannot use may be usable for the next.
		if _, err := os.Stat(dir); err == nil && !slices.Contains(places, dir) {
			places = append(places, dir)
		}
	}
	if !slices.Equal(places, cfg.Former) {
		return writePlaces(h.cfg.Dir, places)
	}
	return nil
}

func readPlaces(dir string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, groupsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read groups.json: %w", err)
	}
	var f placesFile
	if err := json.Unmarshal(text, &f); err != nil || f.V != 1 {
		return nil, fmt.Errorf("%s is damaged (%w)", groupsName, errors.Join(err, fs.ErrInvalid))
	}
	return f.Places, nil
}

// writePlaces is durable when it returns: the groups are created after it.
func writePlaces(dir string, places []string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write groups.json: %w", err)
		}
	}()
	text, err := json.Marshal(placesFile{V: 1, Places: places})
	if err != nil {
		return err
	}
	return WriteFile(dir, groupsName, append(text, '\n'))
}

// fitFile is written to the directory and removed by Fit. A claim is not larger.
const (
	fitFile = "fit"
	fitSize = 4096
)

// fitTask has the limits of a task with one processor and some memory.
var fitTask = TaskSpec{ID: ID{Key: batch.Key{Job: "fit"}}, CPU: cgroup.Processor, Memory: 64 << 20}

// Fit reports whether the host's directory and control groups allow launches: nil if nothing
// is known to prevent them. After a failed launch it writes a test file and creates a test
// group.
func (h *Host) Fit() error {
	if !h.doubt.Load() {
		return nil
	}
	h.trying.Lock()
	defer h.trying.Unlock()
	if err := try(h.cfg.Dir); err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err // without the path
		}
		return fmt.Errorf("its directory: %w", err)
	}
	g, err := h.group(&fitTask)
	if err != nil {
		return err
	}
	if err := g.Remove(); err != nil {
		return groupError(err)
	}
	h.doubt.Store(false)
	return nil
}

// try writes as many bytes as a claim has.
func try(dir string) error {
	path := filepath.Join(dir, fitFile)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, fitSize))
	return errors.Join(err, f.Sync(), f.Close(), os.Remove(path))
}

// WriteFile replaces a file in a node's directory. It is durable when it returns.
func WriteFile(dir, name string, text []byte) error {
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
