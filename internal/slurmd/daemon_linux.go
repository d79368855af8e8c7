package slurmd

import "syscall"

// childAttributes have a daemon lead a group of its own, and die with this process.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
