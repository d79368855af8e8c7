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

// Reaper starts programs and collects all children of this process, those too
// that programs leave behind. There may be one in a process, and nobody else
// may start or wait for children there.
type Reaper struct {
	// mu is held for reading while a child is made and entered, or signalled, and
	// for writing while one is reaped: so a number in leaders is never another's.
	mu      sync.RWMutex
	enter   sync.Mutex // guards leaders among readers of mu
	leaders map[int]*leader
	started chan struct{} // told of a child, for a reaper that had none
	bound   chan func()   // to the thread that forks bound children; nil: none is
}

// leader is the first process of a group.
type leader struct{ ended func(Exit) }

// NewReaper makes this process the one to which its descendants' orphans go, and
// collects from then on.
func NewReaper() (*Reaper, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become the reaper of orphans: %w", err)
	}
	r := &Reaper{leaders: make(map[int]*leader), started: make(chan struct{}, 1)}
	go r.run()
	return r, nil
}

func (r *Reaper) run() {
	runtime.LockOSThread() // it blocks in the kernel for good
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

// nextEnded waits for a child that has ended and leaves it to be reaped.
func nextEnded() (int, error) {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOWAIT, nil)
	if err != nil {
		return 0, err
	}
	// The package has no name for the field: three integers, aligned as a pointer.
	at := max(unsafe.Sizeof(uintptr(0)), 4)
	at = (12 + at - 1) / at * at
	return int(*(*int32)(unsafe.Add(unsafe.Pointer(&info), at))), nil
}

// reap collects one child. When it led a group, the rest is killed before its
// number is free.
func (r *Reaper) reap(pid int) {
	r.mu.Lock()
	l := r.leaders[pid]
	delete(r.leaders, pid)
	if l != nil {
		_ = syscall.Kill(-pid, syscall.SIGKILL) // an error means nobody is left
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

// Gated is a process that waits to become a program.
type Gated struct {
	Pid    int // leader of a group of that number
	name   []string
	gate   *os.File // written by us
	status *os.File // read by us
	order  []byte
}

// Start makes the directories and files of spec and starts a process that will
// become the program, the leader of a new group; gate is the command that calls
// Gate. When it ends, as gate or as program, ended is called once, from a
// goroutine of its own and when nobody of the group is left. The error is a
// *StartError, and then ended is not called.
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

// fork makes the child and the pipes to it.
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

// Open lets the process become the program and returns when it has: nil, a
// *StartError when the program cannot be executed, or ErrShut when the process
// ended at the gate.
func (g *Gated) Open() error {
	// Whether the order went through is what the answer tells.
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

// Shut ends the process at the gate: the program never runs.
func (g *Gated) Shut() {
	g.order = nil
	_ = g.gate.Close()   // the process sees its end
	_ = g.status.Close() // nothing was written to it
}

// Bind makes programs that are started from now on die with this process: with
// SIGKILL, and only the first of each, what that has started is not told. It is
// called once, before the first Start.
func (r *Reaper) Bind() {
	r.bound = make(chan func())
	go func() {
		// The kernel takes the end of the thread that forked for that of the parent.
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
