package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policies"
	"github.com/seed-9b8f70bb/drover/gossip"
	"github.com/seed-9b8f70bb/drover/server/blobs"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// apiVersion is the version of drover.v1 that this server speaks.
const apiVersion = 1

// farewell is how long calls under way, and the gossip, may take when the
// server stops; jobs have their grace time besides.
const farewell = 5 * time.Second

// membership is what the server needs of gossip.
type membership interface {
	Leave(ctx context.Context) error
	Close() error
}

// Server is a running site. Its methods may be called from several goroutines.
type Server struct {
	cfg      Config
	log      hclog.Logger
	data     *dataDir
	content  *blobs.Store
	system   *exec.System
	group    membership
	seed     string // where the group is reached
	listener net.Listener
	url      string

	calls   chan call
	quit    chan struct{} // closed to end the loop
	over    chan struct{} // closed when the loop has ended
	closing chan struct{} // closed when nothing more will happen to any job
	leaving atomic.Bool   // no new work is taken
	work    sync.WaitGroup

	// What follows belongs to the loop.
	core    *site.Site
	entries map[batch.JobID]*entry
	ended   []batch.JobID // remembered, the oldest first
}

// New opens the server's sockets, so that its addresses are known, takes its
// directory and joins the gossip. Run serves; a server that is not run must be
// closed.
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("server configuration: %w", err)
	}
	s := &Server{
		cfg: cfg, log: cfg.Logger,
		calls: make(chan call), quit: make(chan struct{}), over: make(chan struct{}), closing: make(chan struct{}),
		entries: make(map[batch.JobID]*entry),
	}
	if s.log == nil {
		s.log = hclog.NewNullLogger()
	}
	if s.cfg.Program == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("server %s: find my own program: %w", cfg.Name, err)
		}
		s.cfg.Program = self
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("server %s: %w", cfg.Name, err), s.Close())
	}
	return s, nil
}

// open makes the parts, the sockets last. What it has made is there for Close
// when it fails.
func (s *Server) open() error {
	speed, err := s.cfg.speed()
	if err != nil {
		return err
	}
	tuning, err := site.ParseTuning(s.cfg.Tuning)
	if err != nil {
		return err
	}
	platform := s.cfg.platform()
	s.core, err = site.New(site.Config{
		Platform: platform, Speed: speed, Catalogue: s.cfg.Catalogue, Tuning: tuning, MaxWidth: s.cfg.Limits.Width,
	})
	if err != nil {
		return err
	}
	where, err := s.cfg.dataDir()
	if err != nil {
		return err
	}
	if s.data, err = openData(where, s.log); err != nil {
		return err
	}
	s.content, err = blobs.Open(blobs.Config{
		Dir: filepath.Join(where, "content"), Largest: int64(s.cfg.Limits.File), Capacity: int64(s.cfg.Limits.Content),
	})
	if err != nil {
		return err
	}
	policy, err := policies.New(s.cfg.Policy.Name, platform, s.cfg.Policy.Settings)
	if err != nil {
		return err
	}
	s.system, err = exec.New(exec.Config{
		Policy: policy, Platform: platform, Grace: batch.Duration(s.cfg.Grace.Microseconds()), Forecaster: &forecast.Forecaster{},
		Logger: s.log.Named("exec"), Programs: programs{s},
	})
	if err != nil {
		return err
	}
	if s.listener, err = new(net.ListenConfig).Listen(context.Background(), "tcp", s.cfg.Listen); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if s.url = s.cfg.URL; s.url == "" {
		s.url = "http://" + s.listener.Addr().String()
	}
	group, err := gossip.Join(gossip.Config{
		Name: s.cfg.Name, Role: gossip.Server, Bind: s.cfg.Gossip.Bind, URL: s.url, API: apiVersion,
		Capabilities: s.capabilities(), Seeds: s.cfg.Gossip.Seeds, Logger: s.log.Named("gossip"),
	})
	if err != nil {
		return err
	}
	s.group, s.seed = group, group.Addr()
	return nil
}

// capabilities lists what the server can do beyond the API's minimum.
func (s *Server) capabilities() []string {
	if s.system.Caps().Promises {
		return []string{"promises"}
	}
	return nil
}

// Name returns the name of the site.
func (s *Server) Name() string { return s.cfg.Name }

// Addr returns the host:port on which the RPC face listens.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// URL returns where others reach the RPC face.
func (s *Server) URL() string { return s.url }

// Seed returns the host:port of the server's gossip, for others to join.
func (s *Server) Seed() string { return s.seed }

// Run serves until ctx ends, then stops: it leaves the gossip, takes no new
// work, ends the jobs that run (SIGTERM, grace, SIGKILL), tells those who watch
// them, lets calls under way finish for a moment, and returns nil. Jobs that wait
// are lost, see the package's documentation. It is called once.
func (s *Server) Run(ctx context.Context) error {
	go s.loop()
	watching := make(chan struct{})
	life, die := context.WithCancel(context.WithoutCancel(ctx))
	defer die()
	go func() {
		defer close(watching)
		s.follow(life)
	}()
	server, health := s.face()
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(s.listener) }()
	s.log.Info("server is up", "url", s.url, "gossip", s.seed, "policy", s.cfg.Policy.Name)
	var err error
	select {
	case err = <-failed:
		err = fmt.Errorf("server %s: serve: %w", s.cfg.Name, err)
	case <-ctx.Done():
		s.log.Info("server stops", "reason", context.Cause(ctx))
	}
	s.leaving.Store(true)
	health.Stopping()
	s.leave(life)
	if s.endJobs(life) {
		<-watching // it has heard of every end
	}
	die()
	<-watching
	// A submission that had not seen leaving is through after this.
	_ = s.do(context.WithoutCancel(ctx), func() {})
	s.work.Wait()
	close(s.closing)
	ending, done := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer done()
	if e := server.Shutdown(ending); e != nil {
		s.log.Warn("calls cut off", "error", e)
		_ = server.Close() // nothing more can be done for them
	}
	close(s.quit)
	<-s.over
	return errors.Join(err, s.data.close())
}

// leave says goodbye to the gossip.
func (s *Server) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	if err := s.group.Leave(ctx); err != nil {
		s.log.Warn("leaving", "error", err)
	}
}

// endJobs ends what runs, and says whether all of it is gone.
func (s *Server) endJobs(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Grace+farewell)
	defer cancel()
	if err := s.system.Close(ctx); err != nil {
		s.log.Error("ending the jobs", "error", err)
		return false
	}
	return true
}

// Close frees what a server holds that is not run.
func (s *Server) Close() error {
	var errs []error
	if s.listener != nil {
		errs = append(errs, s.listener.Close())
	}
	if s.group != nil {
		errs = append(errs, s.group.Close())
	}
	if s.system != nil {
		errs = append(errs, s.system.Close(context.Background()))
	}
	if s.data != nil {
		errs = append(errs, s.data.close())
	}
	return errors.Join(errs...)
}
