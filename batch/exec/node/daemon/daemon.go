package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
	"github.com/seed-9b8f70bb/drover/batch/exec/node/rpc"
)

// stopPatience bounds the wait for active calls when the daemon stops.
const stopPatience = 2 * time.Second

// Daemon serves one node.
type Daemon struct {
	cfg       Config
	log       hclog.Logger
	host      *node.Host
	listener  net.Listener
	watchers  watchers
	sequencer sequencer

	mu    sync.Mutex
	owner Owner
}

// New opens the host, see node.Open, and the socket.
func New(ctx context.Context, cfg Config) (*Daemon, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	confined := 0
	if cfg.Processors == 0 {
		cfg.Processors = runtime.NumCPU()
	} else if cfg.Processors < runtime.NumCPU() {
		confined = cfg.Processors
	}
	if cfg.Memory == 0 {
		cfg.Memory = hostMemory()
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("dir: %w", err)
	}
	cfg.Dir = dir
	d := &Daemon{cfg: cfg, log: cfg.Logger}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("dir: %w", err)
	}
	if d.owner, err = readOwner(cfg.Dir); err != nil {
		return nil, err
	}
	if d.owner.Site != "" && cfg.Site != "" && d.owner.Site != cfg.Site {
		return nil, fmt.Errorf("site: %q, but %s says %q", cfg.Site, ownerName, d.owner.Site)
	}
	unique := sha256.Sum256([]byte(cfg.Dir)) // another site can have a node of that name on this host
	d.host, err = node.Open(ctx, node.Config{
		Dir: cfg.Dir, Processors: confined, Leased: true, Program: cfg.Supervisor, Ended: d.ended, Logger: cfg.Logger,
		Groups: cgroup.Config{
			Name: "node-" + cfg.Name + "-" + hex.EncodeToString(unique[:6]), Parent: cfg.Parent, StepAside: true,
			Without: cfg.Without,
		},
	})
	if err != nil {
		return nil, err
	}
	if d.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", cfg.Listen); err != nil {
		return nil, errors.Join(fmt.Errorf("listen: %w", err), d.host.Close())
	}
	return d, nil
}

// URL is the address of the daemon.
func (d *Daemon) URL() string { return "http://" + d.listener.Addr().String() }

// Offers returns how the host enforces the limits of tasks.
func (d *Daemon) Offers() cgroup.Offers { return d.host.Offers() }

// Run serves until ctx ends. Running tasks continue, on their lease.
func (d *Daemon) Run(ctx context.Context) error {
	server := rpc.NewServer(service{d}, d.log)
	served := make(chan error, 1)
	go func() { served <- server.Serve(d.listener) }()
	var err error
	select {
	case err = <-served:
		err = fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
		d.watchers.close()
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
		defer cancel()
		if server.Shutdown(stop) != nil {
			err = server.Close()
		}
		if e := <-served; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
	}
	return errors.Join(err, d.host.Close())
}

// ended records the end of a task.
func (d *Daemon) ended(id node.ID, st attempt.Status) {
	d.sequencer.forget(id)
	d.watchers.notify(node.Update{ID: id, Status: st})
}

// Owner is the server that a node serves.
type Owner struct {
	Site string // its name
	ID   string // of its data directory
}

// ownerName is the file that records the owner. An operator who removes it while the daemon
// is down gives the node to the next server that asks.
const ownerName = "owner.json"

type ownerFile struct {
	V    int    `json:"v"`
	Site string `json:"site"`
	ID   string `json:"id"`
}

// checkName refuses a server that knows this node under another name; "" is not checked.
func (d *Daemon) checkName(name string) error {
	if name != "" && name != d.cfg.Name {
		return &node.NameError{Name: d.cfg.Name}
	}
	return nil
}

// readOwner returns the zero Owner for an unclaimed node.
func readOwner(dir string) (Owner, error) {
	text, err := os.ReadFile(filepath.Join(dir, ownerName))
	if errors.Is(err, fs.ErrNotExist) {
		return Owner{}, nil
	}
	if err != nil {
		return Owner{}, fmt.Errorf("owner of this node: %w", err)
	}
	var f ownerFile
	if err := json.Unmarshal(text, &f); err != nil || f.V != 1 || f.Site == "" || f.ID == "" {
		return Owner{}, fmt.Errorf("owner of this node: %s is damaged (%w)", ownerName, errors.Join(err, fs.ErrInvalid))
	}
	return Owner{f.Site, f.ID}, nil
}

// writeOwner is durable when it returns.
func writeOwner(dir string, o Owner) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write the owner of this node: %w", err)
		}
	}()
	text, err := json.Marshal(ownerFile{V: 1, Site: o.Site, ID: o.ID})
	if err != nil {
		return err
	}
	return node.WriteFile(dir, ownerName, append(text, '\n'))
}

// claim makes a server the owner of a node that has none, and refuses another owner.
func (d *Daemon) claim(o Owner) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.owner == (Owner{}) {
		if d.cfg.Site != "" && o.Site != d.cfg.Site {
			return &node.OwnedError{Site: d.cfg.Site}
		}
		if err := writeOwner(d.cfg.Dir, o); err != nil {
			return err
		}
		d.owner = o
		d.log.Info("claimed", "site", o.Site)
	}
	return d.check(o)
}

// serves refuses every server but the owner.
func (d *Daemon) serves(o Owner) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.owner == (Owner{}) {
		return node.ErrUnclaimed
	}
	return d.check(o)
}

// check is serves for callers that hold mu, of a claimed node.
func (d *Daemon) check(o Owner) error {
	if o != d.owner {
		return &node.OwnedError{Site: d.owner.Site, Same: o.Site == d.owner.Site}
	}
	return nil
}

// site returns the site that owns the node, or else the only one that may claim it.
func (d *Daemon) site() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.owner.Site != "" {
		return d.owner.Site
	}
	return d.cfg.Site
}
