package process

import (
	"runtime"
	"syscall"
)

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
