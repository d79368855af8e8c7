package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/process"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/rpc"
)

// The defaults of ServeConfig.
const (
	DefaultLinger   = 10 * time.Second
	DefaultPatience = 5 * time.Second
)

// DefaultGate is the command that calls process.Gate in the drover binary: the
// file that this process runs, whatever has become of it on disk.
func DefaultGate() []string { return []string{"/proc/self/exe", "gate"} }

// ServeConfig is what Serve needs. Dir is required.
type ServeConfig struct {
	// Dir is the site's data directory, which is there.
	Dir string
	// Gate is the command that calls process.Gate. Default: DefaultGate.
	Gate []string
	// Linger is how long the supervisor stays with nobody connected and no program
	// left. Default: DefaultLinger.
	Linger time.Duration
	// Leased makes programs live on a lease and die with this process, see
	// Client.Renew.
	Leased bool
	// Patience is how long one that is dying may keep the lock. Default:
	// DefaultPatience.
	Patience time.Duration
	// Ready is told in one line what became of the start: "ready", "busy", or
	// "error: TEXT". It is closed then. Nil is nobody.
	Ready io.WriteCloser
	// Level is what is logged to DATA/supervisor.log. Default: info.
	Level hclog.Level
}

// Serve is a supervisor: it returns when nobody is connected and no program is
// left for a while, or, after the end of ctx, as soon as no program is left. It
// wants the process for itself: all children are its own.
func Serve(ctx context.Context, cfg ServeConfig) error {
	if cfg.Gate == nil {
		cfg.Gate = DefaultGate()
	}
	if cfg.Linger == 0 {
		cfg.Linger = DefaultLinger
	}
	if cfg.Patience == 0 {
		cfg.Patience = DefaultPatience
	}
	if cfg.Level == hclog.NoLevel {
		cfg.Level = hclog.Info
	}
	var err error
	if cfg.Dir, err = filepath.Abs(cfg.Dir); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	held, err := lock(ctx, cfg.Dir, cfg.Patience)
	if err != nil {
		tell(cfg.Ready, err)
		return err
	}
	defer held.Close()
	s, l, err := open(ctx, cfg)
	tell(cfg.Ready, err)
	if err != nil {
		return err
	}
	return s.serve(ctx, l)
}

// tell says what became of a start.
func tell(w io.WriteCloser, err error) {
	if w == nil {
		return
	}
	text := "ready\n"
	switch {
	case errors.Is(err, ErrBusy):
		text = "busy\n"
	case err != nil:
		text = fmt.Sprintf("error: %v\n", err)
	}
	// Whoever started this may be gone.
	_, _ = io.WriteString(w, text)
	_ = w.Close()
}

// open makes all that may fail.
func open(ctx context.Context, cfg ServeConfig) (*supervisor, net.Listener, error) {
	file, err := openLog(cfg.Dir)
	if err != nil {
		return nil, nil, err
	}
	reaper, err := process.NewReaper()
	if err != nil {
		return nil, nil, err
	}
	l, err := listen(ctx, cfg.Dir)
	if err != nil {
		return nil, nil, err
	}
	s := &supervisor{
		me: newClaimer(os.Getpid(), time.Now()), gate: cfg.Gate, reaper: reaper,
		log:      hclog.New(&hclog.LoggerOptions{Name: "supervisor", Output: file, Level: cfg.Level}),
		launches: make(chan struct{}, mostLaunches),
		attempts: make(map[attempt.Name]*program),
	}
	if cfg.Leased {
		if s.guard, err = process.StartGuard(cfg.Gate); err != nil {
			return nil, nil, errors.Join(err, l.Close())
		}
		reaper.Bind()
		s.lease = newLease(s.me.By)
	}
	s.idle = idle{linger: cfg.Linger, over: make(chan struct{})}
	s.idle.fire = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.idle.lapsed()
	}
	return s, l, nil
}

func (s *supervisor) serve(ctx context.Context, l net.Listener) error {
	s.log.Info("up", "id", s.me.By)
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.log.Info("asked to end, and will as soon as no program is left", "programs", len(s.attempts))
		s.idle.stop()
	})
	defer stop()
	s.mu.Lock()
	s.idle.connected(0)
	over := s.idle.over
	s.mu.Unlock()
	if s.lease != nil {
		go s.keepLease()
	}
	server := rpc.NewServer(s, s.log)
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		change := map[http.ConnState]int{http.StateNew: 1, http.StateClosed: -1, http.StateHijacked: -1}[state]
		if change == 0 {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.idle.connected(change)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-over:
	}
	s.log.Info("ends: nothing is left to do")
	return server.Close()
}
