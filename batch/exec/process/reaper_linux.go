package process

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Reaper starts programs and reaps all children of this process, including orphans of its
// programs. A process can have one Reaper, and no other code may start or wait for children
// there.
type Reaper struct {
	// mu is held for reading while a child is started and entered, or signaled, and for
	// writing while one is reaped: so a number in leaders never belongs to another process.
	mu      sync.RWMutex
	enter   sync.Mutex // guards leaders among readers of mu
	leaders map[int]*leader
	started chan struct{} // wakes a reaper without children
	bound   chan func()   // to the thread that forks bound children; nil: children are not bound
}

// leader is the first process of a group.
type leader struct{ ended func(Exit) }

// NewReaper makes this process the reaper of its orphaned descendants, and starts to reap.
func NewReaper() (*Reaper, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become the reaper of orphans: %w", err)
	}
	r := &Reaper{leaders: make(map[int]*leader), started: make(chan struct{}, 1)}
	go r.run()
	return r, nil
}

func (r *Reaper) run() {
	runtime.LockOSThread() // it blocks in the kernel
	for {
		pid, err := nextEnded()
		switch {
		case errors.Is(err, unix.ECHILD):
			<-r.started
		case err == nil:
			r.reap(pid)
		}
	}
}

// nextEnded waits for a child that has ended, and does not reap it.
func nextEnded() (int, error) {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOWAIT, nil)
	if err != nil {
		return 0, err
	}
	// Package unix does not name the field: three integers, aligned as a pointer.
	at := max(unsafe.Sizeof(uintptr(0)), 4)
	at = (12 + at - 1) / at * at
	return int(*(*int32)(unsafe.Add(unsafe.Pointer(&info), at))), nil
}

// reap reaps one child. If it led a group, the rest is killed before its number is free.
func (r *Reaper) reap(pid int) {
	r.mu.Lock()
	l := r.leaders[pid]
	delete(r.leaders, pid)
	if l != nil {
		_ = syscall.Kill(-pid, syscall.SIGKILL) // an error means that none is left
	}
	var status syscall.WaitStatus
	_, err := syscall.Wait4(pid, &status, 0, nil)
	for errors.Is(err, syscall.EINTR) {
		_, err = syscall.Wait4(pid, &status, 0, nil)
	}
	r.mu.Unlock()
	if l == nil {
		return
	}
	go func() {
		exit := exitOf(status)
		exit.Left = !awaitGone(pid)
		l.ended(exit)
	}()
}

// Signal sends sig to the group of a leader that was started here, and returns
// os.ErrProcessDone once that has ended.
func (r *Reaper) Signal(pid int, sig syscall.Signal) error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	r.enter.Lock()
	_, ok := r.leaders[pid]
	r.enter.Unlock()
	if !ok || leaderEnded(pid) {
		return os.ErrProcessDone
	}
	return syscall.Kill(-pid, sig)
}

// Gated is a process that waits at its gate to become a program.
type Gated struct {
	Pid    int // leader of the group with that number
	name   []string
	gate   *os.File // this side writes it
	status *os.File // this side reads it
	order  []byte
}

// Start creates the directories and files of spec and starts a process that will become the
// program, the leader of a new group; gate is the command that calls Gate. When it ends, as
// gate or as program, and its whole group is gone, ended is called once, from a goroutine of
// its own. The error is a *StartError; then ended is not called.
func (r *Reaper) Start(gate []string, spec Spec, ended func(Exit)) (*Gated, error) {
	if spec.Path == "" {
		var err error
		if spec.Path, err = Look(spec.Args[0]); err != nil {
			return nil, command(spec.Args, err)
		}
	}
	order, err := (&passage{path: spec.Path, args: spec.Args, env: spec.Env}).encode()
	if err != nil {
		return nil, command(spec.Args, err)
	}
	out, err := spec.prepare()
	if err != nil {
		return nil, err
	}
	defer out.close()
	g := &Gated{name: spec.Args[:1], order: order}
	if err := r.fork(gate, spec.Dir, out, g, ended); err != nil {
		return nil, command(spec.Args, err)
	}
	return g, nil
}

// fork starts the child with its pipes.
func (r *Reaper) fork(gate []string, dir string, out files, g *Gated, ended func(Exit)) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	theirGate, ourGate, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirGate.Close()
	ourStatus, theirStatus, err := os.Pipe()
	if err != nil {
		return errors.Join(err, ourGate.Close())
	}
	defer theirStatus.Close()
	files := []uintptr{null.Fd(), null.Fd(), null.Fd(), theirGate.Fd(), theirStatus.Fd()}
	if out.stdout != nil {
		files[1] = out.stdout.Fd()
	}
	if out.stderr != nil {
		files[2] = out.stderr.Fd()
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	pid, err := r.forkExec(gate, &syscall.ProcAttr{
		Dir: dir, Env: []string{}, Files: files, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		return errors.Join(err, ourGate.Close(), ourStatus.Close())
	}
	r.enter.Lock()
	r.leaders[pid] = &leader{ended: ended}
	r.enter.Unlock()
	select {
	case r.started <- struct{}{}:
	default:
	}
	g.Pid, g.gate, g.status = pid, ourGate, ourStatus
	return nil
}

// Open lets the process become the program and returns when it has: nil, a *StartError when
// the program cannot be executed, or ErrShut when the process ended at the gate.
func (g *Gated) Open() error {
	// The answer shows whether the write succeeded.
	_, _ = g.gate.Write(g.order)
	_ = g.gate.Close()
	g.order = nil
	err := readStatus(g.status)
	_ = g.status.Close() // nothing was written to it
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return command(g.name, errno)
	}
	return err
}

// Shut ends the process at its gate: the program never runs.
func (g *Gated) Shut() {
	g.order = nil
	_ = g.gate.Close()   // the process reads the end of the pipe
	_ = g.status.Close() // nothing was written to it
}

// Bind makes programs that are started from now on die with this process, by SIGKILL. It
// applies only to the first process of each program, not to its children. It is called once,
// before the first Start.
func (r *Reaper) Bind() {
	r.bound = make(chan func())
	go func() {
		// The kernel takes the end of the forking thread for the end of the parent.
		runtime.LockOSThread()
		for fork := range r.bound {
			fork()
		}
	}()
}

func (r *Reaper) forkExec(gate []string, attr *syscall.ProcAttr) (pid int, err error) {
	if r.bound == nil {
		return syscall.ForkExec(gate[0], gate, attr)
	}
	attr.Sys.Pdeathsig = syscall.SIGKILL
	done := make(chan struct{})
	r.bound <- func() {
		defer close(done)
		pid, err = syscall.ForkExec(gate[0], gate, attr)
	}
	<-done
	return pid, err
}
