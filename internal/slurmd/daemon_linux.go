package slurmd

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// forker runs functions on a thread that never ends. The kernel takes the end of the thread
// that has forked a daemon for the end of the daemon's parent.
var forker = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// start starts a daemon in its own process group. It dies with this process.
func start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	forker() <- func() { started <- cmd.Start() }
	return <-started
}
