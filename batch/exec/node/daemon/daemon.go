package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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

// stopPatience is how long calls under way may take when the daemon ends.
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
	unique := sha256.Sum256([]byte(cfg.Dir)) // another site may have a node of that name on this host
	d.host, err = node.Open(ctx, node.Config{
		Dir: cfg.Dir, Processors: confined, Leased: true, Program: cfg.Supervisor, Ended: d.ended, Logger: cfg.Logger,
		Groups: cgroup.Config{Name: "node-" + cfg.Name + "-" + hex.EncodeToString(unique[:6]), Parent: cfg.Parent, StepAside: true, Without: cfg.Without},
	})
	if err != nil {
		return nil, err
	}
	if d.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", cfg.Listen); err != nil {
		return nil, errors.Join(fmt.Errorf("listen: %w", err), d.host.Close())
	}
	return d, nil
}

// URL is where it is reached.
func (d *Daemon) URL() string { return "http://" + d.listener.Addr().String() }

// Offers returns how tasks are held to what they get.
func (d *Daemon) Offers() cgroup.Offers { return d.host.Offers() }

// Run serves until ctx ends. What runs then runs on, on its lease.
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
