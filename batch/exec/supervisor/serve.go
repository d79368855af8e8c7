package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
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

// DefaultGate is the command that calls process.Gate in the drover binary: the file that this
// process executes, even if it was replaced on disk.
func DefaultGate() []string { return []string{"/proc/self/exe", "gate"} }

// ServeConfig configures Serve. Dir is required.
type ServeConfig struct {
	// Dir is the site's data directory, which must exist.
	Dir string
	// Gate is the command that calls process.Gate. Default: DefaultGate.
	Gate []string
	// Linger is how long the supervisor stays without clients and programs. Default:
	// DefaultLinger.
	Linger time.Duration
	// Leased makes programs live on a lease and die with this process, see
	// Client.Renew.
	Leased bool
	// Patience bounds the wait for the lock of a supervisor that is dying. Default:
	// DefaultPatience.
	Patience time.Duration
	// Ready receives one line with the outcome of the start: "ready", "busy", or "error:
	// TEXT". Then it is closed. Nil: none.
	Ready io.WriteCloser
	// Level is the level of DATA/supervisor.log. Default: info.
	Level hclog.Level
}

// Serve runs a supervisor. It returns when no client is connected and no program is left for
// a while, or, after the end of ctx, as soon as no program is left. It must be the only code
// of its process that starts or reaps children.
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

// tell reports the outcome of a start.
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
	// The starter may be gone.
	_, _ = io.WriteString(w, text)
	_ = w.Close()
}

// open does all steps of the start that can fail.
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
	s.log.Info("supervisor started", "id", s.me.By)
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.log.Info("stop requested, waiting for programs", "programs", len(s.attempts))
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
	s.log.Info("supervisor stopped")
	return server.Close()
}

// The files of a supervisor in the data directory.
const (
	lockName   = "supervisor.lock"
	socketName = "supervisor.sock"
	logName    = "supervisor.log"
)

// longestAddress is below the limit of a socket's path on every system.
const longestAddress = 100

// withSocket calls do with a path of the directory's socket that is short enough.
func withSocket(dir string, do func(path string) error) error {
	path := filepath.Join(dir, socketName)
	if len(path) <= longestAddress {
		return do(path)
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	defer d.Close()
	return do("/proc/self/fd/" + strconv.Itoa(int(d.Fd())) + "/" + socketName)
}

// listen creates the socket, for this user only. The caller holds the lock, so an existing
// socket belongs to a dead supervisor.
func listen(ctx context.Context, dir string) (net.Listener, error) {
	var l net.Listener
	err := withSocket(dir, func(path string) error {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		mask := syscall.Umask(0o177)
		defer syscall.Umask(mask)
		made, err := new(net.ListenConfig).Listen(ctx, "unix", path)
		if err != nil {
			return err
		}
		// Its close would remove the socket by a path that is no longer valid.
		made.(*net.UnixListener).SetUnlinkOnClose(false)
		l = made
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listen in the data directory: %w", err)
	}
	return l, nil
}

func dial(ctx context.Context, dir string) (net.Conn, error) {
	var conn net.Conn
	err := withSocket(dir, func(path string) error {
		var err error
		conn, err = new(net.Dialer).DialContext(ctx, "unix", path)
		return err
	})
	return conn, err
}

// gone reports whether a directory no longer exists.
func gone(dir string) bool {
	_, err := os.Stat(dir)
	return errors.Is(err, fs.ErrNotExist)
}

// ErrBusy is returned when another supervisor holds the data directory.
var ErrBusy = errors.New("another supervisor holds this data directory")

// lockPause is the pause between two attempts to get the lock.
const lockPause = 10 * time.Millisecond

// lock locks the data directory, after at most patience. Closing the file unlocks it.
func lock(ctx context.Context, dir string, patience time.Duration) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	for deadline := time.Now().Add(patience); ; {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		if err = ErrBusy; time.Now().After(deadline) || ctx.Err() != nil {
			break
		}
		time.Sleep(lockPause)
	}
	return nil, errors.Join(fmt.Errorf("lock the data directory: %w", err), f.Close())
}

// largestLog is the size in bytes at which supervisor.log becomes supervisor.log.1.
const largestLog = 1 << 20

// logFile is a log of bounded size: the file and the one before it.
type logFile struct {
	name string

	mu   sync.Mutex
	file *os.File
	size int64
}

func openLog(dir string) (*logFile, error) {
	l := &logFile{name: filepath.Join(dir, logName)}
	return l, l.open()
}

func (l *logFile) open() error {
	f, err := os.OpenFile(l.name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(fmt.Errorf("log: %w", err), f.Close())
	}
	l.file, l.size = f, info.Size()
	// A crash is reported there too, because stderr of this process is discarded.
	return debug.SetCrashOutput(f, debug.CrashOptions{})
}

// Write appends p. It drops what cannot be written: a full disk must not stop the supervision
// of programs.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(p)) > largestLog {
		old := l.file
		if err := os.Rename(l.name, l.name+".1"); err == nil && l.open() == nil {
			_ = old.Close() // its lines need no sync
		}
	}
	n, _ := l.file.Write(p)
	l.size += int64(n)
	return len(p), nil
}
