package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	"github.com/seed-9b8f70bb/drover/server/files/blobs"
	"github.com/seed-9b8f70bb/drover/server/files/depot"
	"github.com/seed-9b8f70bb/drover/server/loop"
	"github.com/seed-9b8f70bb/drover/server/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/server/store"
)

// apiVersion is the version of drover.v1 that this server speaks.
const apiVersion = 1

// stopTimeout is how long running calls and the gossip may take when the server stops; jobs have
// their grace period besides.
const stopTimeout = 5 * time.Second

// membership is what the server needs of gossip.
type membership interface {
	Members() []gossip.Member
	Known() []gossip.Known
	Leave(ctx context.Context) error
	Close() error
}

// Server is a running site. Its methods can be called concurrently.
type Server struct {
	cfg          Config
	about        site.Config
	log          hclog.Logger
	data         *dataDir
	store        *store.Store
	content      *blobs.Store
	depot        *depot.Depot
	copies       copies
	dataLocks    jobLocks // of submissions that use or keep data
	system       system
	cluster      externalCluster // nil with an embedded batch system
	silent       bool            // the cluster has not answered this process; its description is from the store
	runner       runner
	shared       *sharedRunner // the same runner, if jobs have shares of processors; else nil
	outbox       *outbox
	dependencies dependencies
	drafts       *drafts
	group        membership
	seed         string // host:port of the gossip
	listener     net.Listener
	url          string
	disk         disk
	launches     launches
	clock        clock

	calls   chan *call
	quit    chan struct{} // closed to end the loop
	over    chan struct{} // closed when the loop has ended
	closing chan struct{} // closed when no job can change any more
	fatal   chan error    // the failure that ended the loop
	leaving atomic.Bool   // no new work is accepted
	work    sync.WaitGroup
	life    context.Context // of all background work
	die     context.CancelFunc

	// The loop owns the following fields.
	core     *site.Site
	turns    *loop.Loop
	broken   error // the failure that ends the server
	batch    store.Batch
	draining bool        // the durable value
	markSeen bool        // the next commit also records how far time has passed
	voided   []batch.Key // attempts that this process undid
	windows  []batch.Key // reservations that the batch system booked in this turn
	// agreements counts their outcomes; the durable value.
	agreements site.Agreements
	adopted    bool // a job got a directory in this turn
	retired    bool // no work is started any more
	watchers   watchers
	ended      []finished // finished jobs that are kept, oldest first
	endedSize  int64      // of their files, in bytes
}

// New opens the server's sockets, so that its addresses are known, locks its directory and joins
// the gossip. Run serves; close a server that is never run.
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("server configuration: %w", err)
	}
	s := &Server{
		cfg: cfg, log: cfg.Logger,
		calls: make(chan *call), quit: make(chan struct{}), over: make(chan struct{}), closing: make(chan struct{}),
		fatal: make(chan error, 1), drafts: newDrafts(cfg.Limits.Drafts), dependencies: newDependencies(),
		watchers: watchers{jobs: make(map[batch.JobID][]chan site.Job)},
	}
	s.life, s.die = context.WithCancel(context.Background())
	if s.log == nil {
		s.log = hclog.NewNullLogger()
	}
	if s.cfg.Program == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("server %s: path of this program: %w", cfg.Name, err)
		}
		s.cfg.Program = self
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("server %s: %w", cfg.Name, err), s.Close())
	}
	return s, nil
}

// Name returns the name of the site.
func (s *Server) Name() string { return s.cfg.Name }

// Addr returns the host:port that the server listens on.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// URL returns the URL at which others reach the server.
func (s *Server) URL() string { return s.url }

// Seed returns the host:port of the server's gossip, which others can join.
func (s *Server) Seed() string { return s.seed }

// Run serves until ctx ends, then stops and returns nil: it leaves the gossip, accepts
// no new work, ends the streams of watchers, and gives running calls a moment to finish.
// Running jobs continue, and the next server on this directory adopts them, unless the
// configuration ends them (SIGTERM, grace, SIGKILL). Waiting jobs keep waiting. An error
// means that the server failed. Call Run once.
func (s *Server) Run(ctx context.Context) error {
	go s.loop()
	watching := make(chan struct{})
	watch, unwatch := context.WithCancel(s.life)
	defer unwatch()
	go func() {
		defer close(watching)
		s.watchBatch(watch)
	}()
	s.work.Go(s.housekeep)
	if s.shared != nil {
		s.work.Go(s.keepMeasured)
	}
	server, health := rpc.Serve(s, s.log)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(s.listener) }()
	s.log.Info("server started", "url", s.url, "gossip", s.seed, "policy", s.cfg.policyName())
	var err error
	select {
	case err = <-failed:
		err = fmt.Errorf("server %s: serve: %w", s.cfg.Name, err)
	case err = <-s.fatal:
		err = fmt.Errorf("server %s: %w", s.cfg.Name, err)
	case <-ctx.Done():
		s.log.Info("server stopping", "reason", context.Cause(ctx))
	}
	s.leaving.Store(true)
	health.Stopping()
	s.drafts.close()
	s.leave(s.life)
	if s.releaseJobs(s.life) {
		<-watching // it has processed every end
	}
	unwatch()
	<-watching
	// A submission that did not see leaving has finished after this.
	_ = s.see(context.WithoutCancel(ctx), func() { s.retired = true })
	s.die()
	s.work.Wait()
	close(s.closing)
	ending, done := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer done()
	if e := server.Shutdown(ending); e != nil {
		s.log.Warn("calls cut off", "error", e)
		_ = server.Close() // there is no way to recover them
	}
	close(s.quit)
	<-s.over
	s.outbox.close()
	if s.runner != nil {
		s.runner.Close()
	}
	if s.cfg.OnStop == EndJobs && s.runner != nil && !s.cfg.distant() {
		if e := supervisor.Dismiss(ending, s.data.Root, false); e != nil {
			s.log.Warn("stopping the supervisor failed", "error", e)
		}
	}
	return errors.Join(err, s.store.Close(), s.data.Close())
}

// fail stops the server after a failure that the loop cannot handle.
func (s *Server) fail(err error) {
	s.log.Error("server failed", "error", err)
	s.fatal <- err
}

// leave leaves the gossip.
func (s *Server) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	if err := s.group.Leave(ctx); err != nil {
		s.log.Warn("leaving the gossip failed", "error", err)
	}
}

// releaseJobs ends running jobs, or leaves them to the supervisor. It reports whether all are
// settled.
func (s *Server) releaseJobs(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Grace+stopTimeout)
	defer cancel()
	end := s.system.Release
	if s.cfg.OnStop == EndJobs {
		end = s.system.Close
	}
	if err := end(ctx); err != nil {
		s.log.Error("releasing the batch system failed", "error", err)
		return false
	}
	return true
}

// Close frees the resources of a server that was not run.
func (s *Server) Close() error {
	var errs []error
	s.die()
	if s.listener != nil {
		errs = append(errs, s.listener.Close())
	}
	if s.group != nil {
		errs = append(errs, s.group.Close())
	}
	if s.system != nil {
		errs = append(errs, s.system.Release(context.Background()))
	}
	s.work.Wait()
	if s.outbox != nil {
		s.outbox.close()
	}
	if s.runner != nil {
		s.runner.Close()
	}
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	if s.data != nil {
		errs = append(errs, s.data.Close())
	}
	return errors.Join(errs...)
}
